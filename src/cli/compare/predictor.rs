//! Who predicted what is compared: runs with their evaluations, and files of predictions.

use super::answers::SetAnswers;
use crate::analysis::parse_tiers;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, RunFolder};
use crate::prediction::{PredictionFormat, parse_predictions, prediction_bytes};
use crate::report::Seen;
use crate::report::comparison::once_each;
use crate::say::{aside, quoted};
use std::collections::BTreeSet;
use std::path::Path;

/// Who predicted: a run, which has evaluations, or a file, which has one.
pub(super) enum Predictor<'a> {
    Run(RunFolder),
    File(&'a Path, SetAnswers),
}

impl<'a> Predictor<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        if path.is_dir() {
            return run_folder(path).map(Predictor::Run);
        }
        let bytes = prediction_bytes(path)?;
        if let Some(tiers) = parse_tiers(path, &bytes) {
            return tiers.map(|pairs| Predictor::File(path, SetAnswers::Tiers(pairs)));
        }
        let file = parse_predictions(path, &bytes)?;
        if file.format != PredictionFormat::Lines {
            let problem = "a published list has no probabilities to decode; compare files of predictions.jsonl";
            return Err(Error::data(format!("{}: {problem}", path.display())));
        }
        Ok(Predictor::File(path, SetAnswers::Predictions(file.pairs)))
    }

    fn path(&self) -> &Path {
        match self {
            Predictor::Run(folder) => folder.path(),
            Predictor::File(path, _) => path,
        }
    }

    /// The predictions on a set, and what is wrong if there are none by the present weights.
    fn answers(&self, set: &str) -> Result<Option<SetAnswers>> {
        let is_last = set.ends_with(CheckpointKind::Last.suffix());
        let which = if is_last { CheckpointKind::Last } else { CheckpointKind::Best };
        match self {
            Predictor::Run(folder) => Ok(folder.predictions(set, which)?.map(SetAnswers::Predictions)),
            Predictor::File(_, answers) => Ok(Some(answers.clone())),
        }
    }

    /// Says if a run was trained or chosen on a set; empty also where that is not known: of a file, or of a report of an
    /// earlier version.
    fn has_seen(&self, set: &str) -> String {
        let Predictor::Run(folder) = self else { return String::new() };
        let data = folder.report(set).map(|report| report.data).ok();
        let data = data.filter(|data| matches!(data.seen, Seen::ChosenOn | Seen::TrainedOn));
        data.map_or(String::new(), |data| data.seen_remark())
    }

    /// How a run read the pairs of a set; `None` where that is not known.
    fn reading(&self, set: &str) -> Option<String> {
        let Predictor::Run(folder) = self else { return None };
        folder.report(set).ok().map(|report| report.data.reading_remark())
    }

    /// A problem with its answers on a set, with the remedy.
    fn wrong(&self, set: &str, problem: &str) -> Error {
        let remedy = match self {
            Predictor::Run(_) => "evaluate again with `tiered eval`",
            Predictor::File(..) => "name a file of the same pairs and labels",
        };
        self.lacks(set, &format!("{problem}; {remedy}"))
    }

    /// A problem with its answers on a set.
    pub(super) fn lacks(&self, set: &str, problem: &str) -> Error {
        let path = self.path().display();
        Error::data(match self {
            Predictor::Run(_) => format!("{path}: its evaluation {set} {problem}"),
            Predictor::File(..) => format!("{path}: {problem}"),
        })
    }
}

/// Opens a run folder, where a file of predictions may be named too.
///
/// # Errors
/// `MissingInput` if it is none; a folder with predictions, such as a language model's, has them named as the remedy.
pub(in crate::cli) fn run_folder(path: &Path) -> Result<RunFolder> {
    let file = path.join("predictions.jsonl");
    RunFolder::open(path).map_err(|error| match file.is_file() {
        true => {
            let remedy = format!("name its file of predictions: {}", file.display());
            Error::new(ErrorKind::MissingInput, format!("{}: not a run folder; {remedy}", path.display()))
        }
        false => error,
    })
}

