//! `tiered compare`: compares finished runs on the pairs that all of them were evaluated on.

use super::format::{Format, FormatArgs};
use super::output::{print, shown};
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, RunFolder};
use crate::metrics::{PairSet, Reached, reached};
use crate::prediction::{LabelledPair, PredictionFormat, read_predictions};
use crate::report::comparison::{Compared, Comparison, SectionData, System};
use crate::say::quoted;
use crate::schema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How many differing pairs the text lists without `--all`.
const LISTED: usize = 20;
/// The word for the highest tier that a pair reaches.
const TIERS: [&str; 4] = ["wrong", "accurate", "consistent", "verifiable"];

/// Compare finished runs: scores, paired tests, and the pairs where they differ
///
/// Uses every evaluation (`tiered eval`) that all of the runs have. Each run is compared with the first. A file of
/// predictions, such as a language model's (`tiered llm score --predictions`), takes part in the evaluations of the same
/// pairs.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Run folders, made by `tiered train`, or files of predictions (predictions.jsonl)
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    runs: Vec<PathBuf>,
    /// Only this evaluation, by its name in the run folders; may be repeated [default: all that the runs share]
    #[arg(long = "evaluation", value_name = "NAME")]
    evaluations: Vec<String>,
    /// How to choose the sentences in conflict: threshold (the papers'), pair (the most likely sentence pair) or
    /// contrast [default: show threshold and pair]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to predict: argmax (the most likely class), 0.7 (nontrivial states of probability 0.7 or more),
    /// 0.7+top1 (the same, and where none at the conflict reaches it, the most probable one) or single (one attribute
    /// of one entity at the conflict); may be repeated [default: argmax]
    #[arg(long, value_name = "HOW")]
    states: Vec<StateDecode>,
    /// List all pairs on which the runs differ, not only the first 20
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// The output as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    comparison: &'a Comparison,
    differing: &'a [Differing],
}

/// The pairs of a set on which the runs reach different tiers, for one decoding.
#[derive(Serialize)]
struct Differing {
    set: String,
    decoding: String,
    pairs: usize,
    differ: Vec<DifferingPair>,
}

#[derive(Serialize)]
struct DifferingPair {
    id: String,
    kind: String,
    /// For each run, the highest tier that it reaches.
    tiers: Vec<&'static str>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let systems = args.runs.iter().map(|run| Predictor::open(run)).collect::<Result<Vec<_>>>()?;
    let names = args.runs.iter().map(|run| run.display().to_string()).collect::<Vec<_>>();
    let real: Vec<_> = args.runs.iter().map(|run| run.canonicalize().unwrap_or_else(|_| run.clone())).collect();
    if let Some(twice) = (1..real.len()).find(|&i| real[..i].contains(&real[i])) {
        return Err(Error::new(ErrorKind::Usage, format!("{}: named twice", names[twice])).into());
    }
    let (mut sections, mut differing) = (Vec::new(), Vec::new());
    let sets = sets(args, &systems)?;
    for set in &sets {
        let predictions = predictions(&systems, set).map_err(|error| with_others(error, &systems, &sets, set))?;
        for (conflicts, states) in decodings(args) {
            if states != StateDecode::Argmax {
                require_probabilities(set, &names, &predictions)?;
            }
            let decoding = format!("{}, states {states}", conflicts.name());
            let decoded: Vec<Vec<LabelledPair>> =
                predictions.iter().map(|of_run| states.apply(&conflicts.apply(of_run))).collect();
            let outcomes: Vec<Reached> = decoded.iter().map(reached).collect();
            differing.push(differing_pairs(set, &decoding, &decoded[0], &outcomes));
            // The same key for all runs, whatever their seeds, so that their predictions of a pair are compared.
            let system = |(name, outcome): (&String, Reached)| System {
                name: name.clone(),
                by_seed: BTreeMap::from([(0, outcome)]),
                missing: Vec::new(),
                published: None,
            };
            sections.push(SectionData {
                set: set.clone(),
                decoding,
                pairs: Some(PairSet::of(&predictions[0])),
                systems: names.iter().zip(outcomes).map(system).collect(),
                published: Vec::new(),
            });
        }
    }
    let comparison = Comparison::new("Runs", sections, &Compared::WithFirst).of_single_runs();
    let text = match args.format.format {
        Format::Json => {
            let answer = Answer { comparison: &comparison, differing: &differing };
            schema::to_string_pretty(&answer).map_err(anyhow::Error::from)? + "\n"
        }
        format => shown(&comparison, format),
    };
    print(&text)?;
    if args.format.format == Format::Text {
        print(&listing(&names, &differing, if args.all { usize::MAX } else { LISTED }))?;
    }
    Ok(())
}

