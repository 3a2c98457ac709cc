//! One file per subcommand: it parses the arguments, calls the library and prints the result.

mod baseline;
mod bench;
mod calibrate;
mod compare;
mod completions;
mod data;
mod doctor;
mod doubts;
mod epochs;
mod eval;
mod export;
mod fetch;
mod follow;
mod format;
mod init;
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
mod train;

use crate::error::{Error, ErrorKind, lack_of_memory};
use crate::say::{aside, be_quiet};
use clap::error::ContextKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

/// As clap's own, but without empty lines around the usage: the list of commands fits a screen of 24 lines.
const HELP: &str = "{about}\n{usage-heading} {usage}\n{all-args}";

#[derive(Parser)]
#[command(name = "tiered", version, long_version = env!("TIERED_VERSION"), about, propagate_version = true, arg_required_else_help = true, disable_help_subcommand = true, help_template = HELP)]
struct Cli {
    /// Print no progress, only results, warnings and errors
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Args),
    Train(train::Args),
    Eval(eval::Args),
    Predict(predict::Args),
    Score(score::Args),
    Compare(compare::Args),
    /// Show what a system got right and why, as text or as an HTML page
    #[command(subcommand)]
    Report(report::Command),
    /// Story files: fetch, check, count, synthesize, reorder
    #[command(subcommand)]
    Data(data::Command),
    /// Models: fetch, export, calibrate
    #[command(subcommand)]
    Model(model::Command),
    /// Sweeps of many runs: run them, show their status, compare them
    #[command(subcommand)]
    Sweep(sweep::Command),
    /// Language models: ask them, score what they answer
    #[command(subcommand)]
    Llm(llm::Command),
    Baseline(baseline::Args),
    Bench(bench::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Former names of commands, each with its present name.
const RENAMED: [(&str, &str); 8] = [
    ("analyse", "report text"),
    ("export", "model export"),
    ("fetch", "model fetch` or `tiered data fetch"),
    ("make-stories", "data synthesize"),
    ("random", "baseline"),
    ("reorder-stories", "data reorder"),
    ("study", "sweep"),
    ("tune", "model calibrate"),
];

/// Former names of flags, each with its present name.
const RENAMED_FLAGS: [(&str, &str); 12] = [
    ("--beside", "--published"),
    ("--by", "--unit"),
    ("--csv", "--format csv"),
    ("--emit", "tiered sweep submit FILE --scheduler NAME"),
    ("--html", "tiered report html RUN... --output PAGE"),
    ("--json", "--format json"),
    ("--latex", "--format latex"),
    ("--markdown", "--format markdown"),
    ("--max", "--verbose"),
    ("--out", "--output"),
    ("--peer", "--reference"),
    ("--save", "--output"),
];

/// Parses the command line. On a usage error it prints the error and ends the program.
fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| match renamed(&error) {
        Some(message) => Cli::command().error(error.kind(), message).exit(),
        None => error.exit(),
    })
}

/// A message with the new name, if the unknown argument on the command line is a former name.
fn renamed(error: &clap::Error) -> Option<String> {
    let wrong = |kind| error.get(kind).map(ToString::to_string);
    if let Some(flag) = wrong(ContextKind::InvalidArg) {
        let is_bench = std::env::args().nth(1).is_some_and(|command| command == "bench");
        let of_bench = [("--json", "--output")];
        let mut renamed = of_bench.iter().filter(|_| is_bench).chain(&RENAMED_FLAGS);
        let (old, new) = renamed.find(|(old, _)| flag == *old)?;
        return Some(format!("`{old}` is `{new}` now"));
    }
    let (unknown, first) = (wrong(ContextKind::InvalidSubcommand)?, std::env::args().nth(1)?);
    if first == "report" && std::env::args().any(|argument| argument == "--html") {
        return Some("`tiered report RUN --html PAGE` is `tiered report html RUN --output PAGE` now".to_owned());
    }
    let (old, new) = RENAMED.iter().find(|(old, _)| unknown == *old && first == unknown)?;
    Some(format!("`tiered {old}` is `tiered {new}` now"))
}

/// Runs the command line and turns its outcome into an exit code.
pub fn main() -> ExitCode {
    let cli = parse();
    if cli.quiet {
        be_quiet();
    }
    crate::machine::keep_memory();
    match within_memory(|| run(cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let kind = error.chain().find_map(|cause| cause.downcast_ref::<Error>()).map(|error| error.kind);
            match kind {
                Some(ErrorKind::Resumable) => aside!("{error}"),
                _ => aside!("error: {error}"),
            }
            ExitCode::from(kind.unwrap_or(ErrorKind::Internal) as u8)
        }
    }
}

/// Turns a panic about too little memory into an error. `tch` panics when a call of libtorch fails. Too little memory
/// is not a bug, and a user can do something about it. No backtrace is printed for it: without the memory for one, std
/// would deadlock.
fn within_memory(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if lack_of_memory(panic.payload()).is_none() {
            report(panic);
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match lack_of_memory(&*payload) {
        Some(what) => {
            let remedy = "lower train.pairs_per_step or train.entities, or use a smaller encoder; saved files remain";
            let message = format!("out of memory ({what}); {remedy}");
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
        Command::Sweep(command) => sweep::run(&command),
        Command::Llm(command) => llm::run(&command),
        Command::Baseline(args) => baseline::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
    }
}
