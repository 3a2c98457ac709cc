//! Compares the runs of a sweep by their saved predictions.

use super::file::{ConflictChoice, EvaluationSet, StateChoice};
use super::{Sweep, SweepRun};
use crate::config::expand;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, own_decode};
use crate::metrics::{PairSet, Reached, reached};
use crate::prediction::{LabelledPair, read_predictions};
use crate::report::comparison::{Compared, Comparison, SectionData, System, once_each};
use crate::report::{Seen, published};
use crate::say::{aside, counted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The evaluations and decodings to show.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Evaluation sets by name. Empty means all.
    pub sets: Vec<String>,
    /// Empty means those of the sweep file.
    pub decode: Vec<ConflictChoice>,
    /// Empty means those of the sweep file.
    pub states: Vec<StateChoice>,
}

/// A way of decoding predictions.
type Decoding = (ConflictChoice, StateChoice);

/// The runs of each row, by its name. They differ only in their seed.
type Rows<'a> = Vec<(String, Vec<&'a SweepRun>)>;

/// The tiers that a run reaches on a set, by decoding.
struct CellOutcomes {
    pairs: CellPairs,
    by_decoding: Vec<Reached>,
}

/// The pairs that the runs of one seed were evaluated on.
#[derive(Clone)]
struct CellPairs {
    all: PairSet,
    /// The folder of each run's evaluation, and its pairs: in cross-validation those of its fold.
    by_folder: Vec<(PathBuf, PairSet)>,
}

impl CellPairs {
    /// # Errors
    /// `Data` if the runs of another seed or row were evaluated on other pairs.
    fn require_same(&self, others: &CellPairs) -> Result<()> {
        let mut two = self.by_folder.iter().zip(&others.by_folder);
        match two.find(|((_, pairs), (_, other))| pairs != other) {
            Some(((folder, _), (other, _))) => Err(Error::data(format!(
                "{} and {} were evaluated on different pairs; remove the one that is wrong and run the sweep again",
                folder.display(),
                other.display()
            ))),
            None => Ok(()),
        }
    }
}

