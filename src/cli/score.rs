//! `tiered score`: computes the tiered table from saved predictions.

use super::out_file::{OutFile, Replacing};
use super::output::{ReportArgs, print};
use crate::analysis::{PairTiers, write_tiers};
use crate::decode::{AS_RECORDED, Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Calibration, StateCounts};
use crate::prediction::{
    LabelledPair, PredictionFile, PredictionFormat, mean_predictions, read_predictions, without_states, write_lines,
};
use crate::report::comparison::once_each;
use crate::report::{DataDescription, Report, TierRow};
use crate::say::{aside, counted};
use std::path::{Path, PathBuf};

/// Score saved predictions: accuracy, consistency, verifiability
///
/// A file is either predictions.jsonl of `tiered eval`, or a list of predictions as published with GITA. Several files
/// of predictions of the same pairs are scored as an ensemble: their probabilities are averaged.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Files of predictions (predictions.jsonl, or a published list)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the scored predictions to this file; "-" for standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write which tier each pair reaches to this file, without any text of the stories, for `tiered compare`; "-" for
    /// standard output
    #[arg(long, value_name = "FILE")]
    tiers: Option<PathBuf>,
    #[command(flatten)]
    replacing: Replacing,
    /// Which states to predict: argmax (the most likely class), 0.7 (nontrivial states of probability 0.7 or more),
    /// 0.7+top1 (the same, and where none at the conflict reaches it, the most probable one) or single (one attribute
    /// of one entity at the conflict); may be repeated [default: argmax]
    #[arg(long, value_name = "HOW")]
    states: Vec<StateDecode>,
    #[command(flatten)]
    show: ReportArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    args.show.check(false)?;
    let [save, tiers] = [&args.output, &args.tiers]
        .map(|path| path.as_deref().map(|path| OutFile::beside(&args.files, path, args.replacing)).transpose());
    let (save, tiers) = (save?, tiers?);
    if save.as_ref().zip(tiers.as_ref()).is_some_and(|(save, tiers)| save.is_same(tiers)) {
        return Err(Error::new(ErrorKind::Usage, "--output and --tiers are the same file; name two"));
    }
    let predictions = read(args)?;
    for (out, option) in [(&save, "--output"), (&tiers, "--tiers")] {
        if out.is_some() && predictions.format != PredictionFormat::Lines {
            let problem = format!("a published list has no probabilities; leave out {option}");
            return Err(Error::data(format!("{}: {problem}", names(&args.files))));
        }
    }
    args.show.check_pairs(predictions.pairs.iter().map(|pair| pair.id.as_str()))?;
    let report = report(args, &predictions)?;
    if let Some(out) = &save {
        out.write(|file| write_lines(file, out.path(), &predictions.pairs))?;
    }
    if let Some(out) = &tiers {
        let decodings = decodings(args);
        let pairs: Vec<_> = predictions.pairs.iter().map(|pair| PairTiers::of(pair, &decodings)).collect();
        out.write(|file| write_tiers(file, out.path(), &pairs))?;
    }
    if ![save, tiers].iter().flatten().any(OutFile::is_standard_output) {
        print(&args.show.format(&report))?;
    }
    Ok(())
}

/// The predictions of one file as they are, or the average of several, with conflicts decoded as their detector does.
fn read(args: &Args) -> Result<PredictionFile> {
    let files = &args.files;
    if let [file] = &files[..] {
        let read = read_predictions(file)?;
        require_probabilities(args, file, &read.pairs)?;
        warn_of_ties(&read.pairs, "so the story that the file names was taken");
        return Ok(read);
    }
    let mut systems = Vec::with_capacity(files.len());
    for file in files {
        let read = read_predictions(file)?;
        if read.format != PredictionFormat::Lines {
            let problem = "a published list has no probabilities to average; score it by itself";
            return Err(Error::data(format!("{}: {problem}", file.display())));
        }
        if let Some(same) = systems.iter().position(|system: &Vec<_>| sorted(system) == sorted(&read.pairs)) {
            let problem = format!("contains the same predictions as {}; name each file once", files[same].display());
            return Err(Error::data(format!("{}: {problem}", file.display())));
        }
        require_probabilities(args, file, &read.pairs)?;
        systems.push(read.pairs);
    }
    let mean = mean_predictions(&systems).map_err(|problem| Error::data(format!("{}: {problem}", names(files))))?;
    warn_of_ties(&mean, "which counts as wrong");
    let of_joint = |pair: &LabelledPair| pair.prediction.stories.iter().all(|story| !story.sentence_pairs.is_empty());
    let decode = if mean.iter().all(of_joint) { Decode::Pair } else { Decode::Threshold };
    Ok(PredictionFile { format: PredictionFormat::Lines, pairs: decode.apply(&mean) })
}

