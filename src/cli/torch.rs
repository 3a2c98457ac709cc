//! The commands that need libtorch, in a program of their own.

#[cfg(feature = "app")]
use super::app;
use super::command_line::Command;
use super::{bench, compare, doctor, eval, model, predict, report, sweep, train};
use crate::error::{Error, ErrorKind, Result};
use std::env;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process;

/// The program with all commands, in the folder of `tiered`.
const PROGRAM: &str = "tiered-torch";

/// How often a thread of GNU's OpenMP looks for work before it sleeps. By default it is 300,000 times, milliseconds in
/// which the thread that has work may wait for the core (benches/README.md, "Start-up").
const SPIN_COUNT: (&str, &str) = ("GOMP_SPINCOUNT", "10000");

/// Runs a command that needs libtorch.
pub(super) fn run(command: Command) -> Result<()> {
    match command {
        Command::Train(args) => train::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Predict(args) => predict::run(&args),
        #[cfg(feature = "app")]
        Command::App(args) => app::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Report(command) => report::run(&command),
        Command::Model(command) => model::run(&command),
        Command::Sweep(command) => sweep::run(&command),
        Command::Bench(args) => bench::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        _ => unreachable!("it needs no libtorch"),
    }
}

/// Turns this process into [`PROGRAM`], with the same arguments. Signals, exit codes and the terminal are then its own.
pub(super) fn start() -> Result<()> {
    if let Err(error) = env::current_dir() {
        let message = format!("the current folder can't be used: {error}; change to another with cd");
        return Err(Error::new(ErrorKind::MissingInput, message)); // libtorch would end the program with words of its own
    }
    let own = env::current_exe().map_err(|error| Error::reading(Path::new("this program"), &error))?;
    let program = own.with_file_name(PROGRAM);
    let mut torch = process::Command::new(&program);
    torch.arg0("tiered").args(env::args_os().skip(1));
    // libgomp reads it when it is loaded.
    if [SPIN_COUNT.0, "OMP_WAIT_POLICY"].iter().all(|variable| env::var_os(variable).is_none()) {
        torch.env(SPIN_COUNT.0, SPIN_COUNT.1);
    }
    let error = torch.exec();
    let message =
        format!("{}: can't be started: {error}; it belongs beside tiered, so install both", program.display());
    Err(Error::new(ErrorKind::Unavailable, message))
}