impl Sweep {
    /// The rows, in the order of their first runs. The runs of a row differ only in their seed.
    pub fn rows(&self) -> Rows<'_> {
        let mut rows: Rows = Vec::new();
        for run in &self.runs {
            let name = run.row_name();
            match rows.iter_mut().find(|(row, _)| *row == name) {
                Some((_, runs)) => runs.push(run),
                None => rows.push((name, vec![run])),
            }
        }
        rows
    }

    /// Compares the runs that were evaluated. The others are shown as missing.
    ///
    /// # Errors
    /// `Usage` if a set does not exist; `MissingInput`, `Io` or `Data` if predictions can't be read; `Data` if runs
    /// were evaluated on different pairs, or trained or evaluated on different versions of a story file.
    pub fn compare(&self, selection: &Selection, compared: &Compared) -> Result<Comparison> {
        self.require_one_training_data()?;
        let decodings = self.decodings(selection);
        let mut sections = Vec::new();
        for set in self.sets(selection)? {
            self.require_one_version(set)?;
            self.warn_of_seen(set);
            sections.extend(self.sections(set, &decodings)?);
        }
        Ok(Comparison::new(&self.file.name, sections, compared))
    }

    fn sets(&self, selection: &Selection) -> Result<Vec<&EvaluationSet>> {
        let all = &self.file.evaluate;
        let named = |name: &String| {
            all.iter().find(|set| set.name == *name).ok_or_else(|| {
                let names: Vec<&str> = all.iter().map(|set| set.name.as_str()).collect();
                Error::new(
                    ErrorKind::Usage,
                    format!("--evaluation {name}: no such evaluation; name one of {}", names.join(", ")),
                )
            })
        };
        if selection.sets.is_empty() {
            Ok(all.iter().collect())
        } else {
            once_each(&selection.sets).into_iter().map(named).collect()
        }
    }

    fn decodings(&self, selection: &Selection) -> Vec<Decoding> {
        let conflicts = if selection.decode.is_empty() { &self.file.decode } else { &selection.decode };
        let states = if selection.states.is_empty() { &self.file.states } else { &selection.states };
        once_each(conflicts.iter().flat_map(|&conflict| states.iter().map(move |&state| (conflict, state))))
    }

    /// # Errors
    /// `Data` if two runs were evaluated on different versions of the set's story file, or one on another version than is
    /// there now.
    fn require_one_version(&self, set: &EvaluationSet) -> Result<()> {
        let now = expand(&set.file).ok().filter(|file| file.exists());
        let mut first = now.map(|_| self.digest(set).map(|sha256| ("is there now".to_owned(), sha256))).transpose()?;
        for run in &self.runs {
            let files = self.files(run);
            let Some(sha256) = files.evaluated_file(set) else { continue };
            if !files.is_trained(run)? {
                continue;
            }
            let (other, of_first) =
                first.get_or_insert_with(|| (format!("that of {}", files.path.display()), sha256.clone()));
            if *of_first != sha256 {
                return Err(Error::data(format!(
                    "{}: its evaluation {} is of another version of {} (another SHA-256) than {}; evaluate anew \
                     with `tiered sweep run {}`; it says so if a run was trained on another version, too",
                    files.path.display(),
                    set.name,
                    set.file.display(),
                    other,
                    self.arguments()
                )));
            }
        }
        Ok(())
    }

    /// The sections of a set, one for each decoding.
    fn sections(&self, set: &EvaluationSet, decodings: &[Decoding]) -> Result<Vec<SectionData>> {
        let rows = self.rows();
        let mut first: Option<CellPairs> = None;
        let mut outcomes = BTreeMap::new();
        for folds in rows.iter().flat_map(|(_, runs)| of_seeds(runs)) {
            let Some(CellOutcomes { pairs, by_decoding }) = self.outcomes(folds, set, decodings)? else { continue };
            first.get_or_insert_with(|| pairs.clone()).require_same(&pairs)?;
            outcomes.insert(folds[0].number, by_decoding);
        }
        let section = |(i, decoding): (usize, &Decoding)| {
            let system = |(name, runs): &(String, Vec<&SweepRun>)| {
                let (done, missing): (Vec<&SweepRun>, Vec<&SweepRun>) =
                    of_seeds(runs).map(|folds| folds[0]).partition(|run| outcomes.contains_key(&run.number));
                System {
                    name: if name.is_empty() { self.file.name.clone() } else { name.clone() },
                    by_seed: done.iter().map(|run| (run.config.seed, outcomes[&run.number][i].clone())).collect(),
                    missing: missing.iter().map(|run| run.config.seed).collect(),
                    published: runs[0].published(&self.file, set).first().map(|entry| entry.as_row()),
                }
            };
            SectionData {
                set: set.name.clone(),
                decoding: decoding_name(*decoding),
                pairs: first.as_ref().map(|pairs| pairs.all.clone()),
                systems: rows.iter().map(system).collect(),
                published: set.published.map(published).unwrap_or_default(),
            }
        };
        Ok(decodings.iter().enumerate().map(section).collect())
    }

    /// Warns of evaluations on pairs that the runs were trained or chosen on: their scores are not those of a test.
    fn warn_of_seen(&self, set: &EvaluationSet) {
        let mut runs: BTreeMap<String, usize> = BTreeMap::new();
        for run in &self.runs {
            let report = self.files(run).folder().and_then(|folder| folder.report(&set.name));
            // One without a report is not evaluated.
            if let Some(data) = report.ok().map(|report| report.data).filter(|data| data.seen > Seen::HeldOut) {
                *runs.entry(data.seen_remark()).or_default() += 1;
            }
        }
        for (remark, runs) in &runs {
            aside!("warning: {}{remark}: {}", set.name, counted(*runs, "run"));
        }
    }

    /// Of the runs of one seed, which in cross-validation have a fold each. `None` if one is not evaluated on the set.
    fn outcomes(
        &self,
        folds: &[&SweepRun],
        set: &EvaluationSet,
        decodings: &[Decoding],
    ) -> Result<Option<CellOutcomes>> {
        let [run, ..] = folds else { return Ok(None) };
        let (mut predictions, mut by_folder, mut calibrated) = (Vec::new(), Vec::new(), None);
        for fold in folds {
            let files = self.files(fold);
            if !files.is_trained(fold)? || files.evaluated_file(set).is_none() {
                return Ok(None);
            }
            let folder = files.evaluation(set);
            let of_run = predictions_in(&folder)?;
            by_folder.push((folder, PairSet::of(&of_run)));
            predictions.extend(of_run);
            calibrated = files.folder()?.calibrated(CheckpointKind::Best)?.map(|calibrated| calibrated.states);
        }
        require_published(set, &predictions, &self.files(run).evaluation(set))?;
        let calibrates = decodings.iter().any(|&(_, states)| states == StateChoice::Calibrated);
        let calibrated = match calibrated {
            None if calibrates => {
                let what = "has no states that were calibrated on dev; show its states by argmax (--states argmax)";
                return Err(Error::data(format!("{}: {what}", self.files(run).path.display())));
            }
            calibrated => calibrated.unwrap_or_default(),
        };
        let decoded = |&(conflict, state): &Decoding| {
            let conflict = match conflict {
                ConflictChoice::Threshold => Decode::Threshold,
                ConflictChoice::Pair => Decode::Pair,
                ConflictChoice::Contrast => Decode::Contrast,
                ConflictChoice::Own => own_decode(&run.config),
            };
            let states = if state == StateChoice::Calibrated { calibrated } else { StateDecode::Argmax };
            reached(predictions.iter().map(|pair| states.apply_to(conflict.apply_to(pair.clone()))))
        };
        let by_decoding = decodings.iter().map(decoded).collect();
        Ok(Some(CellOutcomes { pairs: CellPairs { all: PairSet::of(&predictions), by_folder }, by_decoding }))
    }
}

