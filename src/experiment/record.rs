//! Saves an evaluation in the run folder: predictions, report, and an updated model card.

use super::fit::own_decode;
use super::folder::{CheckpointKind, RunFolder};
use super::present::{WEIGHTS, best_epoch};
use super::run::TrainedRun;
use super::seen::{ScoredSplit, seen_by};
use crate::checkpoint::Inputs;
use crate::config::{Config, DataSource, Sources, expand};
use crate::data::Kind;
use crate::decode::{Decode, StateDecode};
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Calibration, StateCounts};
use crate::model_card::{self, CardContents, CardSource};
use crate::prediction::{LabelledPair, read_predictions, without_states, write_predictions};
use crate::report::{DataDescription, PublishedRow, Report, Seen, StoryReport, TierRow};
use crate::say::counted;
use crate::train::MixtureComponent;
use crate::untrusted::component;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The name of an evaluation's folder in the run folder. The split's name can be anything that a story file contains.
/// Evaluations of the last weights have their own folders.
///
/// # Errors
/// `Refused` if the names of file and split can't be those of a folder.
pub fn evaluation_name(data: &Path, split: &str, kind: &str, which: CheckpointKind) -> Result<String> {
    let stem = data.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-{split}-{kind}{}", which.suffix());
    for part in [stem.as_ref(), split, &name] {
        component(part).map_err(|error| {
            let message = format!(
                "{}: {error}; predictions are saved in a folder named after file and split; rename it, and name it \
                 so in the command or in data.dev",
                data.display()
            );
            Error::new(ErrorKind::Refused, message)
        })?;
    }
    Ok(name)
}

/// Checks before training, or before anything is saved, that evaluations on these dev sources can be saved.
///
/// # Errors
/// Like [`evaluation_name`]; `Config` if two have the same name.
pub(super) fn require_evaluation_names(Sources(sources): &Sources) -> Result<()> {
    let mut names = BTreeSet::new();
    for source in sources {
        let name = name_of(source, CheckpointKind::Best)?;
        if names.contains(&name) {
            return Err(Error::config(format!(
                "data.dev: {}: another source of data.dev would be saved in eval/{name} too; name it once, or rename one of the files",
                source.name()
            )));
        }
        names.insert(name);
    }
    Ok(())
}

fn name_of(source: &DataSource, which: CheckpointKind) -> Result<String> {
    let (file, split) = source.story_file().expect("dev sources are files: the config was validated");
    evaluation_name(&expand(file)?, split, source.kind.map_or("all", |kind| kind.name()), which)
}

impl TrainedRun {
    /// The decoding of conflicts that fits the run's detector.
    pub fn own_decode(&self) -> Decode {
        own_decode(&self.config)
    }

    /// Argmax and, if it differs, the decoding chosen on dev.
    pub fn states(&self) -> Vec<StateDecode> {
        let chosen = self.calibrated.as_ref().map(|calibrated| calibrated.states);
        std::iter::once(StateDecode::Argmax).chain(chosen.filter(|&states| states != StateDecode::Argmax)).collect()
    }

    /// The report of recorded predictions, with each of these decodings.
    pub fn report(
        &self,
        data: DataDescription,
        predictions: &[LabelledPair],
        conflicts: &[Decode],
        states: &[StateDecode],
        published: Vec<PublishedRow>,
    ) -> Report {
        let temperatures = std::iter::once(1.).chain(self.calibrated.as_ref().map(|calibrated| calibrated.temperature));
        Report {
            system: self.folder.path().display().to_string(),
            data: DataDescription { without_states: without_states(predictions), ..data },
            rows: TierRow::by_decoding(predictions, conflicts, states),
            states: StateCounts::of(predictions).scores(),
            calibration: temperatures.map(|temperature| Calibration::of(predictions, temperature)).collect(),
            published,
        }
    }

    /// What training has seen of each of the scored pairs: that of the run, or of the one with whose weights it started.
    ///
    /// # Errors
    /// `Io` or `Data` if the run's input files can't be read.
    pub fn seen(&self, scored: &ScoredSplit) -> Result<Vec<Seen>> {
        Ok(scored.seen(&seen_by(&self.folder, &self.config)?))
    }

