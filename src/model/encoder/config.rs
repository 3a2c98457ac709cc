//! Hugging Face's `config.json`, as far as the encoder needs it.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Sizes and constants of an encoder. Extra keys of the file are ignored; none of these is ever defaulted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EncoderConfig {
    pub model_type: ModelType,
    pub hidden_act: Activation,
    pub vocab_size: i64,
    pub hidden_size: i64,
    pub num_hidden_layers: i64,
    pub num_attention_heads: i64,
    pub intermediate_size: i64,
    pub max_position_embeddings: i64,
    pub type_vocab_size: i64,
    pub pad_token_id: i64,
    pub layer_norm_eps: f64,
    pub hidden_dropout_prob: f64,
    pub attention_probs_dropout_prob: f64,
}

/// The families of encoders that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelType {
    XlmRoberta,
    Roberta,
}

/// The activation between the two feed-forward products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// With the error function, not its approximation.
    Gelu,
}

impl EncoderConfig {
    /// Reads a `config.json`.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Error::reading(path, &error))?;
        let config: EncoderConfig = serde_json::from_slice(&bytes).map_err(|error| {
            Error::config(format!(
                "{}: not a config.json of an encoder that can be read (xlm-roberta, roberta): {error}",
                path.display()
            ))
        })?;
        if config.hidden_size % config.num_attention_heads != 0 {
            return Err(Error::config(format!(
                "{}: hidden_size {} is not a multiple of num_attention_heads {}",
                path.display(),
                config.hidden_size,
                config.num_attention_heads
            )));
        }
        Ok(config)
    }

    /// Position of the first token: RoBERTa counts on from the padding's id.
    pub fn position_offset(&self) -> i64 {
        self.pad_token_id + 1
    }

    /// The longest input there are positions for, in tokens.
    pub fn max_tokens(&self) -> usize {
        usize::try_from(self.max_position_embeddings - self.position_offset()).unwrap_or(0)
    }
}