/// The decodings to show.
fn decodings(args: &Args) -> Vec<(Decode, StateDecode)> {
    let conflicts = args.decode.map_or(Decode::REPORTED.to_vec(), |decode| vec![decode]);
    let states = if args.states.is_empty() { &vec![StateDecode::Argmax] } else { &args.states };
    states.iter().flat_map(|&states| conflicts.iter().map(move |&conflicts| (conflicts, states))).collect()
}

fn require_probabilities(set: &str, runs: &[String], predictions: &[Vec<LabelledPair>]) -> Result<()> {
    let lacks = |of_run: &Vec<LabelledPair>| !of_run.iter().all(LabelledPair::has_state_probabilities);
    let Some(run) = predictions.iter().position(lacks) else { return Ok(()) };
    let remedy = "evaluate again with `tiered eval`, or leave out --states";
    Err(Error::data(format!(
        "{}: its evaluation {set} has no probabilities of states, which --states needs; {remedy}",
        runs[run]
    )))
}

/// Who predicted: a run, which has evaluations, or a file, which has one.
enum Predictor<'a> {
    Run(RunFolder),
    File(&'a Path, Vec<LabelledPair>),
}

impl<'a> Predictor<'a> {
    fn open(path: &'a Path) -> Result<Self> {
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
fn sets(args: &Args, systems: &[Predictor]) -> Result<Vec<String>> {
    let folders: Vec<&RunFolder> =
        systems.iter().filter_map(|system| if let Predictor::Run(run) = system { Some(run) } else { None }).collect();
    if folders.is_empty() {
        return match args.evaluations.first() {
            None => Ok(vec![OF_FILES.to_owned()]),
            Some(_) => Err(Error::new(
                ErrorKind::Usage,
                "--evaluation: files of predictions have no evaluations; leave it out",
            )),
        };
    }
    let sets = sets_of_runs(args, &folders)?;
    let files = systems.iter().filter_map(|system| match system {
        Predictor::File(path, pairs) => Some((path, pairs)),
        Predictor::Run(_) => None,
    });
    let files: Vec<_> = files.filter(|_| args.evaluations.is_empty()).collect();
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
fn sets_of_runs(args: &Args, folders: &[&RunFolder]) -> Result<Vec<String>> {
    let each = folders.iter().map(|folder| Ok(folder.evaluations()?.into_iter().collect()));
    let each: Vec<BTreeSet<String>> = each.collect::<Result<_>>()?;
    let lacks = |set: &String| each.iter().position(|of_run| !of_run.contains(set));
    if let Some((set, run)) = args.evaluations.iter().find_map(|set| Some((set, lacks(set)?))) {
        let run = folders[run].path().display();
        return Err(Error::new(
            ErrorKind::MissingInput,
            format!("{run}: has no evaluation {set}; evaluate it with: tiered eval {} --data FILE", quoted(&run)),
        ));
    }
    if !args.evaluations.is_empty() {
        return Ok(args.evaluations.clone());
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
fn predictions(systems: &[Predictor], set: &str) -> Result<Vec<Vec<LabelledPair>>> {
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
fn with_others(error: Error, systems: &[Predictor], sets: &[String], wrong: &str) -> Error {
    let others = sets.iter().filter(|set| *set != wrong && predictions(systems, set).is_ok());
    let others = others.map(|set| format!("--evaluation {set}")).collect::<Vec<_>>().join(" ");
    match others.is_empty() {
        true => error,
        false => Error { message: format!("{}, or compare without it: {others}", error.message), ..error },
    }
}

fn differing_pairs(set: &str, decoding: &str, pairs: &[LabelledPair], outcomes: &[Reached]) -> Differing {
    let differ = pairs.iter().enumerate().filter_map(|(i, pair)| {
        let tiers: Vec<&str> =
            outcomes.iter().map(|of_run| TIERS[of_run[i].iter().take_while(|&&reached| reached).count()]).collect();
        let differ = tiers.iter().any(|tier| *tier != tiers[0]);
        differ.then(|| DifferingPair { id: pair.id.clone(), kind: pair.kind.clone(), tiers })
    });
    Differing { set: set.to_owned(), decoding: decoding.to_owned(), pairs: pairs.len(), differ: differ.collect() }
}

fn listing(runs: &[String], differing: &[Differing], most: usize) -> String {
    let mut text = String::new();
    for Differing { set, decoding, pairs, differ } in differing {
        let _ = writeln!(text, "\n{set}, {decoding}: the runs differ on {} of {pairs} pairs", differ.len());
        for pair in differ.iter().take(most) {
            let tiers = runs.iter().zip(&pair.tiers).map(|(run, tier)| format!("{tier} ({run})"));
            let _ = writeln!(text, "  {}: {}", pair.id, tiers.collect::<Vec<_>>().join(", "));
        }
        if differ.len() > most {
            let _ = writeln!(text, "  and {} more (--all)", differ.len() - most);
        }
    }
    text
}