    /// Saves an evaluation in the run folder; returns the path of the predictions, and a lock. If it is of the best weights,
    /// updates the model card. `stories` is the report on single stories, if any. If two evaluations end at once, their
    /// files are not mixed, as long as the lock is held: the later one's stay.
    ///
    /// # Errors
    /// `Refused` if the name leads out of the folder; `CantCreate`, `Io`.
    pub fn record(
        &self,
        evaluation: &str,
        predictions: &[LabelledPair],
        report: &Report,
        stories: Option<&StoryReport>,
    ) -> Result<(PathBuf, Lock)> {
        let path = self.folder.evaluation_file(evaluation, "lock")?;
        let lock = Lock::wait_for(&path)?;
        // Removes files about earlier predictions. Without that of their weights they are of no use until they are replaced.
        for file in [WEIGHTS, "set.json", "stories.json"] {
            self.folder.forget_evaluation(evaluation, file)?;
        }
        let file = keep(path.parent().unwrap_or(self.folder.path()), predictions, report, stories)?;
        self.note_weights(evaluation)?;
        if self.which == CheckpointKind::Best {
            self.folder.write_card(&self.config)?;
        }
        Ok((file, lock))
    }

    /// Saves the evaluation on the run's own dev pairs. `parts` says which pairs belong to which source. `digests` has the
    /// SHA-256 of each source's file as it was read, separated by spaces.
    ///
    /// # Errors
    /// Like [`TrainedRun::record`]; `Config` if the run has no dev pairs.
    pub fn record_dev(&self, predictions: &[LabelledPair], parts: &[MixtureComponent], digests: &str) -> Result<()> {
        let Sources(sources) = self.dev_sources()?;
        let mut digests = digests.split(' ').filter(|digest| !digest.is_empty());
        let mut each = sources.iter().zip(parts);
        each.try_for_each(|(source, part)| self.record_source(source, digests.next(), &predictions[part.pairs.clone()]))
    }

    fn record_source(&self, source: &DataSource, sha256: Option<&str>, predictions: &[LabelledPair]) -> Result<()> {
        let kind = source.kind.map_or("all", |kind| kind.name());
        let (file, split) = source.story_file().expect("dev sources are files: the config was validated");
        let name = name_of(source, self.which)?;
        let data = DataDescription {
            file: Some(file.display().to_string()),
            split: Some(split.to_owned()),
            kind: kind.to_owned(),
            pairs: predictions.len() as u64,
            limited: at_most(source, self.folder.inputs()?.as_ref()).is_some_and(|limit| limit == predictions.len()),
            sha256: sha256.map(str::to_owned),
            seen: Seen::ChosenOn,
            ..DataDescription::default()
        };
        let kinds = predictions.iter().filter_map(|pair| Kind::from_name(&pair.kind)).collect();
        let data = match sha256 {
            Some(sha256) => {
                let seen = self.seen(&ScoredSplit { sha256, split, kinds, scored: None })?;
                // The choice was made on them, even if the file is not that of the training any more.
                data.with_seen(&seen.into_iter().map(|seen| seen.max(Seen::ChosenOn)).collect::<Vec<_>>())
            }
            None => data,
        };
        let recorded = own_decode(&self.config).apply(predictions);
        let report = self.report(data, &recorded, &Decode::REPORTED, &self.states(), Vec::new());
        self.record(&name, &recorded, &report, None).map(|_| ())
    }
}

/// The files that [`keep`] writes.
pub const EVALUATION_FILES: [&str; 3] = ["predictions.jsonl", "report.json", "stories.json"];

/// Saves an evaluation in a folder, which it creates; returns the path of the predictions.
///
/// # Errors
/// `CantCreate`, `Io`.
pub fn keep(
    folder: &Path,
    predictions: &[LabelledPair],
    report: &Report,
    stories: Option<&StoryReport>,
) -> Result<PathBuf> {
    durable::create_folder(folder)?;
    let [file, of_pairs, of_stories] = EVALUATION_FILES.map(|file| folder.join(file));
    for earlier in [&of_stories, &of_pairs].into_iter().filter(|path| path.exists()) {
        durable::remove_file(earlier)?; // they are of other predictions
    }
    durable::replace_with(&file, |part| write_predictions(part, predictions))?;
    durable::replace(&of_pairs, report.to_json().as_bytes())?;
    if let Some(stories) = stories {
        durable::replace(&of_stories, stories.to_json().as_bytes())?;
    }
    Ok(file)
}

