//! `tiered score`: predictions -> the tiered table.

use super::out_file::{OutFile, Replacing};
use super::output::{ReportArgs, print};
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, Result};
use crate::metrics::{Calibration, StateCounts};
use crate::prediction::{
    PairPrediction, PredictionFile, PredictionFormat, mean_predictions, read_predictions, without_states, write_lines,
};
use crate::report::{DataDescription, Report, TierRow};
use std::path::PathBuf;

/// Scores a file of predictions: JSON lines of ours, or the list published with GITA. Several files of the same pairs are
/// scored as one system, which says the mean of what they say (an ensemble).
#[derive(clap::Args)]
pub(super) struct Args {
    /// predictions.jsonl, or a published list
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the predictions that are scored to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    replacing: Replacing,
    /// Which states to assert: the most likely ones (argmax), those from a probability on (0.7), or these and the surest
    /// one that explains the conflict (0.7,surest); may be repeated [default: argmax]
    #[arg(long, value_name = "HOW")]
    states: Vec<StateDecode>,
    #[command(flatten)]
    show: ReportArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    args.show.check(false)?;
    let save = args.save.as_deref().map(|path| OutFile::new(path, args.replacing)).transpose()?;
    let predictions = read(&args.files)?;
    args.show.check_pairs(predictions.pairs.iter().map(|pair| pair.id.as_str()))?;
    let report = report(args, &predictions)?;
    if let Some(out) = &save {
        out.write(|file| write_lines(file, out.path(), &predictions.pairs))?;
    }
    if !save.is_some_and(|out| out.is_standard_output()) {
        print(&args.show.format(&report))?;
    }
    Ok(())
}

/// The predictions of a file, or the mean of several, its conflicts decoded by threshold.
fn read(files: &[PathBuf]) -> Result<PredictionFile> {
    if let [file] = files {
        return read_predictions(file);
    }
    let mut systems = Vec::with_capacity(files.len());
    for file in files {
        let read = read_predictions(file)?;
        if read.format != PredictionFormat::Lines {
            let problem = "a published list has no probabilities, and can't be averaged; score it alone";
            return Err(Error::data(format!("{}: {problem}", file.display())));
        }
        if let Some(same) = systems.iter().position(|system| *system == read.pairs) {
            let problem = format!("holds the same predictions as {}; name each system once", files[same].display());
            return Err(Error::data(format!("{}: {problem}", file.display())));
        }
        systems.push(read.pairs);
    }
    let mean = mean_predictions(&systems).map_err(|problem| Error::data(format!("{}: {problem}", names(files))))?;
    Ok(PredictionFile { format: PredictionFormat::Lines, pairs: Decode::Threshold.apply(&mean) })
}

fn names(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn report(args: &Args, predictions: &PredictionFile) -> Result<Report> {
    let pairs = &predictions.pairs;
    let is_complete = predictions.format == PredictionFormat::Lines;
    let shown = if args.states.is_empty() { &vec![StateDecode::Argmax] } else { &args.states };
    if shown.iter().any(|&states| states != StateDecode::Argmax) {
        require_probabilities(args, pairs)?;
    }
    // The conflicts as recorded and, where there are beliefs, by every decoding.
    let mut rows = vec![TierRow::new("as recorded", StateDecode::Argmax, pairs)];
    if is_complete {
        rows.extend(TierRow::by_decoding(pairs, &Decode::REPORTED, shown));
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

fn require_probabilities(args: &Args, pairs: &[PairPrediction]) -> Result<()> {
    match pairs.iter().find(|pair| !pair.has_state_probabilities()) {
        Some(pair) => Err(Error::data(format!(
            "{}: pair {}: its states have no probabilities by which they could be decoded; predict anew with `tiered \
             eval`, or leave out --states",
            names(&args.files),
            pair.id,
        ))),
        None => Ok(()),
    }
}

/// The kind that all pairs have, else "mixed".
fn kind(pairs: &[PairPrediction]) -> String {
    match pairs {
        [first, rest @ ..] if rest.iter().all(|pair| pair.kind == first.kind) => first.kind.clone(),
        _ => "mixed".to_owned(),
    }
}
