//! One file a subcommand: arguments, call, print.

mod data;
mod doctor;
mod eval;
mod make_stories;
mod output;
mod predict;
mod progress;
mod score;
mod train;

use crate::error::{Error, ErrorKind};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "tiered", version, about, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check story files and count what is in them
    #[command(subcommand)]
    Data(data::Command),
    /// Train a model: one config, one run folder
    Train(train::Args),
    /// Evaluate a run on a story file: the tiered table
    Eval(eval::Args),
    Predict(predict::Args),
    /// Score predictions: accuracy, consistency, verifiability
    Score(score::Args),
    /// Make labelled stories to train on, as many as wanted
    MakeStories(make_stories::Args),
    /// Describe this machine: libtorch, devices, speed, memory, disk
    Doctor(doctor::Args),
}

/// Runs the command line and turns its outcome into an exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            let kind = error.chain().find_map(|cause| cause.downcast_ref::<Error>()).map(|error| error.kind);
            ExitCode::from(kind.unwrap_or(ErrorKind::Internal) as u8)
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Data(command) => data::run(&command),
        Command::Train(args) => train::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Score(args) => score::run(&args),
        Command::MakeStories(args) => make_stories::run(&args),
        Command::Doctor(args) => doctor::run(&args),
    }
}
