//! `tiered score`: predictions -> the tiered table.

use super::output::{ReportArgs, print};
use crate::decode::Decode;
use crate::metrics::{StateCounts, TierCounts};
use crate::prediction::{PairPrediction, PredictionFile, PredictionFormat, read_predictions};
use crate::report::{DataDescription, Report, TierRow};
use std::path::PathBuf;

/// Scores a file of predictions: JSON lines of ours, or the list published with GITA.
#[derive(clap::Args)]
pub(super) struct Args {
    /// predictions.jsonl, or a published list
    file: PathBuf,
    #[command(flatten)]
    show: ReportArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let report = report(args, &read_predictions(&args.file)?);
    print(&args.show.format(&report))?;
    Ok(())
}

fn report(args: &Args, predictions: &PredictionFile) -> Report {
    let pairs = &predictions.pairs;
    let states = match predictions.format {
        PredictionFormat::Lines => StateCounts::of(pairs),
        PredictionFormat::Published => StateCounts::of_nontrivial(pairs),
    };
    Report {
        system: args.file.display().to_string(),
        data: DataDescription { file: None, split: None, kind: kind(pairs), pairs: pairs.len() as u64 },
        rows: rows(predictions),
        states: states.scores(),
        published: args.show.published(),
    }
}

/// The conflicts as recorded and, where there are beliefs, by every decoding.
fn rows(predictions: &PredictionFile) -> Vec<TierRow> {
    let mut rows = vec![TierRow::new("as recorded", &TierCounts::of(&predictions.pairs))];
    if predictions.format == PredictionFormat::Lines {
        rows.extend(Decode::ALL.map(|d| TierRow::new(d.name(), &TierCounts::of(&d.apply(&predictions.pairs)))));
    }
    rows
}

/// The kind that all pairs have, else "mixed".
fn kind(pairs: &[PairPrediction]) -> String {
    match pairs {
        [first, rest @ ..] if rest.iter().all(|pair| pair.kind == first.kind) => first.kind.clone(),
        _ => "mixed".to_owned(),
    }
}
