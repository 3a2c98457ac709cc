//! Hugging Face's cache. We find what `huggingface_hub` fetched, and it finds what we fetched.
//!
//! ```text
//! HUB/models--ORG--NAME/blobs/ETAG                  the content of a file; ETAG.incomplete during the download
//! HUB/models--ORG--NAME/snapshots/COMMIT/FILE       a link to that content
//! HUB/models--ORG--NAME/refs/REVISION               the commit of a branch or tag
//! HUB/.locks/models--ORG--NAME/ETAG.lock            held by the process that fetches it
//! ```

use super::download::is_hex;
use super::settings::HubSettings;
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::{self, MAX_INDEX, MAX_SHARDS, json_error};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub const CONFIG: &str = "config.json";
pub const WEIGHTS: &str = "model.safetensors";
pub const INDEX: &str = "model.safetensors.index.json";
/// The revision that is used if none is given.
pub const MAIN: &str = "main";
/// Each entry is a set of files from which a tokenizer can be read.
pub const TOKENIZERS: [&[&str]; 3] = [&["tokenizer.json"], &["vocab.txt"], &["vocab.json", "merges.txt"]];

/// `ORG/NAME` or `NAME`, followed by `@REVISION` if that is not `main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    id: String,
    /// A branch, tag or commit; `main` if none was given.
    pub revision: String,
}

impl ModelName {
    /// # Errors
    /// `Refused` if the revision could lead out of its folder.
    pub fn at(mut self, revision: &str) -> Result<Self> {
        let refuse = |error: untrusted::UnsafeName| Error::new(ErrorKind::Refused, format!("{self}: {error}"));
        untrusted::relative(revision).map_err(refuse)?;
        self.revision = revision.to_owned();
        Ok(self)
    }

    /// `ORG/NAME` or `NAME`
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The command that fetches it.
    pub fn command(&self) -> String {
        let revision = if self.revision == MAIN { String::new() } else { format!(" --revision {}", self.revision) };
        format!("tiered model fetch {}{revision}", self.id())
    }
}

impl FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (id, revision) = text.split_once('@').unwrap_or((text, MAIN));
        let id = untrusted::model_id(id).map_err(|error| error.to_string())?;
        untrusted::relative(revision).map_err(|error| error.to_string())?;
        Ok(ModelName { id: id.into(), revision: revision.into() })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)?;
        if self.revision == MAIN { Ok(()) } else { write!(f, "@{}", self.revision) }
    }
}

/// The folder of all models from the hub.
pub struct Cache {
    hub: PathBuf,
}

impl Cache {
    /// The cache in this folder, which need not exist yet.
    pub fn new(hub: &Path) -> Self {
        Cache { hub: hub.to_owned() }
    }

    /// # Errors
    /// Like [`HubSettings::from_environment`].
    pub fn from_environment() -> Result<Self> {
        Ok(Cache { hub: HubSettings::from_environment()?.cache })
    }

    fn model(&self, model: &ModelName) -> PathBuf {
        self.hub.join(folder_name(model))
    }

    /// The commit of a branch, tag or commit name in this cache.
    fn commit(&self, model: &ModelName) -> Option<String> {
        if is_commit(&model.revision) {
            return Some(model.revision.clone());
        }
        let reference = untrusted::read_regular(&self.model(model).join("refs").join(&model.revision), 1 << 10).ok()?;
        let commit = std::str::from_utf8(&reference).ok()?.trim().to_owned();
        is_commit(&commit).then_some(commit)
    }

    /// The folder of a model, if it has everything that an encoder needs.
    ///
    /// # Errors
    /// `MissingInput`, with the command that fetches it.
    pub fn find(&self, model: &ModelName) -> Result<PathBuf> {
        let lacks = |what: String| {
            let message = format!(
                "{model}: no such folder, and the Hugging Face cache {} {what}; fetch it with: {}",
                self.hub.display(),
                model.command()
            );
            Error::new(ErrorKind::MissingInput, message)
        };
        let commit = self.commit(model).ok_or_else(|| lacks("does not have this model".into()))?;
        let folder = self.snapshot(model, &commit);
        match missing(&folder)?.as_slice() {
            [] => Ok(folder),
            missing => Err(lacks(format!("has this model without {}", missing.join(", ")))),
        }
    }

    /// The folder of a model at a commit.
    pub fn snapshot(&self, model: &ModelName, commit: &str) -> PathBuf {
        self.model(model).join("snapshots").join(commit)
    }

    /// The path of the content that the hub gave this ETag; it may not be fetched yet.
    pub fn blob(&self, model: &ModelName, etag: &str) -> PathBuf {
        self.model(model).join("blobs").join(etag)
    }

    /// Takes the lock of a blob, in the same way as `huggingface_hub`.
    ///
    /// # Errors
    /// `CantCreate` if another process holds it; `Io`.
    pub fn lock(&self, model: &ModelName, etag: &str) -> Result<Lock> {
        let folder = self.hub.join(".locks").join(folder_name(model));
        durable::create_folder(&folder)?;
        Lock::take(&folder.join(format!("{etag}.lock")))
    }

