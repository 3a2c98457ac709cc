//! The folder of a run. It can be moved, and evaluated without any other file.
//!
//! ```text
//! RUN/config.toml              the config with all defaults
//! RUN/model.json               shapes and names of the model
//! RUN/run.json                 SHA-256 of the files that training read
//! RUN/origin.json              the folder to which relative paths of the config refer
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
//! RUN/lock                     held by the process that trains
//! ```

use super::origin::Origin;
use crate::calibrate::Calibrated;
use crate::checkpoint::{CheckpointStore, Inputs};
use crate::config::Config;
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::model::pretrained::WEIGHTS;
use crate::model::{EncoderConfig, ModelConfig};
use crate::report::Report;
use crate::say::aside;
use crate::schema::{self, SchemaVersion};
use crate::tensorboard::{self, EVENT_FILE};
use crate::train::EpochRecord;
use crate::untrusted::{self, MAX_CONFIG, json_error};
use serde::Serialize;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Which of the saved weights: the best or the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
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
        part.write_config(config)?;
        durable::write(&part.path.join("model.json"), &json_bytes(model)?)?;
        durable::write(&part.path.join("run.json"), &json_bytes(inputs)?)?;
        let source = encoder.folder.join("config.json");
        let config = fs::read(&source).map_err(|error| Error::reading(&source, &error))?;
        durable::write(&part.path.join("encoder/config.json"), &config)?;
        durable::write(&part.tokenizer_file(), &encoder.tokenizer)?;
        if let Ok(origin) = Origin::of(path) {
            durable::write(&part.path.join(Origin::FILE), &json_bytes(&origin)?)?;
        }
        durable::rename(&part.path, path)?;
        durable::sync_parent(path)?;
        Ok((RunFolder { path: path.to_owned() }, lock))
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn encoder_folder(&self) -> PathBuf {
        self.path.join("encoder")
    }

    pub fn checkpoints(&self) -> CheckpointStore {
        CheckpointStore::new(self.path.join("checkpoints"))
    }

    fn inputs_file(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// The files that the run was started with; `None` for a run from before checkpoints existed.
    ///
    /// # Errors
    /// `Io`, `Data`.
    pub fn inputs(&self) -> Result<Option<Inputs>> {
        let path = self.inputs_file();
        let bytes = untrusted::read_if_there(&path, MAX_CONFIG).map_err(|error| Error::reading(&path, &error))?;
        let parsed = bytes.map(|bytes| schema::from_slice(&bytes)).transpose();
        parsed.map_err(|error| Error::data(format!("{}: {}", path.display(), json_error(&error))))
    }

    /// Like [`RunFolder::inputs`], for a run that is resumed.
    ///
    /// # Errors
    /// Like [`RunFolder::inputs`]; `MissingInput`.
    pub fn required_inputs(&self) -> Result<Inputs> {
        let missing = || Error::reading(&self.inputs_file(), &std::io::ErrorKind::NotFound.into());
        self.inputs()?.ok_or_else(missing)
    }

    pub fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    pub fn tokenizer_file(&self) -> PathBuf {
        self.path.join("encoder/tokenizer.json")
    }

    pub fn weights_file(&self, which: CheckpointKind) -> PathBuf {
        self.path.join(which.name()).join(WEIGHTS)
    }

    /// The path of a file of this evaluation. Its folder is created.
    ///
    /// # Errors
    /// `Refused` if the name or a link leads out of the run folder; `CantCreate`, `Io`.
    pub fn evaluation_file(&self, evaluation: &str, file: &str) -> Result<PathBuf> {
        untrusted::component(evaluation)
            .and_then(|name| untrusted::within(&self.path, &format!("eval/{name}/{file}")))
            .map_err(|error| Error::new(ErrorKind::Refused, format!("{}: {error}", self.path.display())))?;
        let folder = self.path.join("eval").join(evaluation);
        fs::create_dir_all(&folder).map_err(|error| Error::writing(&folder, &error))?;
        Ok(folder.join(file))
    }

    pub fn write_evaluation(&self, evaluation: &str, file: &str, text: &str) -> Result<()> {
        let path = self.evaluation_file(evaluation, file)?;
        durable::replace(&path, text.as_bytes())
    }

    /// The calibration of these weights; `None` if there is none.
    ///
    /// # Errors
    /// `Config` if the file is not one that [`RunFolder::save_calibrated`] wrote.
    pub fn calibrated(&self, which: CheckpointKind) -> Result<Option<Calibrated>> {
        let path = self.decode_file(which);
        match fs::read(&path) {
            Ok(bytes) => {
                let wrong = |problem: String| Error::config(format!("{}: {problem}", path.display()));
                let remedy = "create it again with `tiered model calibrate`, or remove it";
                schema::check(&bytes).map_err(|error| wrong(json_error(&error)))?;
                serde_json::from_slice(&bytes).map(Some).map_err(|error| wrong(format!("{error}; {remedy}")))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::reading(&path, &error)),
        }
    }

    /// Saves the calibration beside its weights.
    pub fn save_calibrated(&self, which: CheckpointKind, calibrated: &Calibrated) -> Result<()> {
        let path = self.decode_file(which);
        durable::replace(&path, &[json_bytes(calibrated)?, b"\n".to_vec()].concat())
    }

    pub fn decode_file(&self, which: CheckpointKind) -> PathBuf {
        self.path.join(which.name()).join("decode.json")
    }

    /// The model's shapes.
    pub fn model_config(&self) -> Result<ModelConfig> {
        let path = self.path.join("model.json");
        let bytes = untrusted::read_regular(&path, MAX_CONFIG).map_err(|error| Error::reading(&path, &error))?;
        let wrong = |problem: String| Error::config(format!("{}: {problem}", path.display()));
        let mut config: ModelConfig = schema::from_slice(&bytes).map_err(|error| wrong(json_error(&error)))?;
        config.encoder = EncoderConfig::open(&self.path.join("encoder/config.json"))?;
        config.problem().map_or(Ok(config), |problem| Err(wrong(problem)))
    }

    /// Writes the config with every default.
    pub fn write_config(&self, config: &Config) -> Result<()> {
        let text = config_text(config)?;
        let is_there = fs::read(self.config_file()).is_ok_and(|bytes| bytes == text.as_bytes());
        if is_there { Ok(()) } else { durable::replace(&self.config_file(), text.as_bytes()) }
    }

    /// Makes `best` or `last` the weights in this file.
    pub fn keep(&self, which: CheckpointKind, weights: &Path) -> Result<()> {
        self.forget_calibrated(which)?;
        durable::link(weights, &self.weights_file(which))
    }

    /// Removes the best weights if the run no longer has the epoch that they are from.
    pub fn keep_no_best(&self) -> Result<()> {
        let best = self.weights_file(CheckpointKind::Best);
        if best.exists() { durable::remove_file(&best) } else { Ok(()) }
    }

    /// The path of the table of all steps.
    pub fn step_table(&self) -> PathBuf {
        self.path.join("metrics.csv")
    }

    /// Replaces the lines of all epochs.
    pub fn write_metrics(&self, epochs: &[EpochRecord]) -> Result<()> {
        let mut lines = Vec::new();
        for epoch in epochs {
            lines.extend(json_bytes(epoch)?);
            lines.push(b'\n');
        }
        let path = self.path.join("metrics.jsonl");
        if fs::read(&path).unwrap_or_default() != lines {
            durable::replace(&path, &lines)?;
        }
        durable::extend(&self.path.join(EVENT_FILE), &tensorboard::events(epochs, self.started()))
    }

    /// The records of all epochs.
    ///
    /// # Errors
    /// `Io`; `Data`, with the line, if one is not a record.
    pub fn epochs(&self) -> Result<Vec<EpochRecord>> {
        let path = self.path.join("metrics.jsonl");
        let bytes = match untrusted::read_regular(&path, MAX_CONFIG) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| Error::reading(&path, &error))?,
        };
        let wrong = |problem: String| Error::data(format!("{}: {problem}", path.display()));
        let text = untrusted::text(&bytes).map_err(wrong)?;
        let record = |(i, line): (usize, &str)| {
            schema::from_str(line).map_err(|error| wrong(format!("line {}: {}", i + 1, json_error(&error))))
        };
        text.lines().enumerate().map(record).collect()
    }

    /// Whether the run has finished, by its events. A run without events counts as finished.
    pub fn has_ended(&self) -> bool {
        let events = fs::read_to_string(self.path.join("events.jsonl")).unwrap_or_default();
        let events = events.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut ends = events.filter_map(|event| match event["event"].as_str() {
            Some("started") => Some(false),
            Some("finished") => Some(true),
            _ => None,
        });
        ends.next_back().unwrap_or(true)
    }

    /// The start of the run in seconds since 1970, from its first event; 0 if there is none.
    fn started(&self) -> f64 {
        let events = fs::read_to_string(self.path.join("events.jsonl")).unwrap_or_default();
        let first = events.lines().next().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        first.and_then(|event| event["time"].as_f64()).unwrap_or(0.)
    }

    /// The names of the evaluations in the folder, sorted.
    ///
    /// # Errors
    /// `Io`.
    pub fn evaluations(&self) -> Result<Vec<String>> {
        let folder = self.path.join("eval");
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| Error::reading(&folder, &error))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| Error::reading(&folder, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if untrusted::component(&name).is_ok() && entry.path().join("report.json").is_file() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Reads the report of an evaluation.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Data` if [`RunFolder::write_evaluation`] did not write the file.
    pub fn report(&self, evaluation: &str) -> Result<Report> {
        let path = self.evaluated(evaluation, "report.json")?;
        let bytes = untrusted::read_regular(&path, MAX_CONFIG).map_err(|error| Error::reading(&path, &error))?;
        let wrong = |problem: String| Error::data(format!("{}: {problem}", path.display()));
        schema::check(&bytes).map_err(|error| wrong(json_error(&error)))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("{}; evaluate again with `tiered eval`", json_error(&error))))
    }

    /// The path of a file of an evaluation. The file may be missing.
    pub(super) fn evaluated(&self, evaluation: &str, file: &str) -> Result<PathBuf> {
        untrusted::within(&self.path, &format!("eval/{evaluation}/{file}"))
            .map_err(|error| Error::new(ErrorKind::Refused, format!("{}: {error}", self.path.display())))
    }

    pub fn card_file(&self) -> PathBuf {
        self.path.join("README.md")
    }

    /// Writes an event to `events.jsonl`, or to standard error if that fails.
    pub fn note(&self, event: &str, step: u64, message: &str) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = (since.as_secs_f64() * 1e3).round() / 1e3;
        let line =
            json!({"schema_version": SchemaVersion, "time": seconds, "event": event, "step": step, "message": message});
        let path = self.path.join("events.jsonl");
        if let Err(error) = durable::append(&path, &line.to_string()) {
            aside!("warning: {error}; this event was not written: {line}");
        }
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

/// A document on one line, with its schema version.
pub fn json_bytes(document: &impl Serialize) -> Result<Vec<u8>> {
    let text = schema::to_string(document);
    text.map(String::into_bytes).map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))
}
