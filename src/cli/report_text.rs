//! `tiered report text`: predictions -> what was right for which reasons.

use super::eval::evaluated;
use super::output::print;
use super::pairs::{PairArgs, PairSet};
use crate::analysis::{Analysis, Source, facts};
use crate::config::Config;
use crate::data::Pair;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, Result};
use crate::experiment::{RunFolder, TrainedRun, Which, own_decode};
use crate::machine::DeviceChoice;
use crate::prediction::{PairPrediction, PredictionFile, PredictionFormat, read_predictions};
use crate::report::DataDescription;
use crate::say::aside;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Show what a system got right and whether for the right reasons: tiers by kind, distance, entities and room, every
/// attribute, what is taken for what, calibration
///
/// Predictions that `tiered eval` saved in the run folder are used if they are of these stories and of the best weights;
/// otherwise the run is evaluated, and nothing is kept. A file of predictions can be analysed without a run.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, or a file of predictions (predictions.jsonl, or a published list)
    run: PathBuf,
    #[command(flatten)]
    pairs: PairArgs,
    /// How to decide which sentences conflict [default: as the run's detector is made for; of a file: as recorded]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to assert: argmax, 0.7, or 0.7,surest [default: as chosen on dev, else argmax]
    #[arg(long, value_name = "HOW")]
    states: Option<StateDecode>,
    /// Where to compute, if the run has to be evaluated: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    device: Option<DeviceChoice>,
    /// Print everything as JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let set = args.pairs.read()?;
    let analysis = if args.run.is_file() { of_file(args, &set)? } else { of_run(args, &set)? };
    let shown = match (args.json, args.markdown) {
        (true, _) => analysis.to_json(),
        (_, true) => analysis.to_markdown(),
        _ => analysis.to_text(),
    };
    print(&shown)?;
    Ok(())
}

fn of_run(args: &Args, set: &PairSet) -> Result<Analysis> {
    let folder = RunFolder::open(&args.run)?;
    let config = Config::open(&folder.config_file(), &[])?;
    let pairs = set.pairs(config.seed)?;
    let saved = folder.predictions(&set.evaluation_name(Which::Best)?, Which::Best)?;
    let predictions = match saved.filter(|saved| are_of(saved, &pairs)) {
        Some(saved) => saved,
        None => {
            let run = TrainedRun::open(&args.run, Which::Best, args.device.as_ref())?;
            evaluated(&run, set, own_decode(&config))?
        }
    };
    let tuned = folder.tuned(Which::Best)?;
    let conflicts = args.decode.unwrap_or(own_decode(&config));
    let states = args.states.or(tuned.as_ref().map(|tuned| tuned.states)).unwrap_or_default();
    let source = Source {
        system: args.run.display().to_string(),
        data: set.description(pairs.len()),
        format: PredictionFormat::Lines,
        decoding: conflicts.name().to_owned(),
        states,
        temperature: tuned.map(|tuned| tuned.temperature),
    };
    require_states(args, &predictions)?;
    Ok(Analysis::of(source, &states.apply(&conflicts.apply(&predictions)), &facts(&pairs)))
}

/// Whether these are predictions of these pairs: the same ids, sentences and labels, in any order.
fn are_of(predictions: &[PairPrediction], pairs: &[Pair]) -> bool {
    let of_pairs: BTreeMap<_, _> = pairs.iter().map(|pair| (pair.id.as_str(), pair)).collect();
    let is_of = |prediction: &PairPrediction, pair: &Pair| {
        let stories = [prediction.implausible_story(), &prediction.stories[prediction.gold_plausible]];
        let same = stories.iter().zip([pair.implausible_story(), pair.plausible_story()]);
        let conflict = [pair.conflict.evidence, pair.conflict.breakpoint];
        prediction.gold_conflict == conflict && same.into_iter().all(|(said, story)| said.sentences == story.sentences)
    };
    let all = predictions.iter().all(|p| of_pairs.get(p.id.as_str()).is_some_and(|pair| is_of(p, pair)));
    all && predictions.len() == pairs.len()
}

fn of_file(args: &Args, set: &PairSet) -> Result<Analysis> {
    let PredictionFile { format, pairs: predictions } = read_predictions(&args.run)?;
    let states = args.states.unwrap_or_default();
    require_what_is_decoded(args, format, &predictions)?;
    require_states(args, &predictions)?;
    let known = facts(&set.pairs(0)?);
    let unknown = predictions.iter().filter(|prediction| !known.contains_key(&prediction.id)).count();
    if unknown > 0 {
        let (of, path) = (predictions.len(), set.path().display());
        aside!("warning: {unknown} of {of} predicted pairs are not in {path}; of these no room is known");
    }
    let decoded = args.decode.map_or(predictions.clone(), |decode| decode.apply(&predictions));
    let source = Source {
        system: args.run.display().to_string(),
        data: DataDescription { pairs: predictions.len() as u64, ..set.description(0) },
        format,
        decoding: args.decode.map_or("as recorded", Decode::name).to_owned(),
        states,
        temperature: None,
    };
    Ok(Analysis::of(source, &states.apply(&decoded), &known))
}

/// The analysis is of states, beside whatever else.
fn require_states(args: &Args, predictions: &[PairPrediction]) -> Result<()> {
    match predictions.iter().find(|pair| !pair.has_gold_states()) {
        Some(pair) => Err(Error::data(format!(
            "{}: pair {} has no state labels, without which there is nothing to analyse of states; `tiered eval` or \
             `tiered score` tells accuracy and consistency",
            args.run.display(),
            pair.id
        ))),
        None => Ok(()),
    }
}

/// A published list tells no beliefs and no probabilities.
fn require_what_is_decoded(args: &Args, format: PredictionFormat, predictions: &[PairPrediction]) -> Result<()> {
    let path = args.run.display();
    if args.decode.is_some() && format == PredictionFormat::Published {
        return Err(Error::data(format!("{path}: has no beliefs that could be decoded; leave out --decode")));
    }
    let is_decoded = args.states.is_some_and(|states| states != StateDecode::Argmax);
    match predictions.iter().find(|pair| is_decoded && !pair.has_state_probabilities()) {
        Some(pair) => Err(Error::data(format!(
            "{path}: pair {}: its states have no probabilities by which they could be decoded; leave out --states",
            pair.id
        ))),
        None => Ok(()),
    }
}
