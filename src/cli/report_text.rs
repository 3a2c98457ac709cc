//! `tiered report text`: analyses predictions.

use super::compare::run_folder;
use super::eval::evaluated;
use super::format::{Format, FormatArgs};
use super::output::print;
use super::pairs::{LoadedPairs, PairArgs};
use crate::analysis::{Analysis, PredictionSource, facts};
use crate::config::Config;
use crate::data::Pair;
use crate::decode::{AS_RECORDED, Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, TrainedRun, check_ledger, own_decode, seen_by};
use crate::machine::{ComputeChoice, DeviceChoice};
use crate::prediction::{LabelledPair, PairGold, PredictionFile, PredictionFormat, read_predictions};
use crate::report::DataDescription;
use crate::say::aside;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Report what a system got right and why: the tiers by kind, distance, number of entities and location of the story,
/// the scores of every attribute, the most frequent confusions, the calibration
///
/// Uses the predictions that `tiered eval` saved in the run folder, if they are of these stories and of the best
/// weights. Otherwise it evaluates the run and saves only a note of the scoring. It can also analyse a file of predictions without a run.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, or a file of predictions (predictions.jsonl, or a published list)
    run: PathBuf,
    #[command(flatten)]
    pairs: PairArgs,
    /// How to choose the sentences in conflict: threshold (the papers'), pair (the most likely sentence pair) or
    /// contrast [default: threshold for the paper's detector, pair for the joint one; of a file, as recorded]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to predict: argmax (the most likely class), 0.7 (nontrivial states of probability 0.7 or more),
    /// 0.7+top1 (the same, and where none at the conflict reaches it, the most probable one) or single (one attribute
    /// of one entity at the conflict) [default: argmax]
    #[arg(long, value_name = "HOW")]
    states: Option<StateDecode>,
    /// Where to compute: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    device: Option<DeviceChoice>,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let set = args.pairs.read()?;
    let analysis = if args.run.is_dir() { of_run(args, &set)? } else { of_file(args, &set)? };
    print(&match (args.format.format, args.format.format.of_tables()) {
        (Format::Text, _) => analysis.to_text(),
        (Format::Markdown, _) => analysis.to_markdown(),
        (_, Some(format)) => analysis.in_tables(format),
        (_, None) => analysis.to_json(),
    })
}

fn of_run(args: &Args, set: &LoadedPairs) -> Result<Analysis> {
    let folder = run_folder(&args.run)?;
    let config = Config::open(&folder.config_file(), &[])?;
    let pairs = set.pairs(config.seed)?;
    let data = set.description(pairs.len()).with_seen(&set.scored()?.seen(&seen_by(&folder, &config)?));
    let name = set.evaluation_name(CheckpointKind::Best)?;
    let saved = folder.predictions(&name, CheckpointKind::Best)?;
    let is_usual = || folder.report(&name).is_ok_and(|report| report.data.is_read_as_in_training());
    let predictions = match saved.filter(|saved| are_of(saved, &pairs) && is_usual()) {
        Some(saved) => saved,
        None => scored_anew(args, set, &data)?,
    };
    let calibrated = folder.calibrated(CheckpointKind::Best)?;
    let conflicts = args.decode.unwrap_or(own_decode(&config));
    let states = args.states.unwrap_or_default();
    let source = PredictionSource {
        system: args.run.display().to_string(),
        data,
        format: PredictionFormat::Lines,
        decoding: conflicts.name().to_owned(),
        states,
        temperature: calibrated.map(|calibrated| calibrated.temperature),
    };
    require_states(args, &predictions)?;
    Ok(Analysis::of(source, &states.apply(&conflicts.apply(&predictions)), &facts(&pairs)))
}

/// Evaluates the run, and notes that it was scored.
fn scored_anew(args: &Args, set: &LoadedPairs, data: &DataDescription) -> Result<Vec<LabelledPair>> {
    check_ledger()?;
    let choice = ComputeChoice::on(args.device.as_ref());
    let run = TrainedRun::open(&args.run, CheckpointKind::Best, &choice)?;
    let predictions = run.own_decode().apply(&evaluated(&run, set, set.pairs(run.config.seed)?)?);
    require_states(args, &predictions)?;
    run.note_scoring(&run.report(data.clone(), &predictions, &Decode::REPORTED, &run.states(), Vec::new()))?;
    Ok(predictions)
}

/// Whether these predictions are of these pairs: the same ids, sentences and labels, in any order.
fn are_of(predictions: &[LabelledPair], pairs: &[Pair]) -> bool {
    let of_pairs: BTreeMap<_, _> = pairs.iter().map(|pair| (pair.id.as_str(), pair)).collect();
    let is_of = |prediction: &LabelledPair, pair: &Pair| {
        let gold = PairGold::of(pair);
        let stories = [prediction.implausible_story(), prediction.plausible_story()];
        let mut golds = stories.iter().zip([1 - pair.plausible, pair.plausible].map(|story| &gold.stories[story]));
        prediction.gold.conflict == gold.conflict
            && has_sentences(prediction, pair)
            && golds.all(|(one, gold)| one.gold == gold)
    };
    let all = predictions.iter().all(|p| of_pairs.get(p.id.as_str()).is_some_and(|pair| is_of(p, pair)));
    all && predictions.len() == pairs.len()
}

