//! Runs in processes of their own, several at a time.

use crate::error::{Error, ErrorKind, Result};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// How often the program checks whether a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The GPUs that jobs take turns on, as `CUDA_VISIBLE_DEVICES` names them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobGpus(Vec<String>);

/// What tells CUDA which GPUs a process may use.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

impl JobGpus {
    /// The first `count` GPUs that this process may use.
    pub fn visible(count: usize) -> Self {
        Self::of(std::env::var(VISIBLE).ok().as_deref(), count)
    }

    fn of(visible: Option<&str>, count: usize) -> Self {
        let named = visible.map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
        let mut names: Vec<String> = named.unwrap_or_else(|| (0..count).map(|gpu| gpu.to_string()).collect());
        names.truncate(count);
        JobGpus(names)
    }

    /// Lets a command use one GPU only, that of its place.
    fn assign(&self, command: &mut Command, place: usize) {
        if !self.0.is_empty() {
            command.env(VISIBLE, &self.0[place % self.0.len()]);
        }
    }
}

/// A process and its place: no two that run at the same time have the same.
struct Running {
    number: usize,
    place: usize,
    child: Child,
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

/// Runs a job for each number, `at_a_time` at once, spread over the GPUs. `command` makes the command of a job when it is
/// started: it may hold open files. Each has its own process group, so that Ctrl-C reaches this process only. On Linux the
/// jobs save and end when this process is gone. Once `stop` names a reason, running jobs get one SIGTERM, on which they
/// save, and no other job is started. `ended` is called with the end of each job.
///
/// # Errors
/// `Unavailable` if a process can't be started, or that of `command`; the running ones are then stopped and waited for.
pub fn run_jobs(
    numbers: &[usize],
    command: &dyn Fn(usize) -> Result<Command>,
    at_a_time: usize,
    gpus: &JobGpus,
    stop: &dyn Fn() -> Option<&'static str>,
    mut ended: impl FnMut(usize, JobEnd),
) -> Result<()> {
    let mut waiting = numbers.iter().copied();
    let mut running: Vec<Running> = Vec::new();
    let mut stopping = false;
    let mut result = Ok(());
    loop {
        if !stopping && (stop().is_some() || result.is_err()) {
            stopping = true;
            running.iter().for_each(|job| terminate(&job.child));
        }
        while !stopping && result.is_ok() && running.len() < at_a_time.max(1) {
            let Some(number) = waiting.next() else { break };
            let place = free_place(&running);
            match command(number).and_then(|command| start(command, gpus, place)) {
                Ok(child) => running.push(Running { number, place, child }),
                Err(error) => {
                    ended(number, JobEnd::NotStarted);
                    result = Err(error);
                }
            }
        }
        let mut still = Vec::new();
        for mut job in running {
            match job.child.try_wait() {
                Ok(Some(status)) => ended(job.number, JobEnd::of(status)),
                Ok(None) => still.push(job),
                Err(error) => {
                    result = Err(Error::new(ErrorKind::Internal, format!("waiting for a process failed: {error}")))
                }
            }
        }
        running = still;
        if running.is_empty() && (stopping || result.is_err() || waiting.len() == 0) {
            waiting.for_each(|number| ended(number, JobEnd::NotStarted));
            return result;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn start(mut command: Command, gpus: &JobGpus, place: usize) -> Result<Child> {
    gpus.assign(&mut command, place);
    ends_with_us(command.process_group(0)).spawn().map_err(|error| cannot_start(&command, &error))
}

fn free_place(running: &[Running]) -> usize {
    (0..=running.len()).find(|place| running.iter().all(|job| job.place != *place)).unwrap_or(0)
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

    fn shell(script: &str) -> Result<Command> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Ok(command)
    }

    #[test]
    fn every_end_is_told() {
        let ends = RefCell::new(Vec::new());
        let command = |number| shell(["exit 0", "exit 75", "kill -9 $$"][number - 1]);
        let ended = |number, end| ends.borrow_mut().push((number, end));
        run_jobs(&[1, 2, 3], &command, 2, &JobGpus::default(), &|| None, ended).unwrap();
        let mut ends = ends.into_inner();
        ends.sort_by_key(|(number, _)| *number);
        assert_eq!(ends, [(1, JobEnd::Code(0)), (2, JobEnd::Code(75)), (3, JobEnd::Killed(9))]);
    }

    #[test]
    fn a_stop_ends_what_runs_and_starts_no_more() {
        let (ends, looks, started) = (RefCell::new(Vec::new()), Cell::new(0), Instant::now());
        let command = |number| match number {
            1 => shell("trap 'exit 75' TERM; while :; do sleep 0.05; done"),
            _ => panic!("its command is made although it is not started"),
        };
        let stop = || {
            looks.set(looks.get() + 1);
            (looks.get() > 5).then_some("SIGTERM")
        };
        let ended = |number, end| ends.borrow_mut().push((number, end));
        run_jobs(&[1, 2], &command, 1, &JobGpus::default(), &stop, ended).unwrap();
        assert_eq!(ends.into_inner(), [(1, JobEnd::Code(75)), (2, JobEnd::NotStarted)]);
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn jobs_that_run_together_are_on_different_gpus() {
        assert_eq!(JobGpus::of(None, 2), JobGpus(vec!["0".into(), "1".into()]));
        assert_eq!(JobGpus::of(Some("GPU-a, 3"), 2), JobGpus(vec!["GPU-a".into(), "3".into()]));
        assert_eq!(JobGpus::of(Some(""), 0), JobGpus::default());
        let folder = tempfile::TempDir::new().unwrap();
        let file = |number| folder.path().join(format!("{number}"));
        // The second waits until the first has ended and the third has begun, on the first one's GPU.
        let scripts = ["true", "while [ ! -e 3 ]; do sleep 0.02; done", "true"];
        let command = |number: usize| {
            let wait = scripts[number - 1];
            let mut command =
                shell(&format!("{wait}; echo $CUDA_VISIBLE_DEVICES > {number}.part; mv {number}.part {number}"))?;
            command.current_dir(folder.path());
            Ok(command)
        };
        run_jobs(&[1, 2, 3], &command, 2, &JobGpus::of(Some("a,b"), 2), &|| None, |_, _| ()).unwrap();
        let gpus = [1, 2, 3].map(|number| std::fs::read_to_string(file(number)).unwrap().trim().to_owned());
        assert_eq!(gpus, ["a", "b", "a"]);
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let command = |_| Ok(Command::new("/no/such/program"));
        let error = run_jobs(&[1], &command, 1, &JobGpus::default(), &|| None, |_, _| ()).unwrap_err();
        assert!(error.kind == ErrorKind::Unavailable && error.message.contains("/no/such/program"), "{error}");
    }
}
