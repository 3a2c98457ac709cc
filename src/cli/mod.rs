//! One file a subcommand: arguments, call, print.

mod baseline;
mod bench;
mod calibrate;
mod compare;
mod completions;
mod data;
mod doctor;
mod doubts;
mod eval;
mod export;
mod fetch;
mod man;
mod model;
mod out_file;
mod output;
mod pairs;
mod predict;
mod progress;
mod reorder;
mod report;
mod report_html;
mod report_text;
mod score;
mod signal;
mod study;
mod synthesize;
mod train;

use crate::error::{Error, ErrorKind, lack_of_memory};
use crate::say::aside;
use clap::error::ContextKind;
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
    /// Train a model: one config, one run folder
    Train(train::Args),
    /// Evaluate a run on a story file: the tiered table
    Eval(eval::Args),
    Predict(predict::Args),
    /// Score saved predictions: accuracy, consistency, verifiability
    Score(score::Args),
    Compare(compare::Args),
    /// Show what a system got right, and why, as text or as a page
    #[command(subcommand)]
    Report(report::Command),
    /// Story files: fetch, check, count, synthesize, reorder
    #[command(subcommand)]
    Data(data::Command),
    /// Models: fetch, export, calibrate
    #[command(subcommand)]
    Model(model::Command),
    /// Many experiments: run them, see how far they are, compare them
    #[command(subcommand)]
    Study(study::Command),
    Baseline(baseline::Args),
    Bench(bench::Args),
    /// Describe this machine: libtorch, devices, speed, memory, disk
    Doctor(doctor::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// What commands were called before, and are called now.
const RENAMED: [(&str, &str); 7] = [
    ("analyse", "report text"),
    ("export", "model export"),
    ("fetch", "model fetch` or `tiered data fetch"),
    ("make-stories", "data synthesize"),
    ("random", "baseline"),
    ("reorder-stories", "data reorder"),
    ("tune", "model calibrate"),
];

/// The command line; where it is wrong, the program ends with what is wrong about it.
fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let asked = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
        match RENAMED.iter().find(|(old, _)| asked.as_deref() == Some(*old)) {
            Some((old, new)) => Cli::command()
                .error(clap::error::ErrorKind::InvalidSubcommand, format!("`tiered {old}` is `tiered {new}` now"))
                .exit(),
            None => error.exit(),
        }
    })
}

/// Runs the command line and turns its outcome into an exit code.
pub fn main() -> ExitCode {
    let cli = parse();
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
        Command::Train(args) => train::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Report(command) => report::run(&command),
        Command::Data(command) => data::run(&command),
        Command::Model(command) => model::run(&command),
        Command::Study(command) => study::run(&command),
        Command::Baseline(args) => baseline::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
    }
}
