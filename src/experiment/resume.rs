//! What a run that was begun left behind, and whether it goes with what there is now.

use super::folder::RunFolder;
use super::save::CONFIG;
use crate::checkpoint::{Found, Inputs, MadeWith};
use crate::config::Config;
use crate::durable::{Lock, remove_leftovers};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A run that was begun; no other process can go on with it.
pub struct Resumed {
    pub folder: RunFolder,
    _lock: Lock,
    /// Its newest good checkpoint; none if it was stopped before the first.
    pub found: Option<Found>,
    inputs: Inputs,
}

impl Resumed {
    /// The run in a folder, the config it was made with, and what is to be said about it.
    ///
    /// # Errors
    /// `MissingInput` if it is no run folder; `CantCreate` if another process trains it; `Data` if it has checkpoints
    /// and none can be trusted.
    pub fn find(path: &Path) -> Result<(Self, Config, Vec<String>)> {
        let folder = RunFolder::open(path)?;
        let lock = folder.lock()?;
        for folder in [path.to_owned(), path.join("best"), path.join("last")] {
            remove_leftovers(&folder)?;
        }
        let found = folder.checkpoints().newest()?;
        let (inputs, config_file) = match &found {
            Some(found) => (found.checkpoint.manifest.inputs.clone(), found.checkpoint.file(CONFIG)),
            None => (folder.required_inputs()?, folder.config_file()),
        };
        let config = Config::open(&config_file, &[])?;
        let warnings = found.as_ref().map_or(Vec::new(), passed_over);
        Ok((Resumed { folder, _lock: lock, found, inputs }, config, warnings))
    }

    /// The weights to go on from.
    pub fn weights(&self) -> Option<PathBuf> {
        self.found.as_ref().map(|found| found.checkpoint.file(super::network::WEIGHTS))
    }

    pub fn beginning(&self) -> String {
        match &self.found {
            Some(Found { checkpoint, .. }) => {
                format!("resumes from {}, after step {}", checkpoint.folder.display(), checkpoint.manifest.step)
            }
            None => format!("{}: has no checkpoint yet; begins at its first step", self.folder.path().display()),
        }
    }

    /// How many pairs the run was begun with.
    ///
    /// # Errors
    /// `Config` if it is now to be another number.
    pub fn limit(&self, wanted: Option<usize>) -> Result<Option<usize>> {
        match (self.inputs.limit, wanted) {
            (then, None) => Ok(then),
            (then, now) if then == now => Ok(then),
            (then, Some(now)) => {
                let then = then.map_or("without --limit".to_owned(), |then| format!("with --limit {then}"));
                Err(Error::config(format!("the run was begun {then}; it can't be resumed with --limit {now}")))
            }
        }
    }

    /// What is to be said about inputs or a machine that are not those of the run.
    ///
    /// # Errors
    /// `Data` if the training pairs or the tokenizer are others.
    pub fn compare(&self, inputs: &Inputs, machine: &MadeWith) -> Result<Vec<String>> {
        let then = &self.inputs;
        let refused = [
            ("the file of data.train", then.train != inputs.train),
            ("encoder/tokenizer.json of the run", then.tokenizer != inputs.tokenizer),
            ("encoder/config.json of the run", then.encoder_config != inputs.encoder_config),
        ];
        if let Some((what, _)) = refused.into_iter().find(|(_, differs)| *differs) {
            let message = format!(
                "{}: {what} has changed since the run was begun (another SHA-256); restore it, or start another run",
                self.folder.path().display()
            );
            return Err(Error::data(message));
        }
        let mut warnings = Vec::new();
        if then.dev != inputs.dev {
            warnings.push("the file of data.dev has changed; epochs before and after are compared on it".to_owned());
        }
        if let Some(found) = &self.found {
            let differences = found.checkpoint.manifest.made_with.differences(machine);
            let end = "the weights may end otherwise in their last digits";
            warnings.extend(differences.into_iter().map(|difference| format!("{difference}; {end}")));
        }
        Ok(warnings)
    }
}

fn passed_over(found: &Found) -> Vec<String> {
    let name = &found.checkpoint.name;
    let passed = found.passed_over.iter();
    let mut warnings: Vec<String> =
        passed.map(|passed| format!("{}; {} is passed over for {name}", passed.why, passed.name)).collect();
    if found.best_is_lost {
        let best = found.checkpoint.manifest.best.as_deref().unwrap_or_default();
        warnings
            .push(format!("the weights of the best epoch ({best}) are lost; the best is chosen among those to come"));
    }
    warnings
}
