//! `tiered score`: predictions -> the tiered table.

use super::output::{ReportArgs, print};
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, Result};
use crate::metrics::{Calibration, StateCounts};
use crate::prediction::{PairPrediction, PredictionFile, PredictionFormat, read_predictions};
use crate::report::{DataDescription, Report, TierRow};
use std::path::PathBuf;

/// Scores a file of predictions: JSON lines of ours, or the list published with GITA.
#[derive(clap::Args)]
pub(super) struct Args {
    /// predictions.jsonl, or a published list
    file: PathBuf,
    /// Which states to assert: the most likely ones (argmax), those from a probability on (0.7), or these and the surest
    /// one that explains the conflict (0.7,surest); may be repeated [default: argmax]
    #[arg(long, value_name = "HOW")]
    states: Vec<StateDecode>,
    #[command(flatten)]
    show: ReportArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    args.show.check(false)?;
    let report = report(args, &read_predictions(&args.file)?)?;
    print(&args.show.format(&report))?;
    Ok(())
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
        system: args.file.display().to_string(),
        data: DataDescription { file: None, split: None, kind: kind(pairs), pairs: pairs.len() as u64 },
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
            args.file.display(),
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
