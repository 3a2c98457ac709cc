//! What an earlier start of a run left, and whether it fits the current inputs and machine.

use super::folder::{CheckpointKind, RunFolder};
use super::inputs::ENCODER_CONFIG;
use super::save::CONFIG;
use super::seen::chosen_on;
use crate::checkpoint::{Environment, Inputs, LatestCheckpoint, SeenSource};
use crate::config::Config;
use crate::durable::{FileDigest, Lock, remove_leftovers, sha256};
use crate::error::{Error, Result};
use crate::model::pretrained::WEIGHTS;
use crate::say::quoted;
use crate::tokenizer::tokenizer_json;
use std::path::{Path, PathBuf};

/// The weights alone do not say where the training was. A sweep removes the checkpoints of a run that has finished.
fn without_checkpoints(folder: &RunFolder) -> Error {
    let run = folder.path().display();
    let remedy = match folder.weights_file(CheckpointKind::Best).exists() {
        true => format!("start another run from its weights with --set init_from={}", quoted(&run)),
        false => "start another run".to_owned(),
    };
    Error::data(format!("{run}: has weights, but no checkpoint any more, so it can't be resumed; {remedy}"))
}

/// A run that was started before. While this exists, no other process can resume it.
pub struct Resumed {
    pub folder: RunFolder,
    pub lock: Lock,
    /// Its newest intact checkpoint; `None` if it was stopped before the first one.
    pub found: Option<LatestCheckpoint>,
    /// What it has been made from, and the config of that.
    inputs: Inputs,
    config: Config,
}

impl Resumed {
    /// Finds the run in a folder; returns it with its config and with warnings. Of the folder only the lock is written.
    ///
    /// # Errors
    /// `MissingInput` if it is not a run folder; `CantCreate` if another process trains it; `Data` if it has
    /// checkpoints, but none is intact.
    pub fn find(path: &Path) -> Result<(Self, Config, Vec<String>)> {
        let folder = RunFolder::open(path)?;
        if folder.average()?.is_some() {
            let message = format!("{}: is the average of other runs and can't be resumed", path.display());
            return Err(Error::config(format!("{message}; start a new run with init_from")));
        }
        let lock = folder.lock()?;
        let found = folder.checkpoints().newest()?;
        if found.is_none() && folder.has_weights() {
            return Err(without_checkpoints(&folder));
        }
        let (mut inputs, config_file) = match &found {
            Some(found) => (found.checkpoint.manifest.inputs.clone(), found.checkpoint.file(CONFIG)),
            None => (folder.required_inputs()?, folder.config_file()),
        };
        let config = Config::open(&config_file, &[])?;
        let mut warnings = found.as_ref().map_or(Vec::new(), skipped);
        // `model calibrate` notes there what it has chosen on since the checkpoint.
        match folder.inputs() {
            Ok(noted) => inputs.add_earlier(noted.map_or(Vec::new(), |noted| noted.earlier)),
            Err(error) => warnings.push(format!("{error}; what was chosen on other dev pairs since is forgotten")),
        }
        Ok((Resumed { folder, lock, found, inputs, config: config.clone() }, config, warnings))
    }

