//! The files of a run, and the state that they show.

use super::evaluate::SetRecord;
use super::file::EvaluationSet;
use super::sweep_run::SweepRun;
use crate::durable::{self, Lock};
use crate::error::{Error, Result};
use crate::experiment::{RunFolder, is_empty_folder, json_bytes};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tries to take a lock, and the pause between them: another process may hold it for a moment, only to look.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Trained, and evaluated on all sets.
    Done,
    /// Another process is executing it.
    Held,
    /// Its training has ended, and some sets are left to evaluate.
    Trained {
        /// How many sets it is evaluated on.
        evaluated: usize,
    },
    /// Its training has ended, but with other story files or weights than its config names now.
    OtherData,
    /// Its training was started.
    Begun {
        /// How many epochs are completed.
        epochs: usize,
    },
    /// It has no folder yet.
    Waiting,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFailure {
    /// Exit code.
    pub code: u8,
    /// The error, without its exit code.
    pub message: String,
}

/// `sweep-run.json` of a run folder. It is there once training has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SweepRunRecord {
    sweep: String,
    /// Axis and value.
    values: Vec<(String, String)>,
    epochs: u64,
}

pub struct RunFiles {
    pub path: PathBuf,
    lock: PathBuf,
    failure: PathBuf,
}

impl RunFiles {
    pub fn new(sweep: &Path, hash: &str) -> Self {
        RunFiles {
            path: sweep.join(hash),
            lock: sweep.join("locks").join(hash),
            failure: sweep.join("failed").join(format!("{hash}.json")),
        }
    }

    /// The lock of a run. `None` if another process holds it or trains the run, for example `tiered train --resume`.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn lock(&self) -> Result<Option<Lock>> {
        durable::create_folder(self.lock.parent().expect("it is in a folder"))?;
        for _ in 0..TRIES {
            if let Some(lock) = Lock::try_take(&self.lock)? {
                return Ok(Some(lock).filter(|_| !self.is_trained_elsewhere()));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// Call it only while holding the lock: looking takes the run folder's own lock for a moment.
    fn is_trained_elsewhere(&self) -> bool {
        let lock = self.path.join("lock");
        lock.exists() && matches!(Lock::try_take(&lock), Ok(None))
    }

    /// Looking takes the lock for a moment.
    fn is_held(&self) -> bool {
        self.lock.exists() && matches!(Lock::try_take(&self.lock), Ok(None))
    }

    /// `sets` come with the SHA-256 of their files, as far as these can be read.
    pub fn state(&self, run: &SweepRun, sets: &[(&EvaluationSet, Option<String>)]) -> Result<RunState> {
        if !self.has_begun() {
            return Ok(if self.is_held() { RunState::Held } else { RunState::Waiting });
        }
        let evaluated = sets.iter().filter(|(set, sha256)| self.is_evaluated(set, sha256.as_deref())).count();
        Ok(match self.is_trained(run)? {
            true if evaluated == sets.len() => RunState::Done,
            _ if self.is_held() => RunState::Held,
            true => RunState::Trained { evaluated },
            false => RunState::Begun { epochs: self.epochs() },
        })
    }

    /// Whether there is a run folder with something in it.
    pub fn has_begun(&self) -> bool {
        self.path.exists() && !is_empty_folder(&self.path)
    }

    /// The number of completed epochs.
    fn epochs(&self) -> usize {
        fs::read_to_string(self.path.join("metrics.jsonl")).map_or(0, |text| text.lines().count())
    }

    /// Whether the training of the run has ended.
    ///
    /// # Errors
    /// `Data` if `sweep-run.json` can't be read.
    pub fn is_trained(&self, run: &SweepRun) -> Result<bool> {
        let record: Option<SweepRunRecord> =
            durable::read_document(&self.record()).map_err(|error| self.damaged(error))?;
        Ok(record.is_some_and(|record| record.epochs == run.config.train.epochs))
    }

    pub fn note_trained(&self, sweep: &str, run: &SweepRun) -> Result<()> {
        let record =
            SweepRunRecord { sweep: sweep.to_owned(), values: run.values.clone(), epochs: run.config.train.epochs };
        durable::replace(&self.record(), &json_bytes(&record)?)
    }

    /// Removes the checkpoints. Nothing will resume from them: another number of epochs is another run.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove_checkpoints(&self) -> Result<()> {
        let checkpoints = self.path.join("checkpoints");
        if !checkpoints.exists() {
            return Ok(());
        }
        for entry in fs::read_dir(&checkpoints).map_err(|error| Error::reading(&checkpoints, &error))? {
            let path = entry.map_err(|error| Error::reading(&checkpoints, &error))?.path();
            if path.is_dir() { durable::remove_folder(&path) } else { durable::remove_file(&path) }?;
        }
        durable::remove_folder(&checkpoints)
    }

    fn record(&self) -> PathBuf {
        self.path.join("sweep-run.json")
    }

    /// Whether the run was evaluated on this set. The story file is compared only if its SHA-256 is given.
    pub fn is_evaluated(&self, set: &EvaluationSet, sha256: Option<&str>) -> bool {
        self.evaluated_file(set).is_some_and(|evaluated| sha256.is_none_or(|sha256| evaluated == sha256))
    }

    /// The SHA-256 that the story file had when the run was evaluated on this set. `None` if it was not.
    pub fn evaluated_file(&self, set: &EvaluationSet) -> Option<String> {
        let record = durable::read_document::<SetRecord>(&self.evaluation(set).join(SetRecord::FILE)).ok().flatten();
        record.filter(|record| record.is_of(set)).map(|record| record.sha256)
    }

    pub fn evaluation(&self, set: &EvaluationSet) -> PathBuf {
        self.path.join("eval").join(&set.name)
    }

    /// The run folder, once it is trained.
    ///
    /// # Errors
    /// `MissingInput` if it is none any more.
    pub fn folder(&self) -> Result<RunFolder> {
        RunFolder::open(&self.path).map_err(|error| self.damaged(error))
    }

    fn damaged(&self, error: Error) -> Error {
        let remedy = format!("remove the folder {} to train the run again", self.path.display());
        Error { message: format!("{}; {remedy}", error.message), ..error }
    }

    pub fn failure(&self) -> Option<RunFailure> {
        durable::read_document(&self.failure).ok().flatten()
    }

    /// Removes the record of the error that an earlier attempt ended with.
    ///
    /// # Errors
    /// `Io`.
    pub fn forget_failure(&self) -> Result<()> {
        if self.failure.exists() { durable::remove_file(&self.failure) } else { Ok(()) }
    }

    /// Records the error that an attempt ended with.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn note_failure(&self, error: &Error) -> Result<()> {
        durable::create_folder(self.failure.parent().expect("it is in a folder"))?;
        let failure = RunFailure { code: error.kind as u8, message: error.message.clone() };
        durable::replace(&self.failure, &json_bytes(&failure)?)
    }
}
