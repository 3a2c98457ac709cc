//! `tiered model`: fetches models of the Hugging Face hub, and exports, calibrates and averages models of runs.

use super::{average, calibrate, export, fetch};
use crate::error::Result;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    Fetch(fetch::ModelArgs),
    Export(export::Args),
    Calibrate(calibrate::Args),
    Average(average::Args),
}

pub(super) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Fetch(args) => fetch::model(args),
        Command::Export(args) => export::run(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Average(args) => average::run(args),
    }
}
