//! Of which weights an evaluation is: `weights.json` beside its predictions.

use super::folder::{CheckpointKind, RunFolder};
use super::json::json_bytes;
use super::run::TrainedRun;
use crate::durable::{self, Digests, FileDigest};
use crate::error::{Error, Result};
use crate::schema;
use crate::train::{EpochRecord, Progress};
use crate::untrusted::{self, MAX_CONFIG};
use serde::{Deserialize, Serialize};
use std::io::Seek;

#[derive(Serialize, Deserialize)]
struct Weights {
    /// `None` before the end of the first epoch.
    epoch: Option<u64>,
    /// Of the file. `None` in evaluations of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

pub(super) const WEIGHTS: &str = "weights.json";

/// Of weights that evaluations are compared with: a run may have many evaluations, and large weights.
static DIGESTS: Digests = Digests::new();

impl TrainedRun {
    /// Writes of which weights an evaluation is.
    ///
    /// # Errors
    /// `Refused` if the name leads out of the folder; `CantCreate`, `Io`.
    pub(super) fn note_weights(&self, evaluation: &str) -> Result<()> {
        let weights = Weights { epoch: self.epoch, sha256: Some(self.weights_digest()?) };
        self.folder.write_evaluation(evaluation, WEIGHTS, &String::from_utf8_lossy(&json_bytes(&weights)?))
    }

    /// The SHA-256 of the weights that the model has, whatever the run folder has by now.
    pub(super) fn weights_digest(&self) -> Result<String> {
        let mut file = &self.weights;
        let digest = file.rewind().and_then(|()| FileDigest::of_open(&mut file));
        Ok(digest.map_err(|error| Error::reading(&self.folder.weights_file(self.which), &error))?.sha256)
    }
}

impl RunFolder {
    /// Whether an evaluation is of the weights that the run has now. Where it keeps no weights, the epoch tells.
    pub(super) fn is_of_present_weights(&self, evaluation: &str, which: CheckpointKind) -> Result<bool> {
        let path = self.evaluated(evaluation, WEIGHTS)?;
        let then = untrusted::read_if_there(&path, MAX_CONFIG).map_err(|error| Error::reading(&path, &error))?;
        let Some(then) = then.and_then(|bytes| schema::from_slice::<Weights>(&bytes).ok()) else { return Ok(false) };
        let weights = self.weights_file(which);
        match then.sha256 {
            _ if !weights.exists() => Ok(then.epoch == self.epoch_of(which)?),
            Some(sha256) => Ok(DIGESTS.of(&weights)? == sha256),
            None => Ok(false),
        }
    }

    /// Removes a file of an evaluation, if it is there.
    pub(super) fn forget_evaluation(&self, evaluation: &str, file: &str) -> Result<()> {
        let path = self.evaluation_file(evaluation, file)?;
        if path.exists() { durable::remove_file(&path) } else { Ok(()) }
    }

    /// The epoch of these weights. Epochs that ended after the newest checkpoint have none.
    ///
    /// # Errors
    /// `Data` or `Io` if the records of the epochs, or the folder of checkpoints, can't be read.
    pub fn epoch_of(&self, which: CheckpointKind) -> Result<Option<u64>> {
        let (mut epochs, saved) = (self.epochs()?, self.checkpoints().newest_step()?);
        epochs.retain(|epoch| saved.is_none_or(|step| epoch.step <= step));
        Ok(match which {
            CheckpointKind::Best => best_epoch(epochs),
            CheckpointKind::Last => epochs.last().map(|epoch| epoch.epoch),
        })
    }
}

/// The epoch whose weights are the best.
pub(super) fn best_epoch(epochs: Vec<EpochRecord>) -> Option<u64> {
    let mut progress = Progress::default();
    for epoch in epochs {
        progress.finish_epoch(epoch);
    }
    progress.best
}
