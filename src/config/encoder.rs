//! `[encoder]`: the pretrained encoder.

use super::expand::expand;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::{Cache, ModelName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::path::PathBuf;

/// The pretrained encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct EncoderSource {
    /// A Hugging Face folder: `config.json`, weights, tokenizer (`docs/encoders.md`). If there is no folder of that
    /// name: `ORG/NAME` (or `NAME`, as `bert-base-uncased`) or `ORG/NAME@REVISION`, a model that `tiered model fetch`
    /// or Hugging Face's own programs put into Hugging Face's cache.
    #[schemars(extend("x-resume" = "free", "x-type" = "folder or name"))]
    pub path: PathBuf,
    /// What is not trained: `"encoder"` (all of it), `"embeddings"`, `"layers:K"` (the lowest K layers, with what all layers
    /// share: tables of distances). A fully frozen encoder encodes each input once, without dropout, before the first step
    /// (not where whole stories are read); `tiered train --vectors DIR` keeps these vectors for other runs.
    #[serde(default)]
    #[schemars(extend("x-resume" = "refused"))]
    pub freeze: Vec<Freeze>,
}

impl EncoderSource {
    /// The encoder's folder. If no folder has this path, the path is taken as a model id and looked up in the cache.
    /// Nothing is downloaded.
    ///
    /// # Errors
    /// `Config` if the path is empty or an environment variable in it is not set; `MissingInput`, with the remedy, if the
    /// path is the id of a model that is not in the cache, or if there is no folder.
    pub fn folder(&self) -> Result<PathBuf> {
        let folder = expand(&self.path)?;
        match folder.to_str().and_then(|text| text.parse::<ModelName>().ok()) {
            Some(model) if !folder.exists() => Cache::from_environment()?.find(&model),
            _ if folder.as_os_str().is_empty() => Err(no_folder(ErrorKind::Config, "is empty")),
            _ if folder.is_dir() => Ok(folder),
            _ => {
                let what = if folder.exists() { "is no folder" } else { "does not exist" };
                Err(no_folder(ErrorKind::MissingInput, format!("{} {what}", folder.display())))
            }
        }
    }

    /// Its name for others: a model of the hub by its id, a folder without those above it, which may be private.
    pub fn public_name(&self) -> String {
        let path = &self.path;
        let is_of_hub = !path.exists() && path.to_str().is_some_and(|text| text.parse::<ModelName>().is_ok());
        let name = if is_of_hub { path.as_os_str() } else { path.file_name().unwrap_or_default() };
        name.to_string_lossy().into_owned()
    }

    /// Like [`EncoderSource::folder`], with the encoder's `config.json` in it.
    ///
    /// # Errors
    /// Like [`EncoderSource::folder`]; `MissingInput`, with the remedy, if there is no `config.json`.
    pub fn folder_with_config(&self) -> Result<PathBuf> {
        let folder = self.folder()?;
        match folder.join("config.json").exists() {
            true => Ok(folder),
            false => Err(no_folder(ErrorKind::MissingInput, format!("{} has no config.json", folder.display()))),
        }
    }
}

fn no_folder(kind: ErrorKind, problem: impl Display) -> Error {
    let remedy = "name the folder of an encoder; `tiered model fetch ORG/NAME --output DIR`, scripts/get-encoder.py \
                  (multilingual-e5-small) and `tiered model export RUN --output DIR` make one (docs/encoders.md)";
    Error::new(kind, format!("encoder.path: {problem}; {remedy}"))
}

/// A part of the encoder that is not trained: `embeddings`; `layers:K`, the lowest K layers; or `encoder`, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(encoder|embeddings|layers:[0-9]+)$"))]
pub enum Freeze {
    /// The tables of the embeddings and their norm.
    Embeddings,
    /// The lowest K layers, without the embeddings.
    Layers(u32),
    /// The embeddings and all layers.
    Encoder,
}

impl TryFrom<String> for Freeze {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let layers = || text.strip_prefix("layers:")?.parse().ok();
        match text.as_str() {
            "embeddings" => Ok(Freeze::Embeddings),
            "encoder" => Ok(Freeze::Encoder),
            _ => layers().map(Freeze::Layers).ok_or(format!("`{text}`: must be `encoder`, `embeddings` or `layers:K`")),
        }
    }
}

impl From<Freeze> for String {
    fn from(freeze: Freeze) -> Self {
        match freeze {
            Freeze::Embeddings => "embeddings".into(),
            Freeze::Layers(k) => format!("layers:{k}"),
            Freeze::Encoder => "encoder".into(),
        }
    }
}