/// The predictions in the folder of an evaluation.
///
/// # Errors
/// `MissingInput`, `Io` or `Data` if they can't be read. `tiered sweep run` evaluates anew what has no folder.
fn predictions_in(folder: &Path) -> Result<Vec<LabelledPair>> {
    let read = read_predictions(&folder.join("predictions.jsonl"));
    read.map(|read| read.pairs).map_err(|error| {
        let message = format!("{}; remove {} and run the sweep again", error.message, folder.display());
        Error { message, ..error }
    })
}

/// # Errors
/// `Data` if the predictions in this folder are not of the pairs of the published scores.
fn require_published(set: &EvaluationSet, predictions: &[LabelledPair], folder: &Path) -> Result<()> {
    let ids = predictions.iter().map(|pair| pair.id.as_str());
    let checked = set.published.map_or(Ok(()), |published| published.check(ids));
    checked.map_err(|error| {
        let message = format!("{}, or remove {} and run the sweep again", error.message, folder.display());
        Error { message, ..error }.about(format_args!("evaluate {:?}", set.name))
    })
}

/// The runs of a row by their seeds: one each, or its folds.
fn of_seeds<'a, 'b>(runs: &'b [&'a SweepRun]) -> impl Iterator<Item = &'b [&'a SweepRun]> {
    runs.chunk_by(|one, other| one.config.seed == other.config.seed)
}

fn decoding_name((conflict, state): Decoding) -> String {
    let conflict = match conflict {
        ConflictChoice::Threshold => "threshold",
        ConflictChoice::Pair => "pair",
        ConflictChoice::Contrast => "contrast",
        ConflictChoice::Own => "each detector's own decoding",
    };
    let state = match state {
        StateChoice::Argmax => "argmax",
        StateChoice::Calibrated => "calibrated on dev",
    };
    format!("{conflict}, states {state}")
}

/// Reads pairs of rows `A,B`, each by number or by name. Without any, every row is compared with the first.
///
/// # Errors
/// `Usage` if there is no such row.
pub fn compared(row_pairs: &[String], rows: &[String]) -> Result<Compared> {
    let usage = |message: String| Error::new(ErrorKind::Usage, message);
    let index = |named: &str| {
        let named = named.trim();
        let by_number =
            named.parse().ok().filter(|number| (1..=rows.len()).contains(number)).map(|number: usize| number - 1);
        let by_name = rows.iter().position(|row| row == named);
        if let (Some(number), Some(name)) = (by_number, by_name)
            && number != name
        {
            let problem = format!("{named} is row {:?} by number, and row {} by name", rows[number], name + 1);
            return Err(usage(format!("--compare: {problem}; give the rows other names in the sweep file")));
        }
        by_number.or(by_name).ok_or_else(|| {
            let list: Vec<String> = rows.iter().enumerate().map(|(i, row)| format!("\n  {} {row}", i + 1)).collect();
            usage(format!("--compare: there is no row {named:?}; the rows are:{}", list.concat()))
        })
    };
    let pair = |text: &String| {
        let (first, second) = text
            .split_once(',')
            .ok_or_else(|| usage(format!("--compare {text}: names only one row; name two, e.g. --compare 1,3")))?;
        match [index(first)?, index(second)?] {
            [first, second] if first == second => {
                Err(usage(format!("--compare {text}: names one row twice; name two, e.g. --compare 1,3")))
            }
            two => Ok(two),
        }
    };
    match row_pairs {
        [] => Ok(Compared::WithFirst),
        row_pairs => Ok(Compared::Rows(once_each(row_pairs.iter().map(pair).collect::<Result<Vec<_>>>()?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_by_number_or_by_name() {
        let rows = ["paper / all".to_owned(), "joint / all".to_owned()];
        let read = |asked: &str| compared(&[asked.to_owned()], &rows);
        assert_eq!(read("2,1").unwrap(), Compared::Rows(vec![[1, 0]]));
        assert_eq!(read("joint / all, 1").unwrap(), Compared::Rows(vec![[1, 0]]));
        assert_eq!(compared(&[], &rows).unwrap(), Compared::WithFirst);
        for wrong in ["1", "1,3", "0,1", "1,paper"] {
            assert_eq!(read(wrong).unwrap_err().kind, ErrorKind::Usage, "{wrong}");
        }
        let epochs = ["1", "2", "4", "8"].map(str::to_owned);
        let read = |asked: &str| compared(&[asked.to_owned()], &epochs);
        assert_eq!(read("8,2").unwrap(), Compared::Rows(vec![[3, 1]]), "what only one row is called");
        assert!(read("2,4").unwrap_err().message.contains("4 is row \"8\" by number, and row 3 by name"));
    }
}
