//! One file a subcommand: arguments, call, print.

mod analyse;
mod bench;
mod compare;
mod completions;
mod data;
mod doctor;
mod doubts;
mod eval;
mod export;
mod fetch;
mod make_stories;
mod man;
mod out_file;
mod output;
mod pairs;
mod predict;
mod progress;
mod random;
mod reorder_stories;
mod report;
mod score;
mod signal;
mod study;
mod train;
mod tune;

use crate::error::{Error, ErrorKind, lack_of_memory};
use crate::say::aside;
use clap::{CommandFactory, Parser, Subcommand};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "tiered", version, long_version = env!("TIERED_VERSION"), about, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check story files and count what is in them
    #[command(subcommand)]
    Data(data::Command),
    /// Fetch a model of the Hugging Face hub, or the papers' data: resumed, verified
    #[command(subcommand)]
    Fetch(fetch::Command),
    /// Train a model: one config, one run folder
    Train(train::Args),
    /// Evaluate a run on a story file: the tiered table
    Eval(eval::Args),
    Predict(predict::Args),
    Tune(tune::Args),
    /// Score predictions: accuracy, consistency, verifiability
    Score(score::Args),
    /// Many experiments: run them, see how far they are, compare them
    #[command(subcommand)]
    Study(study::Command),
    Random(random::Args),
    Export(export::Args),
    Compare(compare::Args),
    Analyse(analyse::Args),
    Report(report::Args),
    Bench(bench::Args),
    /// Make labelled stories to train on, as many as wanted
    MakeStories(make_stories::Args),
    ReorderStories(reorder_stories::Args),
    /// Describe this machine: libtorch, devices, speed, memory, disk
    Doctor(doctor::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the command line and turns its outcome into an exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    crate::machine::keep_memory();
    match within_memory(|| run(cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let kind = error.chain().find_map(|cause| cause.downcast_ref::<Error>()).map(|error| error.kind);
            match kind {
                Some(ErrorKind::Resumable) => aside!("{error:#}"),
                _ => aside!("error: {error:#}"),
            }
            ExitCode::from(kind.unwrap_or(ErrorKind::Internal) as u8)
        }
    }
}

/// Turns one panic into an error. What libtorch can't do becomes a panic in `tch`; that memory is short is no bug, and a
/// user can do something about it. Nor is its backtrace printed: std would wait for itself without end where there is no memory for
/// that either.
fn within_memory(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if lack_of_memory(panic.payload()).is_none() {
            report(panic);
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match lack_of_memory(&*payload) {
        Some(what) => {
            let remedy = "train.pairs_per_step, train.entities and a smaller encoder need less; what was saved is kept";
            let message = format!("memory is short ({what}); {remedy}");
            Err(Error::new(ErrorKind::Unavailable, message).into())
        }
        None => panic::resume_unwind(payload),
    })
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Data(command) => data::run(&command),
        Command::Fetch(command) => fetch::run(&command),
        Command::Train(args) => train::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Study(command) => study::run(&command),
        Command::Random(args) => random::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Analyse(args) => analyse::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::MakeStories(args) => make_stories::run(&args),
        Command::ReorderStories(args) => reorder_stories::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
    }
}
