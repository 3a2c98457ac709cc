//! Hugging Face's `config.json`, as far as the encoder needs it.

use crate::error::{Error, Result};
use crate::outside::{self, MAX_CONFIG, json_error};
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

/// The largest size in a `config.json`.
const MAX_SIZE: i64 = 1 << 24;

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
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Config` if it is malformed, of another family, or no encoder could have such sizes.
    pub fn open(path: &Path) -> Result<Self> {
        let wrong = |message: String| Error::config(format!("{}: {message}", path.display()));
        let bytes = outside::read_regular(path, MAX_CONFIG).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => wrong(format!("not a config.json: {error}")),
            _ => Error::reading(path, &error),
        })?;
        let config: EncoderConfig = serde_json::from_slice(&bytes).map_err(|error| {
            let error = json_error(&error);
            wrong(format!("not a config.json of an encoder that can be read (xlm-roberta, roberta): {error}"))
        })?;
        config.problem().map_or(Ok(config), |problem| Err(wrong(problem)))
    }

    /// What no encoder can be, though the types are right.
    fn problem(&self) -> Option<String> {
        let sizes = [
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("type_vocab_size", self.type_vocab_size),
        ];
        if let Some((name, size)) = sizes.into_iter().find(|(_, size)| !(1..=MAX_SIZE).contains(size)) {
            return Some(format!("{name} is {size}; it must be from 1 to {MAX_SIZE}"));
        }
        let (hidden, heads) = (self.hidden_size, self.num_attention_heads);
        if hidden % heads != 0 {
            return Some(format!("hidden_size {hidden} is not a multiple of num_attention_heads {heads}"));
        }
        if !(0..self.max_position_embeddings).contains(&self.pad_token_id) || self.pad_token_id >= self.vocab_size {
            return Some(format!("pad_token_id {} is neither a token nor a position", self.pad_token_id));
        }
        let dropouts = [self.hidden_dropout_prob, self.attention_probs_dropout_prob];
        if !dropouts.iter().all(|p| (0. ..1.).contains(p)) || !(0. ..1.).contains(&self.layer_norm_eps) {
            return Some("layer_norm_eps and the dropout probabilities must be at least 0 and below 1".into());
        }
        None
    }

    /// How many numbers such an encoder has at least: its matrices.
    pub fn least_parameters(&self) -> u128 {
        let [vocabulary, hidden, layers, inner, positions] = [
            self.vocab_size,
            self.hidden_size,
            self.num_hidden_layers,
            self.intermediate_size,
            self.max_position_embeddings,
        ]
        .map(|size| size as u128);
        (vocabulary + positions) * hidden + layers * (4 * hidden * hidden + 2 * hidden * inner)
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
