//! The folder of a run. It alone can be evaluated, and moved.
//!
//! ```text
//! RUN/config.toml              the config as resolved
//! RUN/model.json               shapes and names of the model
//! RUN/encoder/                 the encoder's config.json and tokenizer.json
//! RUN/metrics.jsonl            a line an epoch
//! RUN/best/model.safetensors   weights of the best epoch (the encoder's under Hugging Face's names)
//! RUN/best/decode.json         what was chosen on dev for them: temperature and state threshold
//! RUN/last/model.safetensors   weights of the last epoch
//! RUN/eval/NAME/               predictions.jsonl and report.json of an evaluation
//! ```

use super::network::WEIGHTS;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::model::weights::{self, NamedTensors};
use crate::model::{EncoderConfig, ModelConfig};
use crate::train::EpochRecord;
use crate::tune::Tuned;
use serde::Serialize;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Which of the kept weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Which {
    Best,
    Last,
}

impl Which {
    const fn name(self) -> &'static str {
        match self {
            Which::Best => "best",
            Which::Last => "last",
        }
    }
}

pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder with all that is known before training.
    pub fn create(path: &Path, config: &Config, model: &ModelConfig, encoder_folder: &Path) -> Result<Self> {
        let folder = RunFolder { path: path.to_owned() };
        for part in ["best", "last", "encoder"] {
            let part = path.join(part);
            fs::create_dir_all(&part).map_err(|error| Error::writing(&part, &error))?;
        }
        let resolved = toml::to_string(config)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("the config can't be written: {error}")))?;
        folder.write("config.toml", resolved.as_bytes())?;
        folder.write("model.json", &json(model)?)?;
        for name in ["config.json", "tokenizer.json"] {
            let source = encoder_folder.join(name);
            let bytes = fs::read(&source).map_err(|error| Error::reading(&source, &error))?;
            folder.write(&format!("encoder/{name}"), &bytes)?;
        }
        Ok(folder)
    }

    /// An existing run.
    ///
    /// # Errors
    /// `MissingInput` if it is no run folder.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.join("model.json").is_file() {
            let message =
                format!("{}: not a run folder (it has no model.json); `tiered train` makes one", path.display());
            return Err(Error::new(ErrorKind::MissingInput, message));
        }
        Ok(RunFolder { path: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    pub fn tokenizer_file(&self) -> PathBuf {
        self.path.join("encoder/tokenizer.json")
    }

    pub fn weights_file(&self, which: Which) -> PathBuf {
        self.path.join(which.name()).join(WEIGHTS)
    }

    /// A file of the evaluation of that name, whose folder is made.
    pub fn evaluation_file(&self, evaluation: &str, file: &str) -> Result<PathBuf> {
        let folder = self.path.join("eval").join(evaluation);
        fs::create_dir_all(&folder).map_err(|error| Error::writing(&folder, &error))?;
        Ok(folder.join(file))
    }

    pub fn write_evaluation(&self, evaluation: &str, file: &str, text: &str) -> Result<()> {
        let path = self.evaluation_file(evaluation, file)?;
        fs::write(&path, text).map_err(|error| Error::writing(&path, &error))
    }

    /// What was chosen on dev for these weights; `None` if nothing was.
    ///
    /// # Errors
    /// `Config` if the file is not one that [`RunFolder::save_tuned`] wrote.
    pub fn tuned(&self, which: Which) -> Result<Option<Tuned>> {
        let path = self.decode_file(which);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                let remedy = "make it anew with `tiered tune`, or remove it";
                Error::config(format!("{}: {error}; {remedy}", path.display()))
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::reading(&path, &error)),
        }
    }

    /// Keeps what was chosen on dev beside the weights it was chosen for.
    pub fn save_tuned(&self, which: Which, tuned: &Tuned) -> Result<()> {
        let path = self.decode_file(which);
        let text = [json(tuned)?, b"\n".to_vec()].concat();
        fs::write(&path, text).map_err(|error| Error::writing(&path, &error))
    }

    pub fn decode_file(&self, which: Which) -> PathBuf {
        self.path.join(which.name()).join("decode.json")
    }

    /// The shapes of the model.
    pub fn model_config(&self) -> Result<ModelConfig> {
        let path = self.path.join("model.json");
        let bytes = fs::read(&path).map_err(|error| Error::reading(&path, &error))?;
        let mut config: ModelConfig =
            serde_json::from_slice(&bytes).map_err(|error| Error::config(format!("{}: {error}", path.display())))?;
        config.encoder = EncoderConfig::open(&self.path.join("encoder/config.json"))?;
        Ok(config)
    }

    /// Appends the epoch's record and keeps its weights as the last, and as the best if they are.
    pub fn save_epoch(&self, record: &EpochRecord, weights: &NamedTensors, is_best: bool) -> Result<()> {
        let last = self.weights_file(Which::Last);
        weights::write(&last, weights)?;
        self.forget_tuned(Which::Last)?;
        if is_best {
            // A link costs nothing, and the next epoch replaces `last` by a rename, which leaves `best` as it is.
            let best = self.weights_file(Which::Best);
            let part = best.with_extension("part");
            let _ = fs::remove_file(&part);
            let linked = fs::hard_link(&last, &part).or_else(|_| fs::copy(&last, &part).map(|_| ()));
            linked.and_then(|()| fs::rename(&part, &best)).map_err(|error| Error::writing(&best, &error))?;
            self.forget_tuned(Which::Best)?;
        }
        self.append("metrics.jsonl", &json(record)?)
    }

    /// What was chosen for other weights says nothing about new ones.
    fn forget_tuned(&self, which: Which) -> Result<()> {
        let path = self.decode_file(which);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::writing(&path, &error)),
            _ => Ok(()),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        fs::write(&path, bytes).map_err(|error| Error::writing(&path, &error))
    }

    fn append(&self, name: &str, line: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let file = fs::OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(&[line, b"\n"].concat())).map_err(|error| Error::writing(&path, &error))
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))
}
