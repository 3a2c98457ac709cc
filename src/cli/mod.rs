//! One file per subcommand: it parses the arguments, calls the library and prints the result.

mod agreement;
#[cfg(feature = "app")]
mod app;
mod average;
mod baseline;
mod bench;
mod calibrate;
mod command_line;
mod compare;
mod completions;
mod data;
mod doctor;
mod entities;
mod epochs;
mod eval;
mod export;
mod fetch;
mod follow;
mod format;
mod init;
mod input;
mod llm;
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
mod sweep;
mod synthesize;
mod torch;
mod train;

use crate::error::{Error, ErrorKind, Result, lack_of_memory};
use crate::say::{aside, be_quiet};
use clap::CommandFactory;
use command_line::{Cli, Command, parse};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

/// Runs the command line of `tiered` and turns its outcome into an exit code. What needs libtorch is left to
/// `tiered-torch`: merely to load it takes longer than most other commands do.
pub fn main() -> ExitCode {
    main_with(|_| torch::start())
}

/// Runs the command line of `tiered-torch`, which has all commands.
pub fn main_of_torch() -> ExitCode {
    crate::machine::keep_memory();
    main_with(torch::run)
}

fn main_with(torch: fn(Command) -> Result<()>) -> ExitCode {
    signal::ignore_file_size_signal();
    let cli = parse();
    if cli.quiet {
        be_quiet();
    }
    match within_memory(|| run(cli.command, torch)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            match error.kind {
                ErrorKind::Resumable => aside!("{error}"),
                _ => aside!("error: {error}"),
            }
            ExitCode::from(error.kind as u8)
        }
    }
}

/// Turns a panic about too little memory into an error. `tch` panics when a call of libtorch fails. Too little memory
/// is not a bug, and a user can do something about it. No backtrace is printed for it: without the memory for one, std
/// would deadlock.
fn within_memory(work: impl FnOnce() -> Result<()>) -> Result<()> {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if lack_of_memory(panic.payload()).is_none() {
            report(panic);
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match lack_of_memory(&*payload) {
        Some(what) => {
            let remedy = "lower train.pairs_per_step or train.entities, or use a smaller encoder or detector; saved files remain";
            let message = format!("out of memory ({what}); {remedy}");
            Err(Error::new(ErrorKind::Unavailable, message))
        }
        None => panic::resume_unwind(payload),
    })
}

/// Runs a command, or hands it to `torch` if it needs libtorch.
fn run(command: Command, torch: fn(Command) -> Result<()>) -> Result<()> {
    match command {
        Command::Init(args) => init::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Data(command) => data::run(&command),
        Command::Llm(command) => llm::run(&command),
        Command::Baseline(args) => baseline::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
        _ => torch(command),
    }
}