/// By id.
fn sorted(pairs: &[LabelledPair]) -> Vec<&LabelledPair> {
    let mut pairs: Vec<_> = pairs.iter().collect();
    pairs.sort_by(|a, b| a.id.cmp(&b.id));
    pairs
}

fn warn_of_ties(pairs: &[LabelledPair], consequence: &str) {
    let is_tie = |pair: &&LabelledPair| pair.prediction.story_probs[0] == pair.prediction.story_probs[1];
    let ties = pairs.iter().filter(is_tie).count();
    if ties > 0 {
        let (ties, of) = (counted(ties, "pair"), pairs.len());
        aside!("warning: {ties} of {of}: both stories are equally probable, {consequence}");
    }
}

fn names(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The states to read.
fn states(args: &Args) -> Vec<StateDecode> {
    if args.states.is_empty() { vec![StateDecode::Argmax] } else { once_each(args.states.iter().copied()) }
}

/// The decodings of files of tiers.
fn decodings(args: &Args) -> Vec<(Decode, StateDecode)> {
    Decode::REPORTED
        .iter()
        .flat_map(|&conflicts| states(args).into_iter().map(move |states| (conflicts, states)))
        .collect()
}

fn report(args: &Args, predictions: &PredictionFile) -> Result<Report> {
    let pairs = &predictions.pairs;
    let is_complete = predictions.format == PredictionFormat::Lines;
    // The recorded conflicts, if this is what a file has, and where there are conflict probabilities, those of every
    // decoding.
    let mut rows = Vec::new();
    if args.files.len() == 1 {
        rows.push(TierRow::new(AS_RECORDED, StateDecode::Argmax, pairs));
    }
    if is_complete {
        rows.extend(TierRow::by_decoding(pairs, &Decode::REPORTED, &states(args)));
    }
    let states = if is_complete { StateCounts::of(pairs) } else { StateCounts::of_nontrivial(pairs) };
    Ok(Report {
        system: match &args.files[..] {
            [file] => file.display().to_string(),
            files => format!("mean of {}: {}", files.len(), names(files)),
        },
        data: DataDescription {
            kind: kind(pairs),
            pairs: pairs.len() as u64,
            without_states: without_states(pairs),
            ..DataDescription::default()
        },
        rows,
        states: states.scores(),
        calibration: if is_complete { vec![Calibration::of(pairs, 1.)] } else { Vec::new() },
        published: args.show.published(),
    })
}

fn require_probabilities(args: &Args, file: &Path, pairs: &[LabelledPair]) -> Result<()> {
    let needed = args.states.iter().any(|&states| states != StateDecode::Argmax);
    match pairs.iter().find(|pair| needed && !pair.has_state_probabilities()) {
        Some(pair) => Err(Error::data(format!(
            "{}: pair {}: its states have no probabilities, which --states needs; predict again with `tiered eval`, or \
             leave out --states",
            file.display(),
            pair.id,
        ))),
        None => Ok(()),
    }
}

/// The kind of all pairs if they have the same one, else "mixed".
fn kind(pairs: &[LabelledPair]) -> String {
    match pairs {
        [first, rest @ ..] if rest.iter().all(|pair| pair.kind == first.kind) => first.kind.clone(),
        _ => "mixed".to_owned(),
    }
}
