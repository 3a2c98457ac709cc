//! `tiered model calibrate`: chooses the temperature and the state threshold of a run on its dev pairs.

use super::output::{pair_bar, print, warn_unless_ended};
use crate::calibrate::{ChosenOn, StateTrial};
use crate::error::Result;
use crate::experiment::{CalibrationPairs, CheckpointKind, DevCalibration, TrainedRun};
use crate::machine::{ComputeChoice, DeviceChoice};
use crate::metrics::Share;
use crate::report::Table;
use crate::say::counted;
use std::path::PathBuf;

/// Choose the state threshold and the temperature of a run on its dev pairs
///
/// States of at least the threshold's probability are predicted. The temperature scales the probabilities of the story
/// choice. Training makes this choice when it ends. The command writes decode.json beside the weights; `eval` and
/// `predict` read it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    /// Which weights of the run to use
    #[arg(long, value_enum, default_value_t = CheckpointKind::Best)]
    weights: CheckpointKind,
    /// Where to compute: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    device: Option<DeviceChoice>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let choice = ComputeChoice::on(args.device.as_ref());
    let mut run = TrainedRun::open_uncalibrated(&args.run, args.weights, &choice)?;
    warn_unless_ended(&run.folder);
    let dev = run.dev_pairs()?;
    let calibration = on_dev(&mut run, dev)?;
    print(&described(&calibration))?;
    print(&format!("written: {}\n", run.folder.decode_file(args.weights).display()))
}

/// Calibrates a run on its dev pairs, and records its predictions of them.
pub(super) fn on_dev(run: &mut TrainedRun, dev: CalibrationPairs) -> Result<DevCalibration> {
    run.note_choice(&dev.digests)?;
    let bar = pair_bar(dev.pairs.len() as u64);
    let calibration = run.calibrate(dev.pairs, |done| bar.inc(done as u64))?;
    bar.finish_and_clear();
    run.calibrated = Some(calibration.calibrated.clone());
    run.record_dev(&calibration.predictions, &dev.parts, &dev.digests)?;
    Ok(calibration)
}

fn described(DevCalibration { calibrated, trials, .. }: &DevCalibration) -> String {
    let ChosenOn { file, split, pairs, conflicts } = &calibrated.chosen_on;
    let pairs = counted(*pairs, "pair");
    let title = format!("{}, {split}: {pairs}, conflicts by `{}`", file.display(), conflicts.name());
    let chosen = format!("chosen: states {}, temperature {:.3}", calibrated.states, calibrated.temperature);
    format!("{title}\n\n{}\n{chosen}\n", table(trials).to_text())
}

fn table(trials: &[StateTrial]) -> Table {
    let mut table = Table::new([
        "states",
        "verifiable pairs",
        "pairs with verifiable states",
        "predicted states",
        "precision (%)",
        "recall (%)",
    ]);
    let percent = |share: Share| share.percent().map_or("undefined".to_owned(), |percent| format!("{percent:.1}"));
    for StateTrial { states, verifiable, verifiable_states, predicted_states } in trials {
        table.push([
            states.to_string(),
            verifiable.to_string(),
            verifiable_states.to_string(),
            predicted_states.predicted.to_string(),
            percent(predicted_states.precision()),
            percent(predicted_states.recall()),
        ]);
    }
    table
}
