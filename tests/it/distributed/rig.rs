//! Starts the processes of a run as `torchrun` would, and waits for them.

use crate::resume::records;
use crate::support::{said, text};
use crate::tiny::Tiny;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use tiered::durable::FileDigest;
use tiered::train::EpochRecord;

/// Seconds that a process of a healthy run may take for anything on a loaded machine.
pub const PATIENCE: &str = "120";

/// Steps of the run: 3 epochs of 8 pairs, 4 a step.
pub const STEPS: u64 = 6;

/// A tiny config of 4 shards, with dropout and with checkpoints within epochs.
pub struct Cluster {
    pub tiny: Tiny,
    sets: Vec<String>,
    runs: AtomicUsize,
    reference: OnceLock<Ended>,
}

/// What a run ends with.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// SHA-256 of the best and of the last weights.
    pub weights: [String; 2],
    /// Without times.
    pub epochs: Vec<EpochRecord>,
    /// metrics.csv.
    pub steps: String,
}

impl Cluster {
    pub fn new(more: &[&str]) -> Self {
        let sets = ["train.epochs=3", "train.pairs_per_step=4", "train.shards=4", "model.dropout=0.1"];
        let sets = sets.iter().chain(&["checkpoint.every=2 steps"]).chain(more).map(|&set| set.to_owned()).collect();
        let tiny = Tiny::new();
        tiny.config();
        Cluster { tiny, sets, runs: AtomicUsize::new(0), reference: OnceLock::new() }
    }

    /// The same without dev pairs.
    pub fn without_dev() -> Self {
        let cluster = Self::new(&[]);
        let config = cluster.tiny.path("tiny.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("dev = ")).collect();
        std::fs::write(&config, lines.join("\n")).unwrap();
        cluster
    }

    /// For all tests that need no other.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| Cluster::new(&[]))
    }

    /// A name for a run folder that does not exist yet.
    pub fn folder(&self) -> PathBuf {
        self.tiny.path(&format!("run-{}", self.runs.fetch_add(1, Ordering::Relaxed)))
    }

    /// `tiered train --resume` in this folder, which starts the run if there is none.
    pub fn command(&self, run: &Path, timeout: &str) -> Command {
        self.command_of(&self.tiny.path("tiny.toml"), run, timeout)
    }

    /// The same with another config.
    pub fn command_of(&self, config: &Path, run: &Path, timeout: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        let (config, run) = (text(config), text(run));
        command.args(["train", "--config", config, "--output", run, "--timeout", timeout, "--resume"]);
        command.args(self.sets.iter().flat_map(|set| ["--set", set]));
        command
    }

    /// What one process ends with.
    pub fn reference(&self) -> &Ended {
        self.reference.get_or_init(|| {
            let run = self.folder();
            succeed(&[self.command(&run, PATIENCE).output().unwrap()]);
            Ended::of(&run)
        })
    }

    /// Trains in so many processes, or goes on, to the end.
    pub fn trained(&self, run: &Path, processes: usize) -> Ended {
        match processes {
            1 => succeed(&[self.command(run, PATIENCE).output().unwrap()]),
            _ => succeed(&Processes::start(processes, |_| self.command(run, PATIENCE)).end()),
        }
        Ended::of(run)
    }
}

impl Ended {
    pub fn of(run: &Path) -> Self {
        let digest = |which: &str| FileDigest::of_file(&run.join(which).join("model.safetensors")).unwrap().sha256;
        let steps = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
        Ended { weights: ["best", "last"].map(digest), epochs: records(run), steps }
    }
}

/// The processes of a run, by rank. Those that are still there when this is dropped are killed.
pub struct Processes(pub Vec<Child>);

impl Processes {
    /// Starts the command of each rank, with the variables of `torchrun`.
    pub fn start(count: usize, command: impl Fn(usize) -> Command) -> Self {
        let port = free_port().to_string();
        let start = |rank: usize| {
            let mut command = command(rank);
            command.env("RANK", rank.to_string()).env("WORLD_SIZE", count.to_string());
            command.env("MASTER_ADDR", "127.0.0.1").env("MASTER_PORT", &port);
            // The name of this machine need not resolve.
            command.env("GLOO_SOCKET_IFNAME", "lo").stdin(Stdio::null());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        Processes((0..count).map(start).collect())
    }

    /// Waits for all.
    pub fn end(mut self) -> Vec<Output> {
        std::mem::take(&mut self.0).into_iter().map(|child| child.wait_with_output().unwrap()).collect()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A port that nobody else is given: below those that the system hands out.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + (std::process::id() % 100) as u16 * 100;
    let mut ports = (0..10_000).map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed) % 2_000);
    ports.find(|&port| TcpListener::bind(("0.0.0.0", port)).is_ok()).expect("a free port")
}

pub fn succeed(outputs: &[Output]) {
    for (rank, output) in outputs.iter().enumerate() {
        assert!(output.status.success(), "process {rank}: {}", said(output));
    }
}
