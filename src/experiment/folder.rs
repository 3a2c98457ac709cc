//! The folder of a run. It can be moved, and evaluated without any other file.
//!
//! ```text
//! RUN/config.toml              the config with all defaults
//! RUN/model.json               shapes and names of the model
//! RUN/run.json                 SHA-256 of the files that training read
//! RUN/origin.json              the folder to which relative paths of the config refer
//! RUN/average.json             the runs whose weights were averaged, of a run that is their mean
//! RUN/encoder/                 the encoder's config.json and tokenizer.json (built if it had none)
//! RUN/README.md                the model card
//! RUN/metrics.jsonl            one line for each epoch
//! RUN/metrics.csv              one row for each step and each epoch
//! RUN/events.out.tfevents...   the same for TensorBoard
//! RUN/events.jsonl             starts, stops and failures
//! RUN/checkpoints/step-STEP/   all that is needed to resume: weights, moments, position, manifest
//! RUN/best/model.safetensors   weights of the best epoch (the encoder's under Hugging Face's names)
//! RUN/best/decode.json         temperature and state threshold, chosen on dev for these weights
//! RUN/last/model.safetensors   weights of the newest checkpoint
//! RUN/eval/NAME/               predictions.jsonl and report.json of an evaluation
//! RUN/scorings.jsonl           one line for each scoring of pairs that training has not seen
//! RUN/lock                     held by the process that trains
//! ```

use super::json::json_bytes;
use super::origin::Origin;
use crate::calibrate::Calibrated;
use crate::checkpoint::{CheckpointStore, Inputs};
use crate::config::Config;
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::model::pretrained::WEIGHTS;
use crate::model::{EncoderConfig, ModelConfig};
use crate::say::quoted;
use crate::schema;
use crate::untrusted::{self, MAX_CONFIG, json_error};
use std::fs;
use std::path::{Path, PathBuf};

/// The refusal of a folder for a new run.
pub(super) fn exists_already(path: &Path) -> Error {
    let remedy = "resume it with --resume, choose another folder with --output, or remove it";
    Error::new(ErrorKind::CantCreate, format!("{}: exists already; {remedy}", path.display()))
}

/// Which of the saved weights: the best or the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs)] // comments of variants become help text
pub enum CheckpointKind {
    Best,
    Last,
}

impl CheckpointKind {
    const fn name(self) -> &'static str {
        match self {
            CheckpointKind::Best => "best",
            CheckpointKind::Last => "last",
        }
    }

    /// The suffix in the name of an evaluation of these weights.
    pub const fn suffix(self) -> &'static str {
        match self {
            CheckpointKind::Best => "",
            CheckpointKind::Last => "-last",
        }
    }
}

/// The files of the encoder, other than its weights, that a run folder keeps.
pub struct EncoderFiles {
    /// The folder of its `config.json`.
    pub folder: PathBuf,
    /// The bytes of its `tokenizer.json`.
    pub tokenizer: Vec<u8>,
}

