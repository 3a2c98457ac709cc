//! Who predicted what is compared: runs with their evaluations, and files of predictions.

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, RunFolder};
use crate::metrics::PairSet;
use crate::prediction::{LabelledPair, PredictionFormat, read_predictions};
use crate::report::comparison::once_each;
use crate::say::quoted;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Who predicted: a run, which has evaluations, or a file, which has one.
pub(super) enum Predictor<'a> {
    Run(RunFolder),
    File(&'a Path, Vec<LabelledPair>),
}

impl<'a> Predictor<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        if !path.is_file() {
            return RunFolder::open(path).map(Predictor::Run);
        }
        let file = read_predictions(path)?;
        if file.format != PredictionFormat::Lines {
            let problem = "a published list has no probabilities to decode; compare files of predictions.jsonl";
            return Err(Error::data(format!("{}: {problem}", path.display())));
        }
        Ok(Predictor::File(path, file.pairs))
    }

    fn path(&self) -> &Path {
        match self {
            Predictor::Run(folder) => folder.path(),
            Predictor::File(path, _) => path,
        }
    }

    /// The predictions on a set, and what is wrong if there are none by the present weights.
    fn predictions(&self, set: &str) -> Result<Option<Vec<LabelledPair>>> {
        let is_last = set.ends_with(CheckpointKind::Last.suffix());
        let which = if is_last { CheckpointKind::Last } else { CheckpointKind::Best };
        match self {
            Predictor::Run(folder) => folder.predictions(set, which),
            Predictor::File(_, pairs) => Ok(Some(pairs.clone())),
        }
    }

    /// A problem with its predictions on a set, with the remedy.
    fn wrong(&self, set: &str, problem: &str) -> Error {
        let path = self.path().display();
        Error::data(match self {
            Predictor::Run(_) => format!("{path}: its evaluation {set} {problem}; evaluate again with `tiered eval`"),
            Predictor::File(..) => format!("{path}: {problem}; name a file of the same pairs and labels"),
        })
    }
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
        Predictor::File(path, pairs) => Some((path, pairs)),
        Predictor::Run(_) => None,
    });
    let files: Vec<_> = files.filter(|_| evaluations.is_empty()).collect();
    let Some((first, _)) = files.first() else { return Ok(sets) };
    let (mut shared, mut wrong) = (Vec::new(), None);
    for set in &sets {
        let Some(of_run) = Predictor::Run(folders[0].clone()).predictions(set)? else { continue };
        let mut ordered = files.iter().map(|(path, pairs)| (path, in_order_of(&of_run, pairs.to_vec())));
        match ordered.find(|(_, pairs)| PairSet::of(pairs) != PairSet::of(&of_run)) {
            None => shared.push(set.clone()),
            Some((path, pairs)) if have_same_ids(&of_run, &pairs) => {
                wrong = Some(format!("{}: {OTHER_GOLD} the evaluation {set} of the runs", path.display()));
            }
            Some(_) => {}
        }
    }
    match shared.is_empty() {
        false => Ok(shared),
        true => Err(Error::data(wrong.unwrap_or_else(|| {
            let sets = sets.join(", ");
            let what = format!("is of other pairs than the evaluations of the runs ({sets})");
            format!("{}: {what}; evaluate a run on these pairs with `tiered eval`", first.display())
        }))),
    }
}

/// How a set of the same pairs can differ.
const OTHER_GOLD: &str = "differs in its story groups, or in which pairs have gold states, from";

fn have_same_ids(first: &[LabelledPair], other: &[LabelledPair]) -> bool {
    first.iter().map(|pair| &pair.id).eq(other.iter().map(|pair| &pair.id))
}

/// The evaluations named by `--evaluation`, else those that all runs have.
fn sets_of_runs(evaluations: &[String], folders: &[&RunFolder]) -> Result<Vec<String>> {
    let each = folders.iter().map(|folder| Ok(folder.evaluations()?.into_iter().collect()));
    let each: Vec<BTreeSet<String>> = each.collect::<Result<_>>()?;
    let lacks = |set: &String| each.iter().position(|of_run| !of_run.contains(set));
    if let Some((set, run)) = evaluations.iter().find_map(|set| Some((set, lacks(set)?))) {
        let run = folders[run].path().display();
        return Err(Error::new(
            ErrorKind::MissingInput,
            format!("{run}: has no evaluation {set}; evaluate it with: tiered eval {} --data FILE", quoted(&run)),
        ));
    }
    if !evaluations.is_empty() {
        return Ok(once_each(evaluations.iter().cloned()));
    }
    let shared: Vec<String> = each[0].iter().filter(|set| lacks(set).is_none()).cloned().collect();
    if shared.is_empty() {
        let lists = folders.iter().zip(&each).map(|(run, sets)| {
            let sets = sets.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("{}: {}", run.path().display(), if sets.is_empty() { "none" } else { &sets })
        });
        let lists = lists.collect::<Vec<_>>().join("; ");
        let remedy = "evaluate each with: tiered eval RUN --data FILE";
        let message = format!("the runs share no evaluation ({lists}); {remedy}");
        return Err(Error::new(ErrorKind::MissingInput, message));
    }
    Ok(shared)
}

/// The predictions in the order of others. The folds of a cross-validation may be joined in any order.
fn in_order_of(first: &[LabelledPair], mut predicted: Vec<LabelledPair>) -> Vec<LabelledPair> {
    if PairSet::of(first) == PairSet::of(&predicted) {
        return predicted;
    }
    let place: HashMap<&str, usize> = first.iter().enumerate().map(|(i, pair)| (pair.id.as_str(), i)).collect();
    predicted.sort_by_key(|pair| place.get(pair.id.as_str()).copied());
    predicted
}

/// The predictions of each system on a set.
///
/// # Errors
/// `Data` if a run's predictions were made by weights that it no longer has, are of other pairs than the first one's, or
/// are of pairs with other sentences or labels.
pub(super) fn predictions(systems: &[Predictor], set: &str) -> Result<Vec<Vec<LabelledPair>>> {
    let mut all: Vec<Vec<LabelledPair>> = Vec::new();
    for system in systems {
        let wrong = |problem: &str| system.wrong(set, problem);
        let mut predicted = system
            .predictions(set)?
            .ok_or_else(|| wrong("was made by other weights than it has now, or by an earlier version of tiered"))?;
        if let Some(first) = all.first() {
            predicted = in_order_of(first, predicted);
        }
        if all.first().is_some_and(|first| PairSet::of(first) != PairSet::of(&predicted)) {
            let what = if have_same_ids(&all[0], &predicted) { OTHER_GOLD } else { "is of other pairs than that of" };
            return Err(wrong(&format!("{what} {}", systems[0].path().display())));
        }
        let first = all.first().map(Vec::as_slice).unwrap_or_default();
        if let Some((pair, _)) = first.iter().zip(&predicted).find(|(one, other)| !one.asks_the_same(other)) {
            return Err(wrong(&format!(
                "has a pair {} with another conflict, other gold states or other sentences than that of {}",
                pair.id,
                systems[0].path().display()
            )));
        }
        all.push(predicted);
    }
    Ok(all)
}

/// Adds to what is wrong with one set the sets that can be compared.
pub(super) fn with_others(error: Error, systems: &[Predictor], sets: &[String], wrong: &str) -> Error {
    let others = sets.iter().filter(|set| *set != wrong && predictions(systems, set).is_ok());
    let others = others.map(|set| format!("--evaluation {set}")).collect::<Vec<_>>().join(" ");
    match others.is_empty() {
        true => error,
        false => Error { message: format!("{}, or compare without it: {others}", error.message), ..error },
    }
}
