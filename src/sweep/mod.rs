//! Many runs: a base config, overridden by every combination of the values of some axes.
//!
//! ```text
//! SWEEP/index.md         the runs: task, values, folder
//! SWEEP/HASH/            the run folder of each run, named by a hash of its config
//! SWEEP/HASH/sweep-run.json   written when the training of the run has ended
//! SWEEP/locks/HASH       locked by the process that executes the run
//! SWEEP/failed/HASH.json why a run failed; removed when it succeeds
//! SWEEP/logs/            output of the processes of `--jobs`
//! ```

mod caught;
mod evaluate;
mod file;
mod folds;
mod index;
mod jobs;
mod published;
mod run;
mod run_files;
mod submit;
mod sweep_run;
mod table;
mod trained_on;

pub use file::{ConflictChoice, EvaluationSet, StateChoice, SweepFile};
pub use jobs::{JobEnd, JobGpus, run_jobs};
pub use run::{Happening, RunOutcome};
pub use run_files::{RunFailure, RunState};
pub use submit::Scheduler;
pub use sweep_run::{Shard, SweepRun};
pub use table::{Selection, compared};

use crate::config::expand;
use crate::durable::Digests;
use crate::error::{Error, Result};
use crate::say::quoted;
use run_files::RunFiles;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A sweep with the resolved configs of all its runs.
pub struct Sweep {
    /// The path of the sweep file, as the user named it.
    pub path: PathBuf,
    /// What the sweep file says.
    pub file: SweepFile,
    /// The folder of its runs.
    pub folder: PathBuf,
    /// In the order of their numbers.
    pub runs: Vec<SweepRun>,
    digests: Digests,
    /// The files of sets of which a warning was printed.
    warned: Mutex<BTreeSet<PathBuf>>,
}

impl Sweep {
    /// Reads a sweep file and resolves every run. Writes nothing. The runs are in `folder`, else in
    /// `runs/sweeps/NAME`.
    ///
    /// # Errors
    /// `MissingInput`; `Config` if the file, its base or the config of a run is invalid, or two runs are the same.
    pub fn open(path: &Path, folder: Option<&Path>) -> Result<Self> {
        let file = SweepFile::open(path)?;
        let runs = sweep_run::runs(&file).map_err(|error| error.about(path.display()))?;
        let mut seen = BTreeMap::new();
        for run in &runs {
            if let Some(other) = seen.insert(&run.hash, run) {
                return Err(Error::config(format!(
                    "{}: runs {} ({}) and {} ({}) have the same config; change the values of one, or name files by \
                     relative paths",
                    path.display(),
                    other.number,
                    other.name(),
                    run.number,
                    run.name()
                )));
            }
        }
        published::require_one_published(&file, &runs).map_err(|error| error.about(path.display()))?;
        let folder = folder.map_or_else(|| Self::default_folder(&file.name), Path::to_owned);
        let (digests, warned) = (Digests::default(), Mutex::default());
        Ok(Sweep { path: path.to_owned(), file, folder, runs, digests, warned })
    }

    /// The default folder of the runs of a sweep.
    pub fn default_folder(name: &str) -> PathBuf {
        Path::new("runs/sweeps").join(name)
    }

    /// A digest of what its runs are: a task is told by its number, which must still be that of the same run when the task
    /// begins.
    ///
    /// # Errors
    /// `Internal` if a config can't be written as TOML.
    pub fn runs_digest(&self) -> Result<String> {
        sweep_run::digest(&self.runs)
    }

    /// # Errors
    /// `Config` if its digest is another one.
    pub fn require_digest(&self, expected: &str) -> Result<()> {
        if self.runs_digest()? == expected {
            return Ok(());
        }
        let problem = "it or its base has changed since this task was submitted, so that the task may be another run";
        Err(Error::config(format!("{}: {problem}; submit the tasks anew", self.path.display())))
    }

    /// The run of a number.
    ///
    /// # Errors
    /// `Usage` if there is none.
    pub fn run(&self, number: usize) -> Result<&SweepRun> {
        self.runs.iter().find(|run| run.number == number).ok_or_else(|| {
            let (path, runs) = (self.path.display(), self.runs.len());
            let message = format!("--task {number}: no such task; {path} has tasks 1 to {runs}");
            Error::new(crate::error::ErrorKind::Usage, message)
        })
    }

    /// The state of a run. Of a set whose file can't be read, any version counts as evaluated.
    ///
    /// # Errors
    /// `Io`, `Data` if files of the run can't be read.
    pub fn state(&self, run: &SweepRun) -> Result<RunState> {
        let files = self.files(run);
        if files.is_trained(run)? {
            files.folder()?;
            // What it was trained on may not be known any more: `sweep run` says so where it matters.
            if self.other_file(run, &files).is_ok_and(|other| other.is_some()) {
                return Ok(RunState::OtherData);
            }
        }
        let sets = self.file.evaluate.iter().map(|set| (set, self.digest(set).ok()));
        files.state(run, &sets.collect::<Vec<_>>())
    }

    /// The SHA-256 of a set's file, as it is now.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Config` if a variable in its path is not set.
    pub fn digest(&self, set: &EvaluationSet) -> Result<String> {
        self.digests.of(&expand(&set.file)?)
    }

    /// The arguments that name the sweep and its folder on a command line.
    pub fn arguments(&self) -> String {
        let (file, folder) = (quoted(self.path.display()), quoted(self.folder.display()));
        match self.folder == Self::default_folder(&self.file.name) {
            true => file,
            false => format!("{file} --output {folder}"),
        }
    }

    /// Why a run failed when it was last tried.
    pub fn failure(&self, run: &SweepRun) -> Option<RunFailure> {
        self.files(run).failure()
    }

    /// The run folder of a run.
    pub fn run_folder(&self, run: &SweepRun) -> PathBuf {
        self.files(run).path
    }

    fn files(&self, run: &SweepRun) -> RunFiles {
        RunFiles::new(&self.folder, &run.hash)
    }
}
