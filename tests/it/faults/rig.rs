//! A tiny run to put faults into, and what an uninterrupted one ends with.

use super::ensure;
use crate::support::{copy_folder, said, text};
use crate::test_device::{TestDevice, devices};
use crate::tiny::Tiny;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tiered::checkpoint::{CheckpointStore, LatestCheckpoint};
use tiered::durable::FileDigest;

/// Steps of an epoch: 8 pairs, 2 a step.
pub const STEPS_PER_EPOCH: u64 = 4;

/// A config whose checkpoints are made within epochs, with dropout, so that nothing that is lost stays unnoticed.
pub struct Rig {
    pub tiny: Tiny,
    on: TestDevice,
    sets: Vec<String>,
    reference: OnceLock<Reference>,
    operations: OnceLock<u64>,
    runs: AtomicUsize,
}

/// What an uninterrupted run ends with, and how long it takes.
pub struct Reference {
    weights: Weights,
    /// Until there is a run folder and training begins.
    pub startup: Duration,
    /// Of training.
    pub training: Duration,
}

/// SHA-256 of the best and of the last weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights([String; 2]);

impl Weights {
    pub fn of(run: &Path) -> Result<Self, String> {
        let digest = |which: &str| FileDigest::of_file(&run.join(which).join("model.safetensors"));
        let digests = [digest("best"), digest("last")].map(|digest| digest.map(|digest| digest.sha256));
        let [best, last] = digests.map(|digest| digest.map_err(|error| error.message));
        Ok(Weights([best?, last?]))
    }
}

impl Rig {
    pub fn new(epochs: u64, more: &[&str]) -> Self {
        Self::on(devices()[0], epochs, more)
    }

    /// The same, computed so.
    pub fn on(on: TestDevice, epochs: u64, more: &[&str]) -> Self {
        let epochs = format!("train.epochs={epochs}");
        let sets = [epochs.as_str(), "model.dropout=0.1", "checkpoint.every=3 steps", "train.schedule=linear"];
        let sets = sets.iter().chain(more).map(|&set| set.to_owned()).collect();
        let tiny = Tiny::new();
        tiny.config();
        Rig { tiny, on, sets, reference: OnceLock::new(), operations: OnceLock::new(), runs: AtomicUsize::new(0) }
    }

    /// Of 3 epochs, for all tests that need no other.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Rig> = OnceLock::new();
        SHARED.get_or_init(|| Rig::new(3, &[]))
    }

    /// A folder of its own for a run.
    pub fn run(&self) -> Run<'_> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        Run { rig: self, folder: self.tiny.path(&format!("run-{number}")) }
    }

    pub fn reference(&self) -> &Reference {
        self.reference.get_or_init(|| {
            let run = self.run();
            let started = Instant::now();
            let mut child = run.spawn(&[]);
            run.has_begun(&mut child).unwrap();
            let startup = started.elapsed();
            let output = child.wait_with_output().unwrap();
            let training = started.elapsed() - startup;
            assert!(output.status.success(), "{}", said(&output));
            println!("a run: {startup:.2?} until training begins, {training:.2?} of training");
            Reference { weights: Weights::of(&run.folder).unwrap(), startup, training }
        })
    }

    /// How many file operations an uninterrupted run does.
    pub fn operations(&self) -> u64 {
        *self.operations.get_or_init(|| {
            let aborts = |n: u64| !self.run().with("TIERED_FAIL_POINT", &format!("abort:{n}")).status.success();
            let mut beyond = 64;
            while aborts(beyond) {
                beyond *= 2;
            }
            let (mut aborting, mut done) = (beyond / 2, beyond);
            while done - aborting > 1 {
                let middle = aborting.midpoint(done);
                *if aborts(middle) { &mut aborting } else { &mut done } = middle;
            }
            aborting
        })
    }
}

/// A run folder, removed when dropped.
pub struct Run<'a> {
    rig: &'a Rig,
    pub folder: PathBuf,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        for folder in [self.folder.clone(), self.part()] {
            if folder.exists() {
                std::fs::remove_dir_all(folder).unwrap();
            }
        }
    }
}

impl Run<'_> {
    /// The folder while it is being made.
    fn part(&self) -> PathBuf {
        self.folder.with_file_name(format!(".{}.part", self.folder.file_name().unwrap().to_str().unwrap()))
    }

    /// The command that begins the run or goes on with it.
    pub fn arguments(&self) -> Vec<String> {
        let config = self.rig.tiny.path("tiny.toml");
        let words = ["train", "--config", text(&config), "--output", text(&self.folder), "--resume"];
        let sets = self.rig.sets.iter().flat_map(|set| ["--set", set]);
        words.into_iter().chain(sets).map(str::to_owned).collect()
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(self.arguments()).env("OMP_NUM_THREADS", "1").env("TIERED_RETRY_MS", "1");
        command.envs(self.rig.on.environment());
        // Under `nohup`, which may have started the tests, the program would ignore it.
        // SAFETY: between fork and exec it calls nothing but signal(2).
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                Ok(())
            })
        };
        command
    }

    /// Begins or goes on, with one variable of `src/fault.rs` set.
    pub fn with(&self, variable: &str, value: &str) -> Output {
        self.command().env(variable, value).output().unwrap()
    }

    pub fn spawn(&self, environment: &[(&str, &str)]) -> Child {
        let mut command = self.command();
        command.envs(environment.iter().copied()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Waits until the process has begun to train.
    pub fn has_begun(&self, child: &mut Child) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.folder.join("config.toml").exists() {
            let goes_on = Instant::now() < deadline && child.try_wait().unwrap().is_none();
            ensure(goes_on, || "it never began".to_owned())?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    pub fn succeeds(&self) -> Result<(), String> {
        let output = self.command().output().unwrap();
        ensure(output.status.success(), || said(&output))
    }

    /// Goes on to the end, which must be that of an uninterrupted run.
    pub fn ends_as_if_uninterrupted(&self) -> Result<(), String> {
        let expected = &self.rig.reference().weights;
        self.succeeds()?;
        let found = Weights::of(&self.folder)?;
        ensure(found == *expected, || format!("other weights: {found:?} instead of {expected:?}"))
    }

    pub fn store(&self) -> CheckpointStore {
        CheckpointStore::new(self.folder.join("checkpoints"))
    }

    /// The newest good checkpoint, which must be the newest of all.
    pub fn newest(&self) -> Result<Option<LatestCheckpoint>, String> {
        let found = self.store().newest().map_err(|error| error.message)?;
        let skipped = found.as_ref().map_or(0, |found| found.skipped.len());
        ensure(skipped == 0, || format!("{found:?}"))?;
        Ok(found)
    }

    /// A run that was stopped in the middle, with more than one checkpoint.
    pub fn is_half_done(&self) {
        self.with("TIERED_FAIL_POINT", &format!("abort:{}", self.rig.operations() * 2 / 3));
        assert!(self.newest().unwrap().is_some());
    }

    /// A copy of it.
    pub fn copied(&self) -> Self {
        let copy = self.rig.run();
        copy_folder(&self.folder, &copy.folder);
        copy
    }
}

/// A library that is loaded before a program's own (LD_PRELOAD), from one of the C files beside this one.
pub fn preloaded(source: &str, library: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults").join(source);
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o", text(library), text(&source), "-ldl"]).status();
    assert!(built.unwrap().success());
    library.to_owned()
}
