//! Evaluates a trained run on one evaluation set. Writes its predictions and a report into the run folder.

use super::file::EvaluationSet;
use crate::config::expand;
use crate::data::{self, Fold, Pair, StoryFile};
use crate::decode::Decode;
use crate::durable;
use crate::error::{Error, Result};
use crate::experiment::{CheckpointKind, ScoredSplit, TrainedRun, evaluation_name, json_bytes};
use crate::prediction::LabelledPair;
use crate::report::{DataDescription, Report, Seen, published};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// `set.json` of an evaluation: the pairs that its predictions are of. It is written last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetRecord {
    /// Of the story file.
    pub sha256: String,
    split: String,
    kind: String,
}

impl SetRecord {
    pub const FILE: &str = "set.json";

    /// Whether it is of the same split and kind. The file may have changed.
    pub fn is_of(&self, set: &EvaluationSet) -> bool {
        self.split == set.split_name() && self.kind == set.kind_name()
    }
}

impl EvaluationSet {
    /// Reads its file.
    ///
    /// # Errors
    /// `MissingInput`, `Io`, `Data`; `Config` if a variable in its path is not set.
    pub(super) fn read(&self) -> Result<StoryFile> {
        data::read_file(&expand(&self.file)?)
    }

    /// Its pairs, of its file; of them, those of the fold.
    ///
    /// # Errors
    /// `Data` if there are no such pairs, if two have the same id, or if they are not the pairs of
    /// the published scores.
    pub(super) fn pairs(&self, file: &StoryFile, seed: u64, fold: Option<Fold>) -> Result<Vec<Pair>> {
        let mut pairs = Vec::new();
        for split in &self.splits {
            pairs.extend(data::pairs(file.split(split)?, seed));
        }
        pairs.retain(|pair| {
            self.kind.is_none_or(|kind| pair.kind == kind) && fold.is_none_or(|f| f.contains(pair.group))
        });
        self.check_ids(&pairs)?;
        match pairs.is_empty() {
            true => Err(Error::data(format!(
                "{}: split {:?} has no pairs of kind {}{}",
                file.path.display(),
                self.split_name(),
                self.kind_name(),
                fold.map_or(String::new(), |fold| format!(" in fold {fold}"))
            ))),
            false => {
                let ids = pairs.iter().map(|pair| pair.id.as_str());
                let checked = self.published.map_or(Ok(()), |set| set.check(ids));
                checked.map_err(|error| error.about(format_args!("evaluate {:?}", self.name)))?;
                Ok(pairs)
            }
        }
    }

    /// # Errors
    /// `Data` if two splits have pairs of the same id: predictions are told apart by it.
    fn check_ids(&self, pairs: &[Pair]) -> Result<()> {
        let mut ids = BTreeSet::new();
        match pairs.iter().find(|pair| !ids.insert(&pair.id)) {
            Some(pair) => Err(Error::data(format!(
                "{}: two of the splits {} have a pair {}; evaluate them as separate sets",
                self.file.display(),
                self.splits.join(", "),
                pair.id
            ))),
            None => Ok(()),
        }
    }
}

/// Evaluates a run on a set, whose file is `file`. Writes `eval/SET/` with predictions.jsonl, report.json and, last,
/// set.json. Returns the number of pairs.
pub fn evaluate(run: &TrainedRun, set: &EvaluationSet, file: &StoryFile) -> Result<usize> {
    let sha256 = file.sha256.clone();
    let pairs = set.pairs(file, run.config.seed, run.config.data.leave_out)?;
    let is_of = |kept: &Vec<LabelledPair>| kept.iter().map(|pair| &pair.id).eq(pairs.iter().map(|pair| &pair.id));
    let predictions = match of_dev(run, set, &sha256).filter(is_of) {
        Some(predictions) => predictions,
        None => run.evaluate(pairs, |_| ()).map_err(|error| error.about(set.file.display()))?.predictions,
    };
    let recorded = run.own_decode().apply(&predictions);
    let report = report(run, set, &sha256, &recorded, &seen(run, set, file)?);
    run.note_scoring(&report)?;
    let (_, _lock) = run.record(&set.name, &recorded, &report, None)?;
    let made = SetRecord { sha256, split: set.split_name(), kind: set.kind_name().to_owned() };
    durable::replace(&run.folder.evaluation_file(&set.name, SetRecord::FILE)?, &json_bytes(&made)?)?;
    Ok(recorded.len())
}

/// The predictions that training saved of its dev pairs, if the set has the same pairs.
fn of_dev(run: &TrainedRun, set: &EvaluationSet, sha256: &str) -> Option<Vec<LabelledPair>> {
    let name =
        evaluation_name(&expand(&set.file).ok()?, &set.split_name(), set.kind_name(), CheckpointKind::Best).ok()?;
    let data = run.folder.report(&name).ok()?.data;
    let is_same =
        data.sha256.as_deref() == Some(sha256) && data.seen == Seen::ChosenOn && data.is_read_as_in_training();
    run.folder.predictions(&name, CheckpointKind::Best).ok()?.filter(|_| is_same)
}

/// What the run has seen of each pair that it is evaluated on: in cross-validation, nothing of them.
fn seen(run: &TrainedRun, set: &EvaluationSet, file: &StoryFile) -> Result<Vec<Seen>> {
    if run.config.data.leave_out.is_some() {
        return Ok(vec![Seen::HeldOut]);
    }
    let of_split = |split: &String| run.seen(&ScoredSplit::new(file, split, set.kind)?);
    Ok(set.splits.iter().map(of_split).collect::<Result<Vec<_>>>()?.concat())
}

fn report(run: &TrainedRun, set: &EvaluationSet, sha256: &str, predictions: &[LabelledPair], seen: &[Seen]) -> Report {
    let data = DataDescription {
        file: Some(set.file.display().to_string()),
        split: Some(set.split_name()),
        kind: set.kind_name().to_owned(),
        pairs: predictions.len() as u64,
        sha256: Some(sha256.to_owned()),
        ..DataDescription::default()
    };
    let published = set.published.map(published).unwrap_or_default();
    run.report(data.with_seen(seen), predictions, &Decode::REPORTED, &run.states(), published)
}
