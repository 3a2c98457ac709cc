//! The manifest of a checkpoint: what it holds, what it was made from, and the checksums of every file.

use crate::data::Kind;
use crate::durable::{FileDigest, sha256};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{self, SchemaVersion};
use crate::untrusted::{self, MAX_CONFIG, json_error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Its file name in the folder of a checkpoint.
pub const MANIFEST: &str = "manifest.json";

/// The manifest is written last. A change of any bit of it, or of the files that it names, is detected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// A manifest with a higher version is refused.
    pub schema_version: SchemaVersion,
    /// Steps taken so far.
    pub step: u64,
    /// The checkpoint of the best epoch so far.
    pub best: Option<String>,
    /// The files that the run is made from.
    pub inputs: Inputs,
    /// The program and the machine that wrote the checkpoint.
    pub made_with: Environment,
    /// Length and SHA-256 of every file of the checkpoint but the manifest, by file name.
    pub files: BTreeMap<String, FileDigest>,
    /// SHA-256 of the manifest with this field empty.
    pub sha256: String,
}

/// What a run is made from besides its config: SHA-256 of each file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// Of each story file to train on, in the order of the sources, separated by spaces; of synthetic stories, that of the
    /// first 100 pairs as a file.
    pub train: String,
    /// Of the file of soft labels of each source in `train`, "-" if it has none; `None` if no source has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_labels: Option<String>,
    /// Of each story file of dev; `None` if the config has no dev sources.
    pub dev: Option<String>,
    /// Of the `tokenizer.json` that was read or built.
    pub tokenizer: String,
    /// Of the encoder's `config.json`.
    pub encoder_config: String,
    /// Of the weights with which the run was started: the best ones of the run of `init_from`, else the encoder's; if these
    /// are several files, in the order of their names, separated by spaces. `None` of runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_weights: Option<String>,
    /// If set, only this many pairs of train and of dev are used: the first ones.
    pub limit: Option<usize>,
    /// What the run of `init_from` had seen, former dev pairs of a run that was resumed with others, and dev pairs of a file
    /// that had changed when the run was calibrated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<SeenSource>,
}

impl Inputs {
    /// Adds what was seen earlier, each once.
    pub fn add_earlier(&mut self, sources: Vec<SeenSource>) {
        for source in sources {
            if !self.earlier.contains(&source) {
                self.earlier.push(source);
            }
        }
    }
}

/// A split of a story file that a training has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenSource {
    /// Of the file.
    pub sha256: String,
    /// Its split.
    pub split: String,
    /// Whether it was trained on; else the best epoch was chosen on it.
    pub trained_on: bool,
    /// If set, only pairs of this kind were read. Older runs don't say so of what was seen earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// If set, at most so many pairs were read: the first ones of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<usize>,
}

/// What the last digits of a run's numbers depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// The version of this program.
    pub tiered: String,
    /// Its version, or "unknown".
    pub libtorch: String,
    /// "cpu" (also "cpu with TIERED_KERNELS=off") or "cuda(0)".
    pub device: String,
    /// The GPU, its driver, CUDA and cuDNN, if it computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// Threads that libtorch uses within an operation.
    pub threads: i32,
    /// The maker of the processor, if the system says it, and the features by which libtorch chooses its kernels.
    pub processor: Vec<String>,
}

impl Environment {
    /// The differences, in words.
    pub fn differences(&self, now: &Environment) -> Vec<String> {
        let processor = |with: &Environment| format!("[{}]", with.processor.join(" "));
        let gpu = |of: &Environment| of.gpu.clone().unwrap_or_else(|| "none".to_owned());
        let parts = [
            ("tiered", self.tiered.clone(), now.tiered.clone()),
            ("libtorch", self.libtorch.clone(), now.libtorch.clone()),
            ("device", self.device.clone(), now.device.clone()),
            ("GPU", gpu(self), gpu(now)),
            ("threads", self.threads.to_string(), now.threads.to_string()),
            ("processor", processor(self), processor(now)),
        ];
        let different = parts.into_iter().filter(|(_, then, now)| then != now);
        different.map(|(what, then, now)| format!("{what}: {then} then, {now} now")).collect()
    }
}

/// A file of a checkpoint that has changed or can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Its path; the manifest can be damaged too.
    pub file: PathBuf,
    /// What is wrong with it; in a message it follows the path and a colon.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.what)
    }
}

impl Manifest {
    /// Computes the manifest's own checksum from the other fields.
    pub fn new(
        step: u64,
        best: Option<String>,
        inputs: Inputs,
        made_with: Environment,
        files: BTreeMap<String, FileDigest>,
    ) -> Result<Self> {
        let mut manifest =
            Manifest { schema_version: SchemaVersion, step, best, inputs, made_with, files, sha256: String::new() };
        manifest.sha256 = sha256(&manifest.to_json()?);
        Ok(manifest)
    }

    /// The exact bytes of the file; any others fail verification.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_vec_pretty(self);
        json.map_err(|error| Error::new(ErrorKind::Internal, format!("a manifest can't be written: {error}")))
    }

    /// Reads the manifest in a checkpoint's folder, and verifies every file that it names.
    ///
    /// # Errors
    /// The first file that has changed.
    pub fn verify(folder: &Path) -> Result<Self, Damage> {
        let manifest = Self::read(&folder.join(MANIFEST))?;
        for (name, expected) in &manifest.files {
            let file = folder.join(name);
            let found = match FileDigest::of_file(&file) {
                Ok(found) => found,
                Err(error) => return Err(Damage { what: error.message, file }),
            };
            if found.bytes != expected.bytes {
                return Err(Damage { what: format!("has {} bytes instead of {}", found.bytes, expected.bytes), file });
            }
            if found.sha256 != expected.sha256 {
                return Err(Damage { what: "its SHA-256 is not the one in the manifest".to_owned(), file });
            }
        }
        Ok(manifest)
    }

    pub(super) fn read(path: &Path) -> Result<Self, Damage> {
        let damage = |error| Damage { file: path.to_owned(), what: format!("cannot be read: {error}") };
        Self::parse(path, &untrusted::read_regular(path, MAX_CONFIG).map_err(damage)?)
    }

    /// Parses the bytes of the manifest `path`. Only the exact bytes that were written pass.
    ///
    /// # Errors
    /// What has changed in them.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Damage> {
        let damage = |what: String| Damage { file: path.to_owned(), what };
        let manifest: Manifest = schema::from_slice(bytes).map_err(|error| damage(json_error(&error)))?;
        let again = Manifest { sha256: String::new(), ..manifest.clone() };
        let [as_is, hashed] = [&manifest, &again].map(|m| m.to_json().map_err(|error| damage(error.message)));
        if as_is? != bytes || sha256(&hashed?) != manifest.sha256 {
            return Err(damage("its SHA-256 is not the one that it states".to_owned()));
        }
        for name in manifest.files.keys().chain(&manifest.best) {
            untrusted::component(name).map_err(|error| damage(error.to_string()))?;
        }
        Ok(manifest)
    }
}