/// What the only set is called if no run is compared.
const OF_FILES: &str = "predictions";

/// The evaluations to compare on. Those of runs count; where files of predictions take part, only those of their pairs,
/// unless some are named.
pub(super) fn sets(evaluations: &[String], systems: &[Predictor]) -> Result<Vec<String>> {
    let folders: Vec<&RunFolder> =
        systems.iter().filter_map(|system| if let Predictor::Run(run) = system { Some(run) } else { None }).collect();
    if folders.is_empty() {
        return match evaluations.first() {
            None => Ok(vec![OF_FILES.to_owned()]),
            Some(_) => Err(Error::new(
                ErrorKind::Usage,
                "--evaluation: files of predictions have no evaluations; leave it out",
            )),
        };
    }
    let sets = sets_of_runs(evaluations, &folders)?;
    let files = systems.iter().filter_map(|system| match system {
        Predictor::File(path, answers) => Some((*path, answers)),
        Predictor::Run(_) => None,
    });
    let files: Vec<_> = files.filter(|_| evaluations.is_empty()).collect();
    match files.is_empty() {
        true => Ok(sets),
        false => sets_of_files(&sets, &Predictor::Run(folders[0].clone()), &files),
    }
}

/// Those of the sets of a run that are of the pairs of all files. Warns of evaluations that can't be used.
fn sets_of_files(sets: &[String], run: &Predictor, files: &[(&Path, &SetAnswers)]) -> Result<Vec<String>> {
    let (mut shared, mut wrong, mut unusable) = (Vec::new(), None, Vec::new());
    for set in sets {
        let of_run = match run.answers(set).and_then(|found| found.ok_or_else(|| run.wrong(set, OTHER_WEIGHTS))) {
            Ok(of_run) => of_run,
            Err(error) => {
                unusable.push(error);
                continue;
            }
        };
        let mut ordered = files.iter().map(|(path, answers)| (path, SetAnswers::clone(answers).in_order_of(&of_run)));
        match ordered.find(|(_, answers)| answers.set() != of_run.set()) {
            None => shared.push(set.clone()),
            Some((path, answers)) if answers.has_ids_of(&of_run) => {
                wrong = Some(format!("{}: {OTHER_GOLD} the evaluation {set} of the runs", path.display()));
            }
            Some(_) => {}
        }
    }
    if !shared.is_empty() {
        for error in unusable {
            aside!("warning: {error}; it is left out");
        }
        return Ok(shared);
    }
    match (wrong, unusable.into_iter().next()) {
        (Some(wrong), _) => Err(Error::data(wrong)),
        (None, Some(error)) => Err(error),
        (None, None) => {
            let (path, sets) = (files[0].0.display(), sets.join(", "));
            let what = format!("is of other pairs than the evaluations of the runs ({sets})");
            Err(Error::data(format!("{path}: {what}; evaluate a run on these pairs with `tiered eval`")))
        }
    }
}

/// Why an evaluation does not count.
const OTHER_WEIGHTS: &str = "was made by other weights than it has now, or by an earlier version of tiered";

/// How a set of the same pairs can differ.
const OTHER_GOLD: &str = "differs in its story groups, or in which pairs have gold states, from";

/// The names of evaluations in a message.
fn listed(sets: &BTreeSet<String>) -> String {
    let names = sets.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.is_empty() { "none".to_owned() } else { names }
}

