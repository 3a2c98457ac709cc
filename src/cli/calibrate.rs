//! `tiered model calibrate`: the temperature and the state threshold of a run, chosen on its dev pairs.

use super::output::{pair_bar, print};
use crate::experiment::{TrainedRun, Tuning, Which};
use crate::machine::DeviceChoice;
use crate::metrics::Share;
use crate::report::Table;
use crate::say::counted;
use crate::tune::{ChosenOn, Trial};
use std::path::PathBuf;

/// Choose on the dev pairs of a run from which probability on states are asserted, and the temperature of the story
/// choice
///
/// Training does this when it ends. What is chosen is kept as decode.json beside the weights; `eval` and `predict` use
/// it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    /// For which weights of the run
    #[arg(long, value_enum, default_value_t = Which::Best)]
    weights: Which,
    /// Where to compute: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    device: Option<DeviceChoice>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let mut run = TrainedRun::open(&args.run, args.weights, args.device.as_ref())?;
    let (dev, parts) = run.dev_pairs()?;
    let bar = pair_bar(dev.len() as u64);
    let tuning = run.tune(dev, |done| bar.inc(done as u64))?;
    bar.finish_and_clear();
    run.tuned = Some(tuning.tuned.clone());
    run.record_dev(&tuning.predictions, &parts)?;
    print(&described(&tuning))?;
    print(&format!("written: {}\n", run.folder.decode_file(args.weights).display()))?;
    Ok(())
}

fn described(Tuning { tuned, trials, .. }: &Tuning) -> String {
    let ChosenOn { file, split, pairs, conflicts } = &tuned.chosen_on;
    let pairs = counted(*pairs, "pair");
    let title = format!("{}, {split}: {pairs}, conflicts by `{}`", file.display(), conflicts.name());
    let chosen = format!("chosen: states {}, temperature {:.3}", tuned.states, tuned.temperature);
    format!("{title}\n\n{}\n{chosen}\n", table(trials).to_text())
}

fn table(trials: &[Trial]) -> Table {
    let mut table =
        Table::new(["states", "verifiable pairs", "explained pairs", "number", "precision (%)", "recall (%)"]);
    let percent = |share: Share| share.percent().map_or("undefined".to_owned(), |percent| format!("{percent:.1}"));
    for Trial { states, verifiable, explained, asserted } in trials {
        table.push([
            states.to_string(),
            verifiable.to_string(),
            explained.to_string(),
            asserted.predicted.to_string(),
            percent(asserted.precision()),
            percent(asserted.recall()),
        ]);
    }
    table
}
