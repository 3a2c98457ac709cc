//! `[encoder]`: the pretrained encoder.

use super::expand::expand;
use crate::error::Result;
use crate::fetch::{Cache, ModelName};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The pretrained encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderSource {
    /// A Hugging Face folder (config.json, tokenizer.json, model.safetensors), or a model in Hugging Face's cache,
    /// written `ORG/NAME` or `ORG/NAME@REVISION`.
    pub path: PathBuf,
    /// The parts that are not trained.
    #[serde(default)]
    pub freeze: Vec<Freeze>,
}

impl EncoderSource {
    /// The encoder's folder. If no folder has this path, the path is taken as a model id and looked up in the cache.
    /// Nothing is downloaded.
    ///
    /// # Errors
    /// `Config` if an environment variable in the path is not set; `MissingInput`, with the command to fetch it, if the
    /// path is the id of a model that is not in the cache.
    pub fn folder(&self) -> Result<PathBuf> {
        let folder = expand(&self.path)?;
        match folder.to_str().and_then(|text| text.parse::<ModelName>().ok()) {
            Some(model) if !folder.exists() => Cache::from_environment()?.find(&model),
            _ => Ok(folder),
        }
    }
}

/// A part of the encoder that is not trained: `embeddings`; `layers:K`, the lowest K layers; or `encoder`, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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