impl RunFolder {
    /// Describes the pairs of an existing evaluation with this name, if they are not those of `data`.
    ///
    /// # Errors
    /// `Refused` if the name leads out of the folder.
    pub fn other_evaluated(&self, evaluation: &str, data: &DataDescription) -> Result<Option<String>> {
        if !self.evaluated(evaluation, "report.json")?.exists() {
            return Ok(None);
        }
        // A report that can't be read is of no use and may be replaced.
        let Ok(there) = self.report(evaluation).map(|report| report.data) else { return Ok(None) };
        let name = |file: &Option<String>| file.as_ref().map(|file| Path::new(file).file_name().map(ToOwned::to_owned));
        let is_file = match (&there.sha256, &data.sha256) {
            (Some(a), Some(b)) => a == b,
            _ => name(&there.file) == name(&data.file),
        };
        let pairs = |data: &DataDescription| (data.split.clone(), data.kind.clone(), data.pairs);
        let is_same = is_file && pairs(&there) == pairs(data) && there.reading_remark() == data.reading_remark();
        let remark = there.remark();
        let parts = [there.file, there.split, Some(there.kind), Some(counted(there.pairs, "pair"))];
        Ok((!is_same).then(|| parts.into_iter().flatten().collect::<Vec<_>>().join(", ") + &remark))
    }

    /// The predictions of an evaluation, if there are any and they come from the run's current weights.
    ///
    /// # Errors
    /// `Io`, `Data`.
    pub fn predictions(&self, evaluation: &str, which: CheckpointKind) -> Result<Option<Vec<LabelledPair>>> {
        let path = self.evaluated(evaluation, "predictions.jsonl")?;
        if !path.is_file() || !self.is_of_present_weights(evaluation, which)? {
            return Ok(None);
        }
        match read_predictions(&path) {
            Ok(file) => Ok(Some(file.pairs)),
            Err(error) if error.kind == ErrorKind::Data => {
                Err(Error { message: format!("{}; evaluate again with `tiered eval`", error.message), ..error })
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the model card from the files in the folder.
    ///
    /// # Errors
    /// `Data` if a file in it is not ours; `CantCreate`, `Io`.
    pub fn write_card(&self, config: &Config) -> Result<()> {
        let mut reports = Vec::new();
        for name in self.evaluations()?.iter().filter(|name| !name.ends_with(CheckpointKind::Last.suffix())) {
            if self.is_of_present_weights(name, CheckpointKind::Best)? {
                reports.push(self.report(name)?);
            }
        }
        let card = model_card::card(&self.card_contents(config, reports)?)?;
        durable::replace(&self.card_file(), card.as_bytes())
    }

    fn card_contents(&self, config: &Config, reports: Vec<Report>) -> Result<CardContents> {
        let (inputs, model, epochs) = (self.inputs()?, self.model_config()?, self.epochs()?);
        let described = |Sources(sources): &Sources, digests: Option<&str>| -> Vec<CardSource> {
            let mut digests = digests.unwrap_or_default().split(' ').map(str::to_owned).filter(|one| !one.is_empty());
            let described = sources.iter().map(|source| CardSource {
                file: source.name(),
                split: source.split_name().to_owned(),
                kind: source.kind,
                limit: at_most(source, inputs.as_ref()),
                sha256: digests.next().filter(|_| source.file.is_some()),
                soft_labels: source.soft_labels.as_ref().map(|file| file.display().to_string()),
            });
            described.collect()
        };
        let of_dev = inputs.as_ref().and_then(|inputs| inputs.dev.as_deref());
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let real = self.path().canonicalize();
        Ok(CardContents {
            name: name(real.as_deref().unwrap_or(self.path())),
            encoder: config.encoder.public_name(),
            encoder_type: model.encoder.family.name().to_owned(),
            detector: plain_name(&model.detector.kind)?,
            init_from: config.init_from.as_deref().map(name),
            train: described(&config.data.train, inputs.as_ref().map(|inputs| inputs.train.as_str())),
            left_out: config.data.leave_out.map(|fold| fold.to_string()),
            dev: config.data.dev.as_ref().map_or(Vec::new(), |dev| described(dev, of_dev)),
            seed: config.seed,
            averaged: self.average()?.map(|average| average.runs.len()),
            epochs: epochs.len() as u64,
            best_epoch: best_epoch(epochs),
            reports,
        })
    }
}

/// The largest number of pairs of a source that the run was to read.
fn at_most(source: &DataSource, of_run: Option<&Inputs>) -> Option<usize> {
    source.pairs.into_iter().chain(of_run.and_then(|inputs| inputs.limit)).min()
}

/// The name of a value in JSON.
fn plain_name(value: &impl Serialize) -> Result<String> {
    let name =
        serde_json::to_string(value).map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))?;
    Ok(name.trim_matches('"').to_owned())
}
