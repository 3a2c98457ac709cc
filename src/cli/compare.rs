//! `tiered compare`: finished runs side by side, on what all of them were evaluated on.

use super::output::print;
use super::study::Format;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{RunFolder, Which};
use crate::metrics::{PairSet, Reached, reached};
use crate::prediction::PairPrediction;
use crate::report::comparison::{Compared, Comparison, SectionData, System};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

/// Pairs that are listed, in text, where runs differ.
const LISTED: usize = 20;
/// What is said of a pair by the highest of its tiers that is reached.
const TIERS: [&str; 4] = ["wrong", "accurate", "consistent", "verifiable"];

/// Compare finished runs: scores, paired tests, and the pairs where they differ
///
/// Of every set that all of them were evaluated on (`tiered eval`). Each run is compared with the first.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Run folders, made by `tiered train`
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    runs: Vec<PathBuf>,
    /// Only this evaluation, by its name in the run folders; may be repeated [default: all that the runs share]
    #[arg(long = "evaluation", value_name = "NAME")]
    evaluations: Vec<String>,
    /// Show only this way of deciding which sentences conflict [default: threshold and pair]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to assert: the most likely ones (argmax), those from a probability on (0.7), or these and the surest
    /// one that explains the conflict (0.7,surest); may be repeated [default: argmax]
    #[arg(long, value_name = "HOW")]
    states: Vec<StateDecode>,
    /// List all pairs where the runs differ, not only the first
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    format: Format,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    comparison: &'a Comparison,
    differing: &'a [Differing],
}

/// The pairs of a set, decoded in one way, of which not all runs reach the same tier.
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
    /// By run: the highest tier that is reached.
    tiers: Vec<&'static str>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let folders = args.runs.iter().map(|run| RunFolder::open(run)).collect::<Result<Vec<_>>>()?;
    let names = args.runs.iter().map(|run| run.display().to_string()).collect::<Vec<_>>();
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        return Err(Error::new(ErrorKind::Usage, format!("{}: named twice", twice.1)).into());
    }
    let (mut sections, mut differing) = (Vec::new(), Vec::new());
    for set in sets(args, &folders)? {
        let said = said(&folders, &set)?;
        for (conflicts, states) in decodings(args) {
            if states != StateDecode::Argmax {
                require_probabilities(&set, &names, &said)?;
            }
            let decoding = format!("{}, states {states}", conflicts.name());
            let decoded: Vec<Vec<PairPrediction>> =
                said.iter().map(|said| states.apply(&conflicts.apply(said))).collect();
            let outcomes: Vec<Reached> = decoded.iter().map(reached).collect();
            differing.push(differing_pairs(&set, &decoding, &decoded[0], &outcomes));
            // One key for all, whatever their seeds: what was said of a pair is compared with what was said of it.
            let system = |(name, outcome): (&String, Reached)| System {
                name: name.clone(),
                by_seed: BTreeMap::from([(0, outcome)]),
                missing: Vec::new(),
                published: None,
            };
            sections.push(SectionData {
                set: set.clone(),
                decoding,
                pairs: Some(PairSet::of(&said[0])),
                systems: names.iter().zip(outcomes).map(system).collect(),
                published: Vec::new(),
            });
        }
    }
    let comparison = Comparison::new("Runs", sections, &Compared::WithFirst).of_single_runs();
    let shown = match args.format.is_json() {
        true => {
            let answer = Answer { comparison: &comparison, differing: &differing };
            serde_json::to_string_pretty(&answer).map_err(anyhow::Error::from)? + "\n"
        }
        false => args.format.show(&comparison),
    };
    print(&shown)?;
    if args.format.is_text() {
        print(&listing(&names, &differing, if args.all { usize::MAX } else { LISTED }))?;
    }
    Ok(())
}

/// The ways to decode that were asked for.
fn decodings(args: &Args) -> Vec<(Decode, StateDecode)> {
    let conflicts = args.decode.map_or(Decode::REPORTED.to_vec(), |decode| vec![decode]);
    let states = if args.states.is_empty() { &vec![StateDecode::Argmax] } else { &args.states };
    states.iter().flat_map(|&states| conflicts.iter().map(move |&conflicts| (conflicts, states))).collect()
}

