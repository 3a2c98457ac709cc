//! `tiered model average`: the mean of the weights of several runs, as a run of its own.

use super::calibrate;
use super::out_file::output_folder;
use super::output::{print, warn_unless_ended};
use crate::error::{Error, Result};
use crate::experiment::{CheckpointKind, RunFolder, TrainedRun, average};
use crate::machine::{ComputeChoice, DeviceChoice};
use crate::say::quoted;
use std::path::{Path, PathBuf};

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
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    output: PathBuf,
    /// Where to compute: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    device: Option<DeviceChoice>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    for run in &args.runs {
        warn_unless_ended(&RunFolder::open(run)?);
    }
    let choice = ComputeChoice::on(args.device.as_ref());
    let open = |run: &Path| TrainedRun::open(run, CheckpointKind::Best, &choice);
    // The average has the first run's dev sources. Says before anything is written if they or the device are missing.
    let first = open(&args.runs[0])?;
    let dev = first.config.data.dev.is_some().then(|| first.dev_pairs()).transpose()?;
    drop(first);
    let folder = average(&args.runs, &args.output)?;
    let is_to_calibrate = dev.is_some();
    let completed = open(folder.path()).and_then(|mut run| {
        if let Some(dev) = dev {
            calibrate::on_dev(&mut run, dev)?;
        }
        folder.write_card(&run.config)
    });
    completed.map_err(|error| if is_to_calibrate { not_complete(error, &args.output) } else { error })?;
    print(&format!("written: {}: the mean of {} runs\n", args.output.display(), args.runs.len()))
}

/// The same command would be refused, as the run is there now.
fn not_complete(error: Error, run: &Path) -> Error {
    let (path, named) = (run.display(), quoted(run.display()));
    let message =
        format!("{}; {path} was made, but is not complete: run `tiered model calibrate {named}`", error.message);
    Error { message, ..error }
}
