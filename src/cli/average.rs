//! `tiered model average`: the mean of the weights of several runs, as a run of its own.

use super::calibrate;
use super::output::{print, warn_unless_ended};
use crate::error::Result;
use crate::experiment::{CheckpointKind, RunFolder, TrainedRun, average};
use crate::machine::DeviceChoice;
use std::path::PathBuf;

/// Average the weights of several runs into one model, a run folder of its own
///
/// The runs must have the same model and data, and should have started from the same weights (init_from). Temperature and
/// state threshold are chosen on the dev pairs anew.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Run folders, made by `tiered train`; their best weights are averaged
    #[arg(required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// The run folder to create
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Where to compute: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    device: Option<DeviceChoice>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    for run in &args.runs {
        warn_unless_ended(&RunFolder::open(run)?);
    }
    let folder = average(&args.runs, &args.output)?;
    let mut run = TrainedRun::open(folder.path(), CheckpointKind::Best, args.device.as_ref())?;
    if run.config.data.dev.is_some() {
        calibrate::on_dev(&mut run)?;
    }
    folder.write_card(&run.config)?;
    print(&format!("written: {}: the mean of {} runs\n", args.output.display(), args.runs.len()))
}
