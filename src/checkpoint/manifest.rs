//! The manifest of a checkpoint: what it holds, what it was made from and with, and by which every byte is checked.

use crate::durable::{FileDigest, sha256};
use crate::error::{Error, ErrorKind, Result};
use crate::outside::{self, MAX_CONFIG, json_error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub const MANIFEST: &str = "manifest.json";

/// Version of the format of checkpoints.
const FORMAT: u32 = 1;

/// Written last. No bit of it or of the files it names can change unnoticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    /// Steps taken.
    pub step: u64,
    /// The checkpoint of the best epoch so far.
    pub best: Option<String>,
    pub inputs: Inputs,
    pub made_with: MadeWith,
    pub files: BTreeMap<String, FileDigest>,
    /// Of the manifest in which this is empty.
    pub sha256: String,
}

/// What a run is made from beside its config; SHA-256 of each file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    pub train: String,
    pub dev: Option<String>,
    pub tokenizer: String,
    pub encoder_config: String,
    /// Only the first so many pairs of train and of dev.
    pub limit: Option<usize>,
}

/// What the last digits of a number depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeWith {
    pub tiered: String,
    pub libtorch: String,
    pub device: String,
    pub threads: i32,
    /// Instructions that libtorch chooses its kernels by.
    pub processor: Vec<String>,
}

impl MadeWith {
    /// What differs, in words.
    pub fn differences(&self, now: &MadeWith) -> Vec<String> {
        let processor = |with: &MadeWith| format!("[{}]", with.processor.join(" "));
        let parts = [
            ("tiered", self.tiered.clone(), now.tiered.clone()),
            ("libtorch", self.libtorch.clone(), now.libtorch.clone()),
            ("device", self.device.clone(), now.device.clone()),
            ("threads", self.threads.to_string(), now.threads.to_string()),
            ("processor features", processor(self), processor(now)),
        ];
        let different = parts.into_iter().filter(|(_, then, now)| then != now);
        different.map(|(what, then, now)| format!("{what}: {then} then, {now} now")).collect()
    }
}

/// A file of a checkpoint that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub file: PathBuf,
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.what)
    }
}

impl Manifest {
    pub fn new(
        step: u64,
        best: Option<String>,
        inputs: Inputs,
        made_with: MadeWith,
        files: BTreeMap<String, FileDigest>,
    ) -> Result<Self> {
        let mut manifest = Manifest { format: FORMAT, step, best, inputs, made_with, files, sha256: String::new() };
        manifest.sha256 = sha256(&manifest.to_json()?);
        Ok(manifest)
    }

    pub fn to_json(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_vec_pretty(self);
        json.map_err(|error| Error::new(ErrorKind::Internal, format!("a manifest can't be written: {error}")))
    }

    /// Reads the manifest of a checkpoint's folder, and every file it names.
    ///
    /// # Errors
    /// The first file that is not what it was.
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
                return Err(Damage { what: "its SHA-256 is not that of the manifest".to_owned(), file });
            }
        }
        Ok(manifest)
    }

    pub(super) fn read(path: &Path) -> Result<Self, Damage> {
        let damage = |error| Damage { file: path.to_owned(), what: format!("cannot be read: {error}") };
        Self::parse(path, &outside::read_regular(path, MAX_CONFIG).map_err(damage)?)
    }

    /// The manifest in the bytes of `path`. Only the very bytes that were written pass.
    ///
    /// # Errors
    /// What in them is not what it was.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Damage> {
        let damage = |what: String| Damage { file: path.to_owned(), what };
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(|error| damage(json_error(&error)))?;
        let again = Manifest { sha256: String::new(), ..manifest.clone() };
        let [as_is, hashed] = [&manifest, &again].map(|m| m.to_json().map_err(|error| damage(error.message)));
        if as_is? != bytes || sha256(&hashed?) != manifest.sha256 {
            return Err(damage("its SHA-256 is not the one it holds".to_owned()));
        }
        if manifest.format != FORMAT {
            return Err(damage(format!("is of format {}, and this program reads {FORMAT}", manifest.format)));
        }
        for name in manifest.files.keys().chain(&manifest.best) {
            outside::component(name).map_err(|error| damage(error.to_string()))?;
        }
        Ok(manifest)
    }
}
