//! `tiered model`: fetches models of the Hugging Face hub, and exports and calibrates models of runs.

use super::{calibrate, export, fetch};

#[derive(clap::Subcommand)]
pub(super) enum Command {
    Fetch(fetch::ModelArgs),
    Export(export::Args),
    Calibrate(calibrate::Args),
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Fetch(args) => Ok(fetch::model(args)?),
        Command::Export(args) => export::run(args),
        Command::Calibrate(args) => calibrate::run(args),
    }
}
