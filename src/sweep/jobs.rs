//! Runs in processes of their own, several at a time.

use crate::error::{Error, ErrorKind, Result};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// How often the program checks whether a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A command to run, with a number that names it.
pub struct Job {
    /// Told when the job ends.
    pub number: usize,
    /// Started in a process group of its own.
    pub command: Command,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// By itself, with this exit code.
    Code(u8),
    /// By a signal, for example because memory was too small.
    Killed(i32),
    /// A stop came before the process was started.
    NotStarted,
}

impl JobEnd {
    fn of(status: ExitStatus) -> Self {
        match status.code() {
            Some(code) => JobEnd::Code(code as u8),
            None => JobEnd::Killed(status.signal().unwrap_or(0)),
        }
    }
}

/// Runs all jobs, `at_a_time` at once. Each has its own process group, so that Ctrl-C reaches this process only. On
/// Linux the jobs save and end when this process is gone. Once `stop` names a reason, running jobs get one SIGTERM, on
/// which they save, and no other job is started. `ended` is called with the end of each job.
///
/// # Errors
/// `Unavailable` if a process can't be started; the running ones are then stopped and waited for.
pub fn run_jobs(
    jobs: Vec<Job>,
    at_a_time: usize,
    stop: &dyn Fn() -> Option<&'static str>,
    mut ended: impl FnMut(usize, JobEnd),
) -> Result<()> {
    let mut waiting = jobs.into_iter();
    let mut running: Vec<(usize, Child)> = Vec::new();
    let mut stopping = false;
    let mut result = Ok(());
    loop {
        if !stopping && (stop().is_some() || result.is_err()) {
            stopping = true;
            running.iter().for_each(|(_, child)| terminate(child));
        }
        while !stopping && result.is_ok() && running.len() < at_a_time.max(1) {
            let Some(mut job) = waiting.next() else { break };
            match ends_with_us(job.command.process_group(0)).spawn() {
                Ok(child) => running.push((job.number, child)),
                Err(error) => result = Err(cannot_start(&job.command, &error)),
            }
        }
        let mut still = Vec::new();
        for (number, mut child) in running {
            match child.try_wait() {
                Ok(Some(status)) => ended(number, JobEnd::of(status)),
                Ok(None) => still.push((number, child)),
                Err(error) => {
                    result = Err(Error::new(ErrorKind::Internal, format!("waiting for a process failed: {error}")))
                }
            }
        }
        running = still;
        if running.is_empty() && (stopping || result.is_err() || waiting.len() == 0) {
            waiting.for_each(|job| ended(job.number, JobEnd::NotStarted));
            return result;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Makes the process receive a SIGTERM when this one ends, even if it is killed. Nothing else would stop it.
fn ends_with_us(command: &mut Command) -> &mut Command {
    #[cfg(target_os = "linux")]
    {
        let us = std::process::id();
        // SAFETY: both calls may be made between fork and exec.
        unsafe {
            command.pre_exec(move || match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) {
                0 if libc::getppid().cast_unsigned() == us => Ok(()),
                0 => Err(std::io::Error::other("the parent process has ended")),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
    }
    command
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Error {
    let program = command.get_program().display();
    Error::new(ErrorKind::Unavailable, format!("{program}: can't be started: {error}; try --jobs 1"))
}

fn terminate(child: &Child) {
    // SAFETY: kill takes any numbers. The child has not been waited for, so that its number is still its own.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::time::Instant;

    fn shell(number: usize, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { number, command }
    }

    #[test]
    fn every_end_is_told() {
        let ends = RefCell::new(Vec::new());
        let jobs = vec![shell(1, "exit 0"), shell(2, "exit 75"), shell(3, "kill -9 $$")];
        run_jobs(jobs, 2, &|| None, |number, end| ends.borrow_mut().push((number, end))).unwrap();
        let mut ends = ends.into_inner();
        ends.sort_by_key(|(number, _)| *number);
        assert_eq!(ends, [(1, JobEnd::Code(0)), (2, JobEnd::Code(75)), (3, JobEnd::Killed(9))]);
    }

    #[test]
    fn a_stop_ends_what_runs_and_starts_no_more() {
        let (ends, looks, started) = (RefCell::new(Vec::new()), Cell::new(0), Instant::now());
        let jobs = vec![shell(1, "trap 'exit 75' TERM; while :; do sleep 0.05; done"), shell(2, "exit 0")];
        let stop = || {
            looks.set(looks.get() + 1);
            (looks.get() > 5).then_some("SIGTERM")
        };
        run_jobs(jobs, 1, &stop, |number, end| ends.borrow_mut().push((number, end))).unwrap();
        assert_eq!(ends.into_inner(), [(1, JobEnd::Code(75)), (2, JobEnd::NotStarted)]);
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let job = Job { number: 1, command: Command::new("/no/such/program") };
        let error = run_jobs(vec![job], 1, &|| None, |_, _| ()).unwrap_err();
        assert!(error.kind == ErrorKind::Unavailable && error.message.contains("/no/such/program"), "{error}");
    }
}
