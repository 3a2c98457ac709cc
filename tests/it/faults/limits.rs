//! Too few file descriptors, too little memory.

use super::rig::{Rig, Run};
use super::{count, ensure, trials};
use crate::support::{said, skipped};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A run that can't open its files ends with a message and an exit code, and goes on when it can.
#[test]
fn file_descriptors() {
    let rig = Rig::shared();
    // libtorch aborts where it can't open a single file.
    let all: Vec<u32> = (5..=34).step_by(count(10, 1)).collect();
    trials("few file descriptors (`ulimit -n`): an error, no crash; resumed: equal weights", &all, |limit| {
        let run = rig.run();
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &format!("ulimit -n {limit}; exec timeout -s KILL 120 \"$0\" \"$@\""),
            env!("CARGO_BIN_EXE_tiered"),
        ]);
        command.args(run.arguments()).env("OMP_NUM_THREADS", "1").env("TIERED_RETRY_MS", "1");
        let output = command.output().unwrap();
        let ended_well = match output.status.code() {
            Some(0) => true,
            // What the loader says before the program begins.
            Some(127) => *limit < 10,
            Some(code) => (65..=78).contains(&code) && code != 70 && !said(&output).trim().is_empty(),
            None => false,
        };
        ensure(ended_well, || format!("{:?}: {}", output.status.code(), said(&output)))?;
        run.ends_as_if_uninterrupted()
    });
}

/// A run that runs out of memory in any step ends with a message and an exit code, and goes on when there is more. How much is enough
/// differs by a few pages from run to run, since addresses are random: one that has enough after all ends as if there were no limit.
#[test]
fn memory() {
    let rig = Rig::shared();
    let limited = |run: &Run, kilobytes: u64| {
        let mut command = Command::new("sh");
        let limited = format!("ulimit -v {kilobytes}; exec timeout -s KILL 120 \"$0\" \"$@\"");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_tiered")]);
        command.args(run.arguments()).envs([
            ("OMP_NUM_THREADS", "1"),
            ("TIERED_RETRY_MS", "1"),
            ("RUST_BACKTRACE", "0"),
        ]);
        command.output().unwrap()
    };
    let (mut short, mut enough) = (0_u64, 16 << 20);
    while enough - short > 1024 {
        let middle = short.midpoint(enough);
        *if limited(&rig.run(), middle).status.success() { &mut enough } else { &mut short } = middle;
    }
    // Below these 10 MB libtorch isn't even loaded.
    let (trials_made, step) = (count(4, 40) as u64, count(2560, 256) as u64);
    let all: Vec<u64> = (0..trials_made).map(|i| short - step * i).collect();
    let ran_short = AtomicUsize::new(0);
    trials("too little memory (`ulimit -v`): an error, no crash; resumed: equal weights", &all, |&kilobytes| {
        let run = rig.run();
        let output = limited(&run, kilobytes);
        let words = said(&output);
        eprintln!("{kilobytes} kB: {:?} {words}", output.status.code());
        if !output.status.success() {
            ran_short.fetch_add(1, Ordering::Relaxed);
            // Where it isn't libtorch that asks, Rust says so, or C++ (`bad_alloc`), and aborts.
            let is_said = ["out of memory (", "memory allocation of", "bad_alloc", "a thread can't be started"]
                .iter()
                .any(|said| words.contains(said));
            let ended_well =
                matches!(output.status.code(), Some(69 | 75)) || output.status.signal() == Some(libc::SIGABRT);
            ensure(ended_well && (is_said || output.status.code().is_none()), || words)?;
        }
        run.ends_as_if_uninterrupted()
    });
    assert!(ran_short.into_inner() > 0, "no run was short of memory");
}

/// A memory cgroup of its own, where the system lets one be made; removed when dropped.
struct Cgroup {
    folder: PathBuf,
    /// Its files of the limit and of the most that was used, by version.
    limit: &'static str,
    peak: &'static str,
}

impl Cgroup {
    fn new() -> Option<Self> {
        let name = format!("tiered-test-{}", std::process::id());
        let versions =
            [("memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"), ("", "memory.max", "memory.peak")];
        versions.into_iter().find_map(|(above, limit, peak)| {
            let folder = Path::new("/sys/fs/cgroup").join(above).join(&name);
            fs::create_dir(&folder).ok()?;
            let cgroup = Cgroup { folder, limit, peak };
            (cgroup.peak().is_ok() && cgroup.is_limited_to(u64::MAX / 2).is_ok()).then_some(cgroup)
        })
    }

    fn peak(&self) -> Result<u64, String> {
        let peak = fs::read_to_string(self.folder.join(self.peak)).map_err(|error| error.to_string())?;
        peak.trim().parse().map_err(|_| peak)
    }

    fn is_limited_to(&self, bytes: u64) -> std::io::Result<()> {
        fs::write(self.folder.join(self.limit), bytes.to_string())
    }

    fn output(&self, run: &Run) -> Output {
        let script = "echo $$ > \"$0/cgroup.procs\"; exec \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&self.folder).arg(env!("CARGO_BIN_EXE_tiered")).args(run.arguments());
        command.env("OMP_NUM_THREADS", "1").env("TIERED_RETRY_MS", "1").output().unwrap()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// The system kills a run that wants more, without a word.
#[test]
fn memory_of_a_cgroup() {
    let Some(cgroup) = Cgroup::new() else {
        skipped("a memory cgroup is needed");
        return;
    };
    let rig = Rig::shared();
    assert!(cgroup.output(&rig.run()).status.success());
    let peak = cgroup.peak().unwrap();
    let places = count(3, 20) as u64;
    let limits: Vec<u64> = (1..=places).map(|place| peak / 3 + peak * 2 / 3 * place / (places + 1)).collect();
    let killed = AtomicUsize::new(0);
    trials("too little memory (cgroup): killed by the system; resumed: equal weights", &limits, |&bytes| {
        let run = rig.run();
        cgroup.is_limited_to(bytes).map_err(|error| error.to_string())?;
        let output = cgroup.output(&run);
        match output.status.signal() {
            Some(libc::SIGKILL) => _ = killed.fetch_add(1, Ordering::Relaxed),
            _ => ensure(matches!(output.status.code(), Some(0 | 69 | 75)), || said(&output))?,
        }
        run.ends_as_if_uninterrupted()
    });
    assert!(killed.into_inner() > 0, "no run was short of memory");
}