/// The folder of a run: where its files are, and how they are read and written.
#[derive(Clone)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates the folder with all that is known before training: in a temporary folder, then by one rename. Its lock
    /// is held.
    ///
    /// # Errors
    /// `CantCreate`, also if another process is creating it; `Io`.
    pub fn create(
        path: &Path,
        config: &Config,
        model: &ModelConfig,
        inputs: &Inputs,
        encoder: &EncoderFiles,
    ) -> Result<(Self, Lock)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = RunFolder { path: path.with_file_name(format!(".{name}.part")) };
        for folder in ["best", "last", "encoder", "checkpoints"] {
            durable::create_folder(&part.path.join(folder))?;
        }
        let lock = part.lock()?;
        let made = part.fill(path, config, model, inputs, encoder).and_then(|()| part.place(path));
        if made.is_err() && part.path.exists() {
            // Frees the space. If this fails too, the error that is returned still says what is wrong.
            let _ = fs::remove_dir_all(&part.path);
        }
        made.map(|()| (RunFolder { path: path.to_owned() }, lock))
    }

    /// Writes all that is known before training. `path` is where the folder will be.
    fn fill(
        &self,
        path: &Path,
        config: &Config,
        model: &ModelConfig,
        inputs: &Inputs,
        encoder: &EncoderFiles,
    ) -> Result<()> {
        self.write_config(config)?;
        durable::write(&self.path.join("model.json"), &json_bytes(model)?)?;
        durable::write(&self.inputs_file(), &json_bytes(inputs)?)?;
        let source = encoder.folder.join("config.json");
        let config = fs::read(&source).map_err(|error| Error::reading(&source, &error))?;
        durable::write(&self.path.join("encoder/config.json"), &config)?;
        durable::write(&self.tokenizer_file(), &encoder.tokenizer)?;
        // A path that is not UTF-8 can't be written.
        if let Some(origin) = Origin::of(path).ok().and_then(|origin| json_bytes(&origin).ok()) {
            durable::write(&self.path.join(Origin::FILE), &origin)?;
        }
        durable::sync_folder(&self.path.join("encoder"))?;
        durable::sync_folder(&self.path)
    }

    /// Renames this folder, which is complete.
    ///
    /// # Errors
    /// `CantCreate` if another process has made a run there meanwhile; `Io`.
    fn place(&self, path: &Path) -> Result<()> {
        let is_taken = |error| if path.join("model.json").exists() { exists_already(path) } else { error };
        durable::rename(&self.path, path).map_err(is_taken)?;
        durable::sync_parent(path)
    }

    /// Opens an existing run.
    ///
    /// # Errors
    /// `MissingInput` if it is not a run folder.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.join("model.json").is_file() {
            let message =
                format!("{}: not a run folder (it has no model.json); `tiered train` makes one", path.display());
            return Err(Error::new(ErrorKind::MissingInput, message));
        }
        Ok(RunFolder { path: path.to_owned() })
    }

    /// Locks the run. The lock is held while the run is trained.
    ///
    /// # Errors
    /// `CantCreate` if another process trains here.
    pub fn lock(&self) -> Result<Lock> {
        Lock::take(&self.path.join("lock"))
    }

    /// The path of the folder, as it was opened or created.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder with the encoder's config and tokenizer; its weights are elsewhere.
    pub fn encoder_folder(&self) -> PathBuf {
        self.path.join("encoder")
    }

    /// The store of the run's checkpoints.
    pub fn checkpoints(&self) -> CheckpointStore {
        CheckpointStore::new(self.path.join("checkpoints"))
    }

    fn inputs_file(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// Replaces what the run is made from: a run that is resumed may have other dev pairs.
    pub fn replace_inputs(&self, inputs: &Inputs) -> Result<()> {
        durable::replace(&self.inputs_file(), &json_bytes(inputs)?)
    }

    /// What the run is made from; `None` for a run from before checkpoints existed.
    ///
    /// # Errors
    /// `Io`, `Data`.
    pub fn inputs(&self) -> Result<Option<Inputs>> {
        durable::read_document(&self.inputs_file())
    }

    /// Like [`RunFolder::inputs`], for a run that is resumed.
    ///
    /// # Errors
    /// Like [`RunFolder::inputs`]; `MissingInput`.
    pub fn required_inputs(&self) -> Result<Inputs> {
        let missing = || Error::reading(&self.inputs_file(), &std::io::ErrorKind::NotFound.into());
        self.inputs()?.ok_or_else(missing)
    }

    /// The path of `config.toml`, the config with all defaults.
    pub fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The path of the encoder's `tokenizer.json`; it was built if the encoder had none.
    pub fn tokenizer_file(&self) -> PathBuf {
        self.path.join("encoder/tokenizer.json")
    }

    /// The path of the best or last `model.safetensors`; there may be none yet.
    pub fn weights_file(&self, which: CheckpointKind) -> PathBuf {
        self.path.join(which.name()).join(WEIGHTS)
    }

    /// The path of the best or last `model.safetensors`, to be read.
    ///
    /// # Errors
    /// `MissingInput`, with the remedies, if the run was stopped before it had these weights.
    pub fn required_weights(&self, which: CheckpointKind) -> Result<PathBuf> {
        let file = self.weights_file(which);
        let is_there = |which| self.weights_file(which).symlink_metadata().is_ok();
        if is_there(which) || self.has_ended() {
            return Ok(file);
        }
        let reason = match which {
            CheckpointKind::Best if self.epochs()?.is_empty() => "no epoch of this run has ended yet",
            CheckpointKind::Best => "no epoch since its last resumption has ended yet",
            CheckpointKind::Last => "this run has no checkpoint yet",
        };
        let newest = match which {
            CheckpointKind::Best if is_there(CheckpointKind::Last) => {
                ", or use its newest checkpoint: `eval`, `predict`, `model calibrate` and `model export` take --weights last"
            }
            _ => "",
        };
        let message = format!(
            "{}: there are no such weights, since {reason}; go on with `tiered train --resume {}`{newest}",
            file.display(),
            quoted(self.path.display())
        );
        Err(Error::new(ErrorKind::MissingInput, message))
    }

    /// The calibration of these weights; `None` if there is none.
    ///
    /// # Errors
    /// `Config` if the file is not one that [`RunFolder::save_calibrated`] wrote.
    pub fn calibrated(&self, which: CheckpointKind) -> Result<Option<Calibrated>> {
        let path = self.decode_file(which);
        let bytes = untrusted::read_if_there(&path, MAX_CONFIG).map_err(|error| Error::reading(&path, &error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let wrong = |problem: String| Error::config(format!("{}: {problem}", path.display()));
        let remedy = "create it again with `tiered model calibrate`, or remove it";
        schema::check(&bytes).map_err(|error| wrong(json_error(&error)).caused_by(error))?;
        let calibrated: Calibrated =
            serde_json::from_slice(&bytes).map_err(|error| wrong(format!("{error}; {remedy}")))?;
        match calibrated.temperature > 0. && calibrated.temperature.is_finite() {
            true => Ok(Some(calibrated)),
            false => Err(wrong(format!("temperature must be above 0; {remedy}"))),
        }
    }

    /// Saves the calibration beside its weights.
    pub fn save_calibrated(&self, which: CheckpointKind, calibrated: &Calibrated) -> Result<()> {
        let path = self.decode_file(which);
        durable::replace(&path, &[json_bytes(calibrated)?, b"\n".to_vec()].concat())
    }

    /// The path of the calibration of these weights; there may be none.
    pub fn decode_file(&self, which: CheckpointKind) -> PathBuf {
        self.path.join(which.name()).join("decode.json")
    }

    /// The model's shapes.
    pub fn model_config(&self) -> Result<ModelConfig> {
        let path = self.path.join("model.json");
        let bytes = untrusted::read_regular(&path, MAX_CONFIG).map_err(|error| Error::reading(&path, &error))?;
        let remedy = "take it from a copy of the run, or from another run with the same [model] and encoder";
        let wrong = |problem: String| Error::config(format!("{}: {problem}; {remedy}", path.display()));
        let mut config: ModelConfig =
            schema::from_slice(&bytes).map_err(|error| wrong(json_error(&error)).caused_by(error))?;
        config.encoder = EncoderConfig::open(&self.path.join("encoder/config.json"))?;
        config.validate().map_err(wrong)?;
        Ok(config)
    }

    /// Whether it has weights of some epoch.
    pub fn has_weights(&self) -> bool {
        [CheckpointKind::Best, CheckpointKind::Last].into_iter().any(|which| self.weights_file(which).exists())
    }

    /// Writes the config with every default.
    pub fn write_config(&self, config: &Config) -> Result<()> {
        let text = config_text(config)?;
        let is_there = fs::read(self.config_file()).is_ok_and(|bytes| bytes == text.as_bytes());
        if is_there { Ok(()) } else { durable::replace(&self.config_file(), text.as_bytes()) }
    }

    /// Makes `best` or `last` the weights in this file. The calibration stays if they are these weights already.
    pub fn keep(&self, which: CheckpointKind, weights: &Path) -> Result<()> {
        let kept = self.weights_file(which);
        if !durable::is_same_file(weights, &kept).map_err(|error| Error::reading(weights, &error))? {
            self.forget_calibrated(which)?;
        }
        let folder = self.path.join(which.name());
        if !folder.exists() {
            durable::create_folder(&folder)?; // a run may have been copied without it
        }
        durable::link(weights, &kept)
    }

    /// Puts the best weights aside if the run no longer has the epoch that they are from. Nothing uses them from then on.
    pub fn keep_no_best(&self) -> Result<()> {
        let best = self.weights_file(CheckpointKind::Best);
        if !best.exists() {
            return Ok(());
        }
        self.forget_calibrated(CheckpointKind::Best)?;
        durable::rename(&best, &best.with_file_name("lost.safetensors"))
    }

    /// The path of `README.md`, the model card.
    pub fn card_file(&self) -> PathBuf {
        self.path.join("README.md")
    }

    /// Removes the calibration of earlier weights: it does not apply to new ones.
    fn forget_calibrated(&self, which: CheckpointKind) -> Result<()> {
        let path = self.decode_file(which);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::writing(&path, &error)),
            _ => Ok(()),
        }
    }
}

/// The config as TOML.
pub fn config_text(config: &Config) -> Result<String> {
    toml::to_string(config)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the config can't be written: {error}")))
}
