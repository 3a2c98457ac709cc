//! The runs that are loaded, on a thread of their own.

use crate::decode::Decode;
use crate::error::{Error, ErrorKind, Result, lack_of_memory};
use crate::experiment::{CheckpointKind, TrainedRun};
use crate::machine::ComputeChoice;
use serde::Serialize;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use tokio::sync::oneshot;

/// Requests that may wait for the models.
const WAITING: usize = 64;

/// What waits for the models.
type Job = Box<dyn FnOnce(&[TrainedRun]) + Send>;

/// A run as the page lists it.
#[derive(Debug, Clone, Serialize)]
pub struct Model {
    /// The name of its folder; the whole path if two folders have one name.
    pub name: String,
    /// Whether it judges a single story.
    pub single_story: bool,
    /// How it chooses the sentences in conflict where nobody says otherwise.
    pub decode: Decode,
    /// Whether its training has come to its end.
    pub has_ended: bool,
}

/// The runs, computing one request after another: one computation takes all cores.
#[derive(Clone)]
pub struct Models {
    known: Arc<[Model]>,
    jobs: SyncSender<Job>,
}

impl Models {
    /// Loads runs.
    ///
    /// # Errors
    /// Those of [`TrainedRun::open`]; `Unavailable` if the thread can't be started.
    pub fn open(folders: &[PathBuf], weights: CheckpointKind, choice: &ComputeChoice) -> Result<Self> {
        let (jobs, waiting) = sync_channel(WAITING);
        let (loaded, loading) = channel();
        let mut seen = BTreeSet::new();
        let is_new = |folder: &&PathBuf| seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()));
        let (folders, choice) = (folders.iter().filter(is_new).cloned().collect::<Vec<_>>(), choice.clone());
        let work = move || {
            let open = |folder: &PathBuf| TrainedRun::open(folder, weights, &choice);
            match folders.iter().map(open).collect::<Result<Vec<_>>>() {
                Ok(runs) => {
                    let known = names(&folders).into_iter().zip(&runs).map(|(name, run)| Model::of(name, run));
                    if loaded.send(Ok(known.collect::<Vec<_>>())).is_ok() {
                        compute(&runs, &waiting);
                    }
                }
                Err(error) => drop(loaded.send(Err(error))), // who waits for it is there, or nobody minds
            }
        };
        let failed = |why: &str| Error::new(ErrorKind::Unavailable, format!("the runs can't be loaded: {why}"));
        thread::Builder::new().name("models".into()).spawn(work).map_err(|error| failed(&error.to_string()))?;
        let known = loading.recv().map_err(|_| failed("their thread ended; see the message above"))??;
        Ok(Models { known: known.into(), jobs })
    }

    /// The runs, in the order in which they were named.
    pub fn known(&self) -> &[Model] {
        &self.known
    }

    /// Does something with a run, the first one if none is named. What nobody waits for any more is not begun.
    ///
    /// # Errors
    /// `MissingInput` if there is no such run; `Unavailable` if too much waits; those of the work.
    pub async fn with<T: Send + 'static>(
        &self,
        name: Option<&str>,
        work: impl FnOnce(&TrainedRun) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let number = self.number(name)?;
        let (reply, answer) = oneshot::channel();
        let job = move |runs: &[TrainedRun]| {
            if !reply.is_closed() {
                let done = catch_unwind(AssertUnwindSafe(|| work(&runs[number])));
                // Nobody may wait for it any more.
                let _ = reply.send(done.unwrap_or_else(|panic| Err(failed(&*panic))));
            }
        };
        self.jobs.try_send(Box::new(job)).map_err(|error| match error {
            TrySendError::Full(_) => {
                Error::new(ErrorKind::Unavailable, "too many requests wait for the runs; try again")
            }
            TrySendError::Disconnected(_) => gone(),
        })?;
        answer.await.map_err(|_| gone())?
    }

    fn number(&self, name: Option<&str>) -> Result<usize> {
        let missing = |message: String| Error::new(ErrorKind::MissingInput, message);
        match name {
            _ if self.known.is_empty() => {
                Err(missing("no run is loaded; name a run folder: tiered app RUN".to_owned()))
            }
            None => Ok(0),
            Some(name) => {
                let names: Vec<_> = self.known.iter().map(|model| model.name.as_str()).collect();
                let number = names.iter().position(|known| *known == name);
                number.ok_or_else(|| missing(format!("no run {name:?} is loaded; there are {}", names.join(", "))))
            }
        }
    }
}

impl Model {
    fn of(name: String, run: &TrainedRun) -> Self {
        Model {
            name,
            single_story: run.require_single_story().is_ok(),
            decode: run.own_decode(),
            has_ended: run.folder.has_ended(),
        }
    }
}

fn compute(runs: &[TrainedRun], waiting: &Receiver<Job>) {
    for job in waiting {
        job(runs);
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::Internal, "the thread of the runs has ended; start tiered app again")
}

fn failed(panic: &(dyn std::any::Any + Send)) -> Error {
    match lack_of_memory(panic) {
        Some(what) => Error::new(ErrorKind::Unavailable, format!("out of memory ({what}); ask about less text")),
        None => Error::new(ErrorKind::Internal, "the run failed; the terminal of tiered app says why"),
    }
}

/// A short name for each folder, no two alike.
fn names(folders: &[PathBuf]) -> Vec<String> {
    let short = |folder: &Path| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        real.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
    };
    let names: Vec<_> = folders.iter().map(|folder| short(folder)).collect();
    let is_unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let named = names.iter().zip(folders);
    named.map(|(name, path)| if is_unique(name) { name.clone() } else { path.display().to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_where_that_is_enough() {
        let folders = ["runs/a", "runs/b", "other/b"].map(PathBuf::from);
        assert_eq!(names(&folders), ["a", "runs/b", "other/b"]);
    }
}