    /// Makes a file of a snapshot a link to a blob.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn link(&self, model: &ModelName, commit: &str, file: &str, etag: &str) -> Result<()> {
        let path = self.snapshot(model, commit).join(file);
        if path.exists() {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            durable::create_folder(folder)?;
        }
        if path.is_symlink() {
            durable::remove_file(&path)?;
        }
        let target = Path::new("../../blobs").join(etag);
        std::os::unix::fs::symlink(target, &path).map_err(|error| Error::writing(&path, &error))
    }

    /// Records the commit of a revision.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn note(&self, model: &ModelName, commit: &str) -> Result<()> {
        if model.revision == commit {
            return Ok(());
        }
        let path = self.model(model).join("refs").join(&model.revision);
        if let Some(folder) = path.parent() {
            durable::create_folder(folder)?;
        }
        // `huggingface_hub` would read a line end as part of the commit.
        durable::replace(&path, commit.as_bytes())
    }
}

fn folder_name(model: &ModelName) -> String {
    format!("models--{}", model.id.replace('/', "--"))
}

/// Whether it is a complete SHA-1 in hexadecimal.
pub fn is_commit(text: &str) -> bool {
    is_hex(text, 40)
}

/// The files that an encoder needs and this folder lacks.
fn missing(folder: &Path) -> Result<Vec<String>> {
    let has = |name: &str| folder.join(name).is_file();
    let mut missing = Vec::new();
    if !has(CONFIG) {
        missing.push(CONFIG.to_owned());
    }
    if !TOKENIZERS.iter().any(|files| files.iter().all(|file| has(file))) {
        missing.push("a tokenizer".to_owned());
    }
    if !has(WEIGHTS) {
        if has(INDEX) {
            let path = folder.join(INDEX);
            let bytes = untrusted::read_regular(&path, MAX_INDEX).map_err(|error| Error::reading(&path, &error))?;
            let shards = shards(&bytes).map_err(|error| error.about(path.display()))?;
            missing.extend(shards.into_iter().filter(|shard| !has(shard)));
        } else {
            missing.push(WEIGHTS.to_owned());
        }
    }
    Ok(missing)
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The files of weights that an index of shards names.
///
/// # Errors
/// `Data` if it is not an index; `Refused` if a name could lead out of the folder.
pub fn shards(index: &[u8]) -> Result<BTreeSet<String>> {
    let wrong = |why: String| Error::data(format!("not an index of shards: {why}"));
    let Index { weight_map } =
        serde_json::from_slice(index).map_err(|error| wrong(json_error(&error)).caused_by(error))?;
    let shards: BTreeSet<String> = weight_map.into_values().collect();
    if shards.is_empty() || shards.len() > MAX_SHARDS {
        return Err(wrong(format!("it names {} files; it must name 1 to {MAX_SHARDS}", shards.len())));
    }
    for shard in &shards {
        untrusted::component(shard).map_err(|error| Error::new(ErrorKind::Refused, error.to_string()))?;
        if !shard.ends_with(".safetensors") {
            let message = format!("{}: a shard that is not safetensors", untrusted::shown(shard, 80));
            return Err(Error::new(ErrorKind::Refused, message));
        }
    }
    Ok(shards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_hub() {
        let name: ModelName = "FacebookAI/xlm-roberta-base".parse().unwrap();
        assert_eq!((name.to_string().as_str(), name.revision.as_str()), ("FacebookAI/xlm-roberta-base", "main"));
        let name: ModelName = "a/b@refs/pr/1".parse().unwrap();
        assert_eq!((name.to_string().as_str(), name.id()), ("a/b@refs/pr/1", "a/b"));
        assert_eq!(name.command(), "tiered model fetch a/b --revision refs/pr/1");
        let old: ModelName = "bert-base-uncased".parse().unwrap();
        assert_eq!((folder_name(&old).as_str(), old.id()), ("models--bert-base-uncased", "bert-base-uncased"));
        for bad in ["", "a/b/c", "../b", "a/..", "a/b@..", "a/b@/x", "a/b@"] {
            assert!(bad.parse::<ModelName>().is_err(), "{bad}");
        }
        assert_eq!("a/b".parse::<ModelName>().unwrap().at("../../x").unwrap_err().kind, ErrorKind::Refused);
    }

    #[test]
    fn shards_stay_in_their_folder() {
        let index = |file: &str| shards(format!(r#"{{"weight_map": {{"a": "{file}", "b": "{file}"}}}}"#).as_bytes());
        assert_eq!(index("model-1.safetensors").unwrap().len(), 1);
        for bad in ["../x.safetensors", "/x.safetensors", "a/x.safetensors", "x.bin", "~/.bashrc"] {
            assert_eq!(index(bad).unwrap_err().kind, ErrorKind::Refused, "{bad}");
        }
        assert_eq!(shards(b"{}").unwrap_err().kind, ErrorKind::Data);
        assert_eq!(shards(br#"{"weight_map": {}}"#).unwrap_err().kind, ErrorKind::Data);
    }
}