    /// Removes temporary files of a program that was killed while it replaced files.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn remove_leftovers(&self) -> Result<()> {
        let path = self.folder.path();
        for folder in [path.to_owned(), path.join("best"), path.join("last")] {
            if folder.exists() {
                remove_leftovers(&folder)?;
            }
        }
        Ok(())
    }

    /// The weights to resume from.
    pub fn weights(&self) -> Option<PathBuf> {
        self.found.as_ref().map(|found| found.checkpoint.file(WEIGHTS))
    }

    pub fn beginning(&self) -> String {
        match &self.found {
            Some(LatestCheckpoint { checkpoint, .. }) => {
                format!("resumes from {}, after step {}", checkpoint.folder.display(), checkpoint.manifest.step)
            }
            None => format!("{}: has no checkpoint yet; starts at its first step", self.folder.path().display()),
        }
    }

    /// The number of pairs that the run was started with.
    ///
    /// # Errors
    /// `Config` if another number is wanted now.
    pub fn limit(&self, wanted: Option<usize>) -> Result<Option<usize>> {
        match (self.inputs.limit, wanted) {
            (then, None) => Ok(then),
            (then, now) if then == now => Ok(then),
            (then, Some(now)) => {
                let then = then.map_or("without --limit".to_owned(), |then| format!("with --limit {then}"));
                Err(Error::config(format!("the run was started {then}; it can't be resumed with --limit {now}")))
            }
        }
    }

    /// What was seen earlier, also of dev pairs that are not those of the run any more.
    pub fn earlier(&self, config: &Config, now: &Inputs) -> Vec<SeenSource> {
        let mut inputs = self.inputs.clone();
        if self.had_other_dev(config, now) {
            inputs.add_earlier(chosen_on(&self.config, &self.inputs));
        }
        inputs.earlier
    }

    /// Whether the epochs until now were chosen on other dev pairs than those to come.
    pub fn had_other_dev(&self, config: &Config, now: &Inputs) -> bool {
        chosen_on(&self.config, &self.inputs) != chosen_on(config, now)
    }

    /// The SHA-256 of the weights with which the run was started.
    pub fn initial_weights(&self) -> Option<String> {
        self.inputs.initial_weights.clone()
    }

    /// # Errors
    /// `Data` if the encoder in this folder is not the one with which the run was started; `MissingInput`, `Io`.
    pub fn require_encoder(&self, folder: &Path) -> Result<()> {
        let is_same = sha256(&tokenizer_json(folder)?) == self.inputs.tokenizer
            && FileDigest::of_file(&folder.join(ENCODER_CONFIG))?.sha256 == self.inputs.encoder_config;
        match is_same {
            true => Ok(()),
            false => Err(Error::data(format!(
                "{}: is not the encoder with which {} was started (another SHA-256 of tokenizer.json or config.json); name \
                 that one in encoder.path, or start another run",
                folder.display(),
                self.folder.path().display()
            ))),
        }
    }

    /// Warnings about inputs or a machine that differ from the run's.
    ///
    /// # Errors
    /// `Data` if the training pairs, the tokenizer or the encoder's config have changed.
    pub fn compare(&self, config: &Config, inputs: &Inputs, machine: &Environment) -> Result<Vec<String>> {
        let then = &self.inputs;
        let sources = config.data.train.0.iter().zip(then.train.split(' ').zip(inputs.train.split(' ')));
        let other = sources.filter(|(_, (then, now))| then != now).map(|(source, _)| source.name());
        let train = format!("data.train ({})", other.collect::<Vec<_>>().join(", "));
        let refused = [
            (train.as_str(), then.train != inputs.train),
            ("a file of data.train.soft_labels", then.soft_labels != inputs.soft_labels),
            ("encoder/tokenizer.json of the run", then.tokenizer != inputs.tokenizer),
            ("encoder/config.json of the run", then.encoder_config != inputs.encoder_config),
        ];
        if let Some((what, _)) = refused.into_iter().find(|(_, differs)| *differs) {
            let message = format!(
                "{}: {what} has changed since the run was started (another SHA-256); restore it, or start another run",
                self.folder.path().display()
            );
            return Err(Error::data(message));
        }
        let mut warnings = Vec::new();
        if self.had_other_dev(config, inputs) {
            warnings.push(
                "data.dev has other pairs than before; if another epoch is trained, it replaces the best one"
                    .to_owned(),
            );
        }
        if let Some(found) = &self.found {
            let differences = found.checkpoint.manifest.made_with.differences(machine);
            warnings.extend(differences.into_iter().map(|difference| {
                let masks = if difference.starts_with("device: ") { "dropout and " } else { "" };
                format!("{difference}; {masks}the last digits of the weights may differ")
            }));
        }
        Ok(warnings)
    }
}

fn skipped(found: &LatestCheckpoint) -> Vec<String> {
    let name = &found.checkpoint.name;
    let skipped = found.skipped.iter();
    let mut warnings: Vec<String> =
        skipped.map(|skipped| format!("{}; {} is skipped, and {name} is used", skipped.why, skipped.name)).collect();
    if found.best_is_lost {
        let best = found.checkpoint.manifest.best.as_deref().unwrap_or_default();
        warnings.push(format!(
            "the weights of the best epoch ({best}) are lost; the best is chosen among later epochs, if any"
        ));
    }
    warnings
}
