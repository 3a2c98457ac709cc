//! `tiered sweep run --jobs J`: every run in its own process of this program, with its output in a log file.

use super::end::{End, NOT_STARTED, outcome_words};
use crate::distributed::VARIABLES;
use crate::durable::create_folder;
use crate::error::{Error, ErrorKind, Result};
use crate::say::{counted, say};
use crate::sweep::{JobEnd, JobGpus, RunOutcome, RunState, Sweep, SweepRun, run_jobs};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(super) fn run<'a>(
    sweep: &Sweep,
    runs: &[&'a SweepRun],
    at_a_time: usize,
    out: Option<&Path>,
    stop: &dyn Fn() -> Option<&'static str>,
) -> Result<Vec<End<'a>>> {
    let todo = sweep.unfinished(runs)?;
    let done = runs.iter().filter(|run| !todo.iter().any(|other| other.number == run.number));
    let was_done = |run| sweep.remove_checkpoints(run).map(|()| RunOutcome::WasDone);
    let mut ends: Vec<End> = done.map(|&run| End { run, result: was_done(run) }).collect();
    let at_a_time = at_a_time.min(todo.len()).max(1);
    let to_do = counted(todo.len(), "run");
    say!("{to_do} to do, {at_a_time} at a time; their output is in {}", logs(sweep).display());
    create_folder(&logs(sweep))?;
    let numbers: Vec<usize> = todo.iter().map(|run| run.number).collect();
    let command = |number| command(sweep, number, at_a_time, out);
    run_jobs(&numbers, &command, at_a_time, &gpus(&todo), stop, |number, end| {
        let Some(run) = todo.iter().copied().find(|run| run.number == number) else { return };
        let result = match (end, stop()) {
            // It did not watch for signals yet.
            (JobEnd::Killed(libc::SIGTERM), Some(reason)) => {
                Err(Error::new(ErrorKind::Resumable, format!("stopped by {reason} before it could save")))
            }
            _ => result(sweep, run, end),
        };
        let words = match &result {
            Ok(outcome) => outcome_words(*outcome).to_owned(),
            Err(error) => error.message.clone(),
        };
        if end != JobEnd::NotStarted {
            say!("task {number}: {}: {words}", run.name());
        }
        ends.push(End { run, result });
    })?;
    Ok(ends)
}

/// The GPUs to spread the runs over; none if a run names the CPU or one GPU.
fn gpus(runs: &[&SweepRun]) -> JobGpus {
    let chooses = runs.iter().all(|run| ["auto", "cuda"].contains(&run.config.device.0.as_str()));
    JobGpus::visible(if chooses { tch::Cuda::device_count().max(0) as usize } else { 0 })
}

fn logs(sweep: &Sweep) -> PathBuf {
    sweep.folder.join("logs")
}

fn log(sweep: &Sweep, number: usize) -> PathBuf {
    logs(sweep).join(format!("task-{number}.log"))
}

/// This program. If it was built or installed anew since the sweep began, it is still the one that began, on Linux.
fn program() -> Result<PathBuf> {
    let path = std::env::current_exe().map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("the path of this program can't be found out: {error}"))
    })?;
    let same = PathBuf::from("/proc/self/exe");
    Ok(if !path.exists() && same.exists() { same } else { path })
}

/// The command that runs this program on one run. The cores are divided among the processes, unless the environment
/// sets the number of threads.
fn command(sweep: &Sweep, number: usize, at_a_time: usize, out: Option<&Path>) -> Result<Command> {
    let program = program()?;
    let path = log(sweep, number);
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|e| Error::writing(&path, &e))?;
    let again = file.try_clone().map_err(|error| Error::writing(&path, &error))?;
    let mut command = Command::new(program);
    command.args(["sweep", "run"]).arg(&sweep.path).args([
        "--task",
        &number.to_string(),
        "--expect",
        &sweep.runs_digest()?,
    ]);
    if let Some(out) = out {
        command.arg("--output").arg(out);
    }
    if std::env::var_os("OMP_NUM_THREADS").is_none() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        command.env("OMP_NUM_THREADS", (cores / at_a_time).max(1).to_string());
    }
    // A run of a sweep has one process, whatever started the sweep.
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).stdout(file).stderr(again);
    Ok(command)
}

fn result(sweep: &Sweep, run: &SweepRun, end: JobEnd) -> Result<RunOutcome> {
    let log = log(sweep, run.number);
    match end {
        JobEnd::Code(0) if sweep.state(run)? == RunState::Done => Ok(RunOutcome::Done),
        JobEnd::Code(0) => Ok(RunOutcome::Held),
        JobEnd::NotStarted => Err(Error::new(ErrorKind::Resumable, NOT_STARTED)),
        JobEnd::Code(75) => Err(Error::new(ErrorKind::Resumable, last_line(&log, run))),
        JobEnd::Killed(signal) => {
            let remedy = "if memory was too small, lower --jobs";
            let message = format!("ended by signal {signal}; {remedy}; its output: {}", log.display());
            Err(Error::new(ErrorKind::Unavailable, message))
        }
        JobEnd::Code(code) => {
            let message = match sweep.failure(run).filter(|failure| failure.code == code) {
                Some(failure) => failure.message,
                None => format!("exit code {code}; its last output: {}", last_line(&log, run)),
            };
            Err(Error::new(ErrorKind::of_code(code).unwrap_or(ErrorKind::Internal), message))
        }
    }
}

/// Without the name of the run, which stands before the message already.
fn last_line(log: &Path, run: &SweepRun) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let line = text.lines().last().unwrap_or("nothing").trim();
    line.strip_prefix(&format!("task {} ({}): ", run.number, run.name())).unwrap_or(line).to_owned()
}