fn has_sentences(prediction: &LabelledPair, pair: &Pair) -> bool {
    let stories = [prediction.implausible_story(), prediction.plausible_story()];
    let of_pair = [1 - pair.plausible, pair.plausible].map(|story| &pair.stories[story].sentences);
    stories.iter().map(|story| &story.prediction.sentences).eq(of_pair)
}

fn of_file(args: &Args, set: &LoadedPairs) -> Result<Analysis> {
    if args.device.is_some() {
        let message = "--device: nothing is computed for a file of predictions; leave it out, or name a run folder";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let PredictionFile { format, pairs: mut predictions } = read_predictions(&args.run)?;
    let states = args.states.unwrap_or_default();
    let pairs = set.pairs(0)?;
    if let Some(kind) = set.kind() {
        predictions.retain(|prediction| prediction.kind == kind.name());
    }
    require_same_stories(args, set, format, &predictions, &pairs)?;
    require_probabilities(args, format, &predictions)?;
    require_states(args, &predictions)?;
    for other in predictions.iter_mut().filter(|prediction| pairs.iter().any(|pair| is_other_story(prediction, pair))) {
        other.id.push_str(" (another story)"); // of a published list, where an id may stand for two
    }
    let known = facts(&pairs);
    let unknown = predictions.iter().filter(|prediction| !known.contains_key(&prediction.id)).count();
    let (of, path) = (predictions.len(), set.path().display());
    if unknown == of {
        let remedy = "name the story file, --split and --kind that were predicted";
        return Err(Error::data(format!("{}: none of its pairs is in {path}; {remedy}", args.run.display())));
    }
    if unknown > 0 {
        aside!("warning: {unknown} of {of} predicted pairs are not in {path}; their location is unknown");
    }
    let predicted: BTreeSet<_> = predictions.iter().map(|prediction| prediction.id.as_str()).collect();
    let missing = pairs.iter().filter(|pair| !predicted.contains(pair.id.as_str())).count();
    if missing > 0 {
        aside!("warning: {missing} of {} pairs of {path} are not predicted; they do not count", pairs.len());
    }
    let decoded = args.decode.map_or(predictions.clone(), |decode| decode.apply(&predictions));
    let source = PredictionSource {
        system: args.run.display().to_string(),
        data: DataDescription { pairs: predictions.len() as u64, ..set.description(0) },
        format,
        decoding: args.decode.map_or(AS_RECORDED, Decode::name).to_owned(),
        states,
        temperature: None,
    };
    Ok(Analysis::of(source, &states.apply(&decoded), &known))
}

/// Whether a prediction has the id of a pair, but not its implausible story.
fn is_other_story(prediction: &LabelledPair, pair: &Pair) -> bool {
    let sentences = &prediction.implausible_story().prediction.sentences;
    prediction.id == pair.id && *sentences != pair.stories[1 - pair.plausible].sentences
}

/// # Errors
/// `Data` if there are no predictions, or one has the id of a pair and other sentences or another gold conflict. Of a
/// published list, such a pair is unknown instead.
fn require_same_stories(
    args: &Args,
    set: &LoadedPairs,
    format: PredictionFormat,
    predictions: &[LabelledPair],
    pairs: &[Pair],
) -> Result<()> {
    let (file, stories) = (args.run.display(), set.path().display());
    let of_pairs: BTreeMap<_, _> = pairs.iter().map(|pair| (pair.id.as_str(), pair)).collect();
    let is_same = |prediction: &LabelledPair, pair: &Pair| {
        has_sentences(prediction, pair) && prediction.gold.conflict == PairGold::of(pair).conflict
    };
    let is_other = |prediction: &&LabelledPair| {
        of_pairs.get(prediction.id.as_str()).is_some_and(|pair| !is_same(prediction, pair))
    };
    let other = predictions.iter().filter(|_| format == PredictionFormat::Lines).find(is_other);
    match (other, set.kind()) {
        (Some(other), _) => Err(Error::data(format!(
            "{file}: pair {} has other sentences or another gold conflict than in {stories}; name the story file that was predicted",
            other.id
        ))),
        (None, Some(kind)) if predictions.is_empty() => {
            Err(Error::data(format!("{file}: has no pairs of kind {kind}; leave out --kind, or name another file")))
        }
        _ => Ok(()),
    }
}

/// The analysis needs state labels.
fn require_states(args: &Args, predictions: &[LabelledPair]) -> Result<()> {
    match predictions.iter().find(|pair| !pair.has_gold_states()) {
        Some(pair) => Err(Error::data(format!(
            "{}: pair {} has no state labels, which the report needs; `tiered eval` or `tiered score` shows accuracy \
             and consistency without them",
            args.run.display(),
            pair.id
        ))),
        None => Ok(()),
    }
}

/// A published list has no conflict probabilities and no probabilities of states, which decoding needs.
fn require_probabilities(args: &Args, format: PredictionFormat, predictions: &[LabelledPair]) -> Result<()> {
    let path = args.run.display();
    if args.decode.is_some() && format == PredictionFormat::Published {
        return Err(Error::data(format!(
            "{path}: has no conflict probabilities, which --decode needs; leave out --decode"
        )));
    }
    let is_decoded = args.states.is_some_and(|states| states != StateDecode::Argmax);
    match predictions.iter().find(|pair| is_decoded && !pair.has_state_probabilities()) {
        Some(pair) => Err(Error::data(format!(
            "{path}: pair {}: its states have no probabilities, which --states needs; leave out --states",
            pair.id
        ))),
        None => Ok(()),
    }
}
