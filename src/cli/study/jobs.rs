//! `tiered study run --jobs J`: every cell by a process of this program, what it says in a file.

use super::{End, outcome_words};
use crate::durable::create_folder;
use crate::error::{Error, ErrorKind, Result};
use crate::say::{counted, say};
use crate::study::{Cell, Job, JobEnd, Outcome, State, Study, run_jobs};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(super) fn run<'a>(
    study: &Study,
    cells: &[&'a Cell],
    at_a_time: usize,
    out: Option<&Path>,
    stop: &dyn Fn() -> Option<&'static str>,
) -> Result<Vec<End<'a>>> {
    let mut ends = Vec::new();
    let mut todo = Vec::new();
    for &cell in cells {
        match study.state(cell)? {
            State::Done => ends.push(End { cell, result: Ok(Outcome::WasDone) }),
            _ => todo.push(cell),
        }
    }
    let at_a_time = at_a_time.min(todo.len()).max(1);
    let to_do = counted(todo.len(), "cell");
    say!("{to_do} to do, {at_a_time} at a time; what they say is in {}", logs(study).display());
    create_folder(&logs(study))?;
    let jobs = todo.iter().map(|cell| Ok(Job { number: cell.number, command: command(study, cell, at_a_time, out)? }));
    run_jobs(jobs.collect::<Result<_>>()?, at_a_time, stop, |number, end| {
        let Some(cell) = todo.iter().copied().find(|cell| cell.number == number) else { return };
        let result = result(study, cell, end);
        let words = match &result {
            Ok(outcome) => outcome_words(*outcome).to_owned(),
            Err(error) => error.message.clone(),
        };
        if end != JobEnd::NotStarted {
            say!("task {number}: {}: {words}", cell.name());
        }
        ends.push(End { cell, result });
    })?;
    Ok(ends)
}

fn logs(study: &Study) -> PathBuf {
    study.folder.join("logs")
}

fn log(study: &Study, cell: &Cell) -> PathBuf {
    logs(study).join(format!("task-{}.log", cell.number))
}

/// This program on one cell. The cores are shared out unless the environment says how many threads there are.
fn command(study: &Study, cell: &Cell, at_a_time: usize, out: Option<&Path>) -> Result<Command> {
    let program = std::env::current_exe().map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("where this program is can't be learned: {error}"))
    })?;
    let path = log(study, cell);
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|e| Error::writing(&path, &e))?;
    let again = file.try_clone().map_err(|error| Error::writing(&path, &error))?;
    let mut command = Command::new(program);
    command.args(["study", "run"]).arg(&study.path).args(["--task", &cell.number.to_string()]);
    if let Some(out) = out {
        command.arg("--out").arg(out);
    }
    if std::env::var_os("OMP_NUM_THREADS").is_none() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        command.env("OMP_NUM_THREADS", (cores / at_a_time).max(1).to_string());
    }
    command.stdin(Stdio::null()).stdout(file).stderr(again);
    Ok(command)
}

fn result(study: &Study, cell: &Cell, end: JobEnd) -> Result<Outcome> {
    let log = log(study, cell);
    match end {
        JobEnd::Code(0) if study.state(cell)? == State::Done => Ok(Outcome::Done),
        JobEnd::Code(0) => Ok(Outcome::Held),
        JobEnd::NotStarted => Err(Error::new(ErrorKind::Resumable, "not begun")),
        JobEnd::Code(75) => Err(Error::new(ErrorKind::Resumable, last_line(&log))),
        JobEnd::Killed(signal) => {
            let message =
                format!("ended by signal {signal}; was memory short (fewer --jobs)? what it said: {}", log.display());
            Err(Error::new(ErrorKind::Unavailable, message))
        }
        JobEnd::Code(code) => {
            let message = match study.failure(cell).filter(|failure| failure.code == code) {
                Some(failure) => failure.message,
                None => format!("exit code {code}; what it said: {}", last_line(&log)),
            };
            Err(Error::new(ErrorKind::of_code(code).unwrap_or(ErrorKind::Internal), message))
        }
    }
}

fn last_line(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines().last().unwrap_or("nothing").to_owned()
}