fn require_probabilities(set: &str, runs: &[String], said: &[Vec<PairPrediction>]) -> Result<()> {
    let lacks = |of_run: &Vec<PairPrediction>| !of_run.iter().all(PairPrediction::has_state_probabilities);
    let Some(run) = said.iter().position(lacks) else { return Ok(()) };
    let remedy = "evaluate anew with `tiered eval`, or leave out --states";
    Err(Error::data(format!("{}: its evaluation {set} has states without probabilities; {remedy}", runs[run])))
}

/// The evaluations that were asked for, or that all runs have.
fn sets(args: &Args, folders: &[RunFolder]) -> Result<Vec<String>> {
    let each = folders.iter().map(|folder| Ok(folder.evaluations()?.into_iter().collect()));
    let each: Vec<BTreeSet<String>> = each.collect::<Result<_>>()?;
    let lacks = |set: &String| each.iter().position(|of_run| !of_run.contains(set));
    if let Some((set, run)) = args.evaluations.iter().find_map(|set| Some((set, lacks(set)?))) {
        let run = args.runs[run].display();
        return Err(Error::new(
            ErrorKind::MissingInput,
            format!("{run}: has no evaluation {set}; evaluate it with: tiered eval {run} --data FILE"),
        ));
    }
    if !args.evaluations.is_empty() {
        return Ok(args.evaluations.clone());
    }
    let shared: Vec<String> = each[0].iter().filter(|set| lacks(set).is_none()).cloned().collect();
    if shared.is_empty() {
        let said = args.runs.iter().zip(&each).map(|(run, sets)| {
            let sets = sets.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("{}: {}", run.display(), if sets.is_empty() { "none" } else { &sets })
        });
        let said = said.collect::<Vec<_>>().join("; ");
        let message = format!("the runs share no evaluation ({said}); evaluate each with: tiered eval RUN --data FILE");
        return Err(Error::new(ErrorKind::MissingInput, message));
    }
    Ok(shared)
}

/// What each run predicted of a set.
///
/// # Errors
/// `Data` if that is of other weights than the run has, or of other pairs than the first run's, or of pairs that were labelled or
/// told otherwise.
fn said(folders: &[RunFolder], set: &str) -> Result<Vec<Vec<PairPrediction>>> {
    let which = if set.ends_with(Which::Last.suffix()) { Which::Last } else { Which::Best };
    let mut said: Vec<Vec<PairPrediction>> = Vec::new();
    for folder in folders {
        let wrong = |problem: &str| {
            let run = folder.path().display();
            Error::data(format!("{run}: its evaluation {set} is of {problem}; evaluate anew with `tiered eval`"))
        };
        let predictions =
            folder.predictions(set, which)?.ok_or_else(|| wrong("weights that it doesn't have any more"))?;
        if said.first().is_some_and(|first| PairSet::of(first) != PairSet::of(&predictions)) {
            return Err(wrong(&format!("other pairs than that of {}", folders[0].path().display())));
        }
        let first = said.first().map(Vec::as_slice).unwrap_or_default();
        if let Some((pair, _)) = first.iter().zip(&predictions).find(|(one, other)| asked(one) != asked(other)) {
            return Err(wrong(&format!(
                "a pair {} with another conflict or other sentences than that of {}",
                pair.id,
                folders[0].path().display()
            )));
        }
        said.push(predictions);
    }
    Ok(said)
}

/// What of a pair has to be alike for answers to be compared: the gold conflict, and the sentences of the implausible story.
fn asked(pair: &PairPrediction) -> ([usize; 2], &[String]) {
    (pair.gold_conflict, &pair.stories[1 - pair.gold_plausible].sentences)
}

fn differing_pairs(set: &str, decoding: &str, pairs: &[PairPrediction], outcomes: &[Reached]) -> Differing {
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
