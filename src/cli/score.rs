//! `tiered score`: predictions -> the tiered table.

use super::output::print;
use crate::decode::Decode;
use crate::metrics::{StateCounts, TierCounts};
use crate::prediction::{PairPrediction, PredictionFile, PredictionFormat, read_predictions};
use crate::report::{DataDescription, Detail, PublishedSet, Report, TierRow, published};
use std::path::PathBuf;

/// Scores a file of predictions: JSON lines of ours, or the list published with GITA.
#[derive(clap::Args)]
pub(super) struct Args {
    /// predictions.jsonl, or a published list
    file: PathBuf,
    /// Print everything as JSON
    #[arg(long, conflicts_with_all = ["markdown", "per_attribute"])]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
    /// Show macro-F1 of every attribute too
    #[arg(long)]
    per_attribute: bool,
    /// Show the scores published for this set beneath
    #[arg(long, value_name = "SET")]
    beside: Option<PublishedSet>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let report = report(args, &read_predictions(&args.file)?);
    let detail = if args.per_attribute { Detail::PerAttribute } else { Detail::Summary };
    print(&match (args.json, args.markdown) {
        (true, _) => report.to_json(),
        (_, true) => report.to_markdown(detail),
        _ => report.to_text(detail),
    })?;
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
        published: args.beside.map(published).unwrap_or_default(),
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