/// The evaluations named by `--evaluation`, else those that all runs have.
fn sets_of_runs(evaluations: &[String], folders: &[&RunFolder]) -> Result<Vec<String>> {
    let each = folders.iter().map(|folder| Ok(folder.evaluations()?.into_iter().collect()));
    let each: Vec<BTreeSet<String>> = each.collect::<Result<_>>()?;
    let lacks = |set: &String| each.iter().position(|of_run| !of_run.contains(set));
    if let Some((set, run)) = evaluations.iter().find_map(|set| Some((set, lacks(set)?))) {
        let others = if each[run].is_empty() {
            String::new()
        } else {
            format!("name one that it has ({}), or ", listed(&each[run]))
        };
        let run = folders[run].path().display();
        let remedy = format!("{others}evaluate it with: tiered eval {} --data FILE", quoted(&run));
        return Err(Error::new(ErrorKind::MissingInput, format!("{run}: has no evaluation {set}; {remedy}")));
    }
    if !evaluations.is_empty() {
        return Ok(once_each(evaluations.iter().cloned()));
    }
    let shared: Vec<String> = each[0].iter().filter(|set| lacks(set).is_none()).cloned().collect();
    if shared.is_empty() {
        let lists = folders.iter().zip(&each).map(|(run, sets)| format!("{}: {}", run.path().display(), listed(sets)));
        let lists = lists.collect::<Vec<_>>().join("; ");
        let remedy = "evaluate each with: tiered eval RUN --data FILE";
        let message = format!("the runs share no evaluation ({lists}); {remedy}");
        return Err(Error::new(ErrorKind::MissingInput, message));
    }
    Ok(shared)
}

/// The answers of each system on a set.
///
/// # Errors
/// `Data` if a run's predictions were made by weights that it no longer has, are of other pairs than the first one's, or
/// are of pairs with other sentences or labels.
pub(super) fn answers(systems: &[Predictor], set: &str) -> Result<Vec<SetAnswers>> {
    let mut all: Vec<SetAnswers> = Vec::new();
    for system in systems {
        let wrong = |problem: &str| system.wrong(set, problem);
        let mut answers = system.answers(set)?.ok_or_else(|| wrong(OTHER_WEIGHTS))?;
        if let Some(first) = all.first() {
            let of_first = systems[0].path().display();
            answers = answers.in_order_of(first);
            if first.set() != answers.set() {
                let what = if answers.has_ids_of(first) { OTHER_GOLD } else { "is of other pairs than that of" };
                return Err(wrong(&format!("{what} {of_first}")));
            }
            if let Some(pair) = first.asked_otherwise(&answers) {
                let what = "with another conflict, other gold states or other sentences than that of";
                return Err(wrong(&format!("has a pair {pair} {what} {of_first}")));
            }
        }
        all.push(answers);
    }
    Ok(all)
}

/// Warns of runs that were trained or chosen on the set: their scores are not those of a test.
pub(super) fn warn_of_seen(systems: &[Predictor], set: &str) {
    let seen: Vec<String> = systems.iter().map(|system| system.has_seen(set)).collect();
    for remark in once_each(&seen).into_iter().filter(|remark| !remark.is_empty()) {
        let runs = systems.iter().zip(&seen).filter(|(_, seen)| *seen == remark);
        let runs: Vec<String> = runs.map(|(system, _)| system.path().display().to_string()).collect();
        aside!("warning: {set}{remark}: {}", runs.join(", "));
    }
}

/// Warns where systems read the pairs of a set in different ways, which the same `--tag` may hide.
pub(super) fn warn_of_readings(systems: &[Predictor], set: &str) {
    let readings = systems.iter().filter_map(|system| Some((system.path().display(), system.reading(set)?)));
    let readings: Vec<_> = readings.collect();
    if readings.iter().any(|(_, reading)| *reading != readings[0].1) {
        let runs = readings
            .iter()
            .map(|(run, reading)| format!("{run}{}", if reading.is_empty() { ", as in training" } else { reading }));
        aside!("warning: {set}: the pairs were read in different ways: {}", runs.collect::<Vec<_>>().join("; "));
    }
}

/// Adds to what is wrong with one set the sets that can be compared.
pub(super) fn with_others(error: Error, systems: &[Predictor], sets: &[String], wrong: &str) -> Error {
    let others = sets.iter().filter(|set| *set != wrong && answers(systems, set).is_ok());
    let others = others.map(|set| format!("--evaluation {set}")).collect::<Vec<_>>().join(" ");
    match others.is_empty() {
        true => error,
        false => Error { message: format!("{}, or compare without it: {others}", error.message), ..error },
    }
}
