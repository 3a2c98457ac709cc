//! Where the files of a cell are, and how far they say it is.

use super::cell::Cell;
use super::evaluate::SetRecord;
use super::file::EvaluationSet;
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{RunFolder, json_bytes};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a lock is tried that may only be looked at just now, and the pause in between.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// How far a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Trained, and evaluated on all sets.
    Done,
    /// Another process is at work on it.
    Held,
    Trained {
        evaluated: usize,
    },
    /// Some of its training is done, or it was begun.
    Begun {
        epochs: usize,
    },
    Waiting,
}

/// Why a cell failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Exit code.
    pub code: u8,
    pub message: String,
}

/// `cell.json` of a run folder: its training is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellRecord {
    study: String,
    /// Axis and value.
    values: Vec<(String, String)>,
    epochs: u64,
}

pub struct Place {
    pub run: PathBuf,
    lock: PathBuf,
    failure: PathBuf,
}

impl Place {
    pub fn new(study: &Path, hash: &str) -> Self {
        Place {
            run: study.join(hash),
            lock: study.join("locks").join(hash),
            failure: study.join("failed").join(format!("{hash}.json")),
        }
    }

    /// Held while a cell is worked on; `None` if another process does, be it `tiered train --resume`.
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

    /// Only for who holds the lock: looking takes the run's own one for a moment.
    fn is_trained_elsewhere(&self) -> bool {
        let lock = self.run.join("lock");
        lock.exists() && matches!(Lock::try_take(&lock), Ok(None))
    }

    /// Looking takes the lock for a moment.
    fn is_held(&self) -> bool {
        self.lock.exists() && matches!(Lock::try_take(&self.lock), Ok(None))
    }

    pub fn state(&self, cell: &Cell, sets: &[EvaluationSet]) -> Result<State> {
        if !self.run.exists() {
            return Ok(if self.is_held() { State::Held } else { State::Waiting });
        }
        let evaluated = sets.iter().filter(|set| self.is_evaluated(set, None)).count();
        Ok(match self.is_trained(cell)? {
            true if evaluated == sets.len() => State::Done,
            _ if self.is_held() => State::Held,
            true => State::Trained { evaluated },
            false => State::Begun { epochs: self.epochs() },
        })
    }

    /// Epochs that are over.
    fn epochs(&self) -> usize {
        fs::read_to_string(self.run.join("metrics.jsonl")).map_or(0, |text| text.lines().count())
    }

    /// Whether the training of the cell came to its end.
    ///
    /// # Errors
    /// `Data` if what says so can't be read.
    pub fn is_trained(&self, cell: &Cell) -> Result<bool> {
        let record: Option<CellRecord> = read(&self.record())?;
        Ok(record.is_some_and(|record| record.epochs == cell.config.train.epochs))
    }

    pub fn note_trained(&self, study: &str, cell: &Cell) -> Result<()> {
        let record =
            CellRecord { study: study.to_owned(), values: cell.values.clone(), epochs: cell.config.train.epochs };
        durable::replace(&self.record(), &json_bytes(&record)?)
    }

    /// Removes what training could go on from. Nothing will: another number of epochs is another cell.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove_checkpoints(&self) -> Result<()> {
        let checkpoints = self.run.join("checkpoints");
        if !checkpoints.exists() {
            return Ok(());
        }
        for folder in fs::read_dir(&checkpoints).map_err(|error| Error::reading(&checkpoints, &error))? {
            durable::remove_folder(&folder.map_err(|error| Error::reading(&checkpoints, &error))?.path())?;
        }
        durable::remove_folder(&checkpoints)
    }

    fn record(&self) -> PathBuf {
        self.run.join("cell.json")
    }

    /// Whether the set was evaluated as it is now; its file is compared where its SHA-256 is given.
    pub fn is_evaluated(&self, set: &EvaluationSet, sha256: Option<&str>) -> bool {
        let record = read::<SetRecord>(&self.evaluation(set).join(SetRecord::FILE)).ok().flatten();
        record.is_some_and(|record| record.is_of(set, sha256))
    }

    pub fn evaluation(&self, set: &EvaluationSet) -> PathBuf {
        self.run.join("eval").join(&set.name)
    }

    pub fn folder(&self) -> Result<RunFolder> {
        RunFolder::open(&self.run)
    }

    pub fn failure(&self) -> Option<Failure> {
        read(&self.failure).ok().flatten()
    }

    /// Keeps what the cell ended with, unless it only was stopped.
    pub fn note<T>(&self, ended: &Result<T>) -> Result<()> {
        match ended {
            Err(error) if error.kind != ErrorKind::Resumable => self.note_failure(error),
            _ if self.failure.exists() => durable::remove_file(&self.failure),
            _ => Ok(()),
        }
    }

    fn note_failure(&self, error: &Error) -> Result<()> {
        durable::create_folder(self.failure.parent().expect("it is in a folder"))?;
        let failure = Failure { code: error.kind as u8, message: error.message.clone() };
        durable::replace(&self.failure, &json_bytes(&failure)?)
    }
}

/// A JSON file of ours; `None` if it is not there.
fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::data(format!("{}: {error}; remove it, and run the study again", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::reading(path, &error)),
    }
}
