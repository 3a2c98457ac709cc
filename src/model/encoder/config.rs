//! The keys of Hugging Face's `config.json` that an encoder needs.

use super::deberta::config::DebertaConfig;
use super::relative_bias::RELATIVE_BUCKETS;
use super::sizes::{MAX_SIZE, Sizes};
use crate::error::{Error, Result};
use crate::untrusted::{self, MAX_CONFIG, json_error, shown};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Sizes and constants of an encoder. Other keys of the file are ignored. No size or constant
/// that the family uses has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EncoderConfig {
    /// `model_type`, with the keys that only this family has.
    #[serde(flatten)]
    pub family: Family,
    /// The activation in every layer.
    pub hidden_act: Activation,
    /// V, the rows of the word table.
    pub vocab_size: i64,
    /// H.
    pub hidden_size: i64,
    /// Transformer layers.
    pub num_hidden_layers: i64,
    /// Attention heads of a layer; their number divides `hidden_size`.
    pub num_attention_heads: i64,
    /// Width between the two feed-forward matmuls.
    pub intermediate_size: i64,
    /// Positions, with those before the first token ([`EncoderConfig::position_offset`]).
    pub max_position_embeddings: i64,
    /// Token types; 0 is possible in DeBERTa only. MPNet has none, and no such key.
    #[serde(default)]
    pub type_vocab_size: i64,
    /// Added to the variance by every norm.
    pub layer_norm_eps: f64,
    /// Dropout of embeddings and of what each part of a layer adds, from 0 to below 1.
    pub hidden_dropout_prob: f64,
    /// Dropout of the attention weights, from 0 to below 1.
    pub attention_probs_dropout_prob: f64,
}

/// The supported families of encoders (`model_type`), each with its special keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model_type", rename_all = "kebab-case")]
pub enum Family {
    /// Devlin et al., 2019. Positions count from 0; tokens have types.
    Bert,
    /// Liu et al., 2019. Positions start after the padding's id; all tokens have the first type.
    Roberta {
        /// Id of the padding; positions start after it.
        pad_token_id: i64,
    },
    /// Conneau et al., 2020. Like RoBERTa, with another vocabulary.
    XlmRoberta {
        /// Id of the padding; positions start after it.
        pad_token_id: i64,
    },
    /// Song et al., 2020. Like RoBERTa without token types, with a bias of attention by distance.
    Mpnet {
        /// Id of the padding; positions start after it. Hugging Face's MPNet computes with 1 whatever it is.
        pad_token_id: i64,
        /// Rows of the bias. Hugging Face's MPNet computes with [`RELATIVE_BUCKETS`] whatever it is.
        relative_attention_num_buckets: i64,
    },
    /// He et al., 2021: disentangled attention.
    Deberta(DebertaConfig),
    /// He et al., 2021 and 2023 (versions 2 and 3): the same with buckets of distances and more options.
    DebertaV2(DebertaConfig),
}

impl Family {
    /// The families' names in `config.json`.
    pub const NAMES: [&str; 6] = ["bert", "roberta", "xlm-roberta", "mpnet", "deberta", "deberta-v2"];

    /// The family's name in `config.json`.
    pub const fn name(&self) -> &'static str {
        Self::NAMES[match self {
            Family::Bert => 0,
            Family::Roberta { .. } => 1,
            Family::XlmRoberta { .. } => 2,
            Family::Mpnet { .. } => 3,
            Family::Deberta(_) => 4,
            Family::DebertaV2(_) => 5,
        }]
    }

    /// The prefix of the encoder's weights inside a larger model of Hugging Face: `PREFIX.embeddings...`
    pub const fn prefix(&self) -> &'static str {
        match self {
            Family::Bert => "bert",
            Family::Roberta { .. } | Family::XlmRoberta { .. } => "roberta",
            Family::Mpnet { .. } => "mpnet",
            Family::Deberta(_) | Family::DebertaV2(_) => "deberta",
        }
    }

    /// The keys that only DeBERTa has; `None` for the other families.
    pub const fn deberta(&self) -> Option<&DebertaConfig> {
        match self {
            Family::Deberta(config) | Family::DebertaV2(config) => Some(config),
            _ => None,
        }
    }
}

/// The activation between the two feed-forward matmuls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Activation {
    /// With the error function, not with its approximation.
    Gelu,
}

impl TryFrom<String> for Activation {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.as_str() {
            "gelu" => Ok(Activation::Gelu),
            _ => Err(format!("hidden_act is {:?}; only \"gelu\" is supported", shown(&name, 40))),
        }
    }
}

/// Keys that change what an encoder computes, and for which we support one value only.
#[derive(Deserialize)]
struct Fixed {
    position_embedding_type: Option<String>,
    is_decoder: Option<bool>,
    talking_head: Option<bool>,
    attention_head_size: Option<i64>,
    type_vocab_size: Option<i64>,
}

impl EncoderConfig {
    /// Reads a `config.json`.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Config` if the file is malformed, the family or a key is not supported, or a size is
    /// impossible.
    pub fn open(path: &Path) -> Result<Self> {
        let wrong = |message: String| Error::config(format!("{}: {message}", path.display()));
        let bytes = untrusted::read_regular(path, MAX_CONFIG).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => wrong(format!("not a config.json: {error}")),
            _ => Error::reading(path, &error),
        })?;
        let malformed = |error: serde_json::Error| {
            let families = Family::NAMES.join(", ");
            wrong(format!("not a config.json of a supported encoder ({families}): {}", json_error(&error)))
                .caused_by(error)
        };
        let config: EncoderConfig = serde_json::from_slice(&bytes).map_err(malformed)?;
        let fixed: Fixed = serde_json::from_slice(&bytes).map_err(malformed)?;
        let checked = fixed.require_types(&config.family).and_then(|()| config.validate());
        checked.and_then(|()| fixed.validate(&config)).map_err(wrong)?;
        Ok(config)
    }

    /// # Errors
    /// A value that has the right type but is invalid.
    fn validate(&self) -> Result<(), String> {
        let sizes = [
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
        ];
        let types = ("type_vocab_size", self.type_vocab_size);
        let least_types = i64::from(matches!(self.family.name(), "bert" | "roberta" | "xlm-roberta"));
        let ranges = sizes.into_iter().map(|size| (size, 1)).chain([(types, least_types)]);
        for ((name, size), least) in ranges {
            if !(least..=MAX_SIZE).contains(&size) {
                return Err(format!("{name} is {size}; it must be from {least} to {MAX_SIZE}"));
            }
        }
        let (hidden, heads) = (self.hidden_size, self.num_attention_heads);
        if hidden % heads != 0 {
            return Err(format!("hidden_size {hidden} is not a multiple of num_attention_heads {heads}"));
        }
        if let Some(pad_token_id) = self.padding_id()
            && (!(0..self.max_position_embeddings).contains(&pad_token_id) || pad_token_id >= self.vocab_size)
        {
            return Err(format!("pad_token_id {pad_token_id} is neither a token nor a position"));
        }
        let dropouts = [self.hidden_dropout_prob, self.attention_probs_dropout_prob];
        if !dropouts.iter().all(|p| (0. ..1.).contains(p)) || !(0. ..1.).contains(&self.layer_norm_eps) {
            return Err("layer_norm_eps and the dropout probabilities must be at least 0 and below 1".into());
        }
        match &self.family {
            Family::Mpnet { relative_attention_num_buckets: buckets, .. } if *buckets != RELATIVE_BUCKETS => {
                Err(format!("relative_attention_num_buckets is {buckets}; only {RELATIVE_BUCKETS} is supported"))
            }
            Family::Mpnet { pad_token_id, .. } if *pad_token_id != 1 => {
                Err(format!("pad_token_id is {pad_token_id}; in MPNet only 1 is supported"))
            }
            Family::Deberta(deberta) => deberta.refuse_later_settings().and_then(|()| deberta.validate(self.sizes())),
            Family::DebertaV2(deberta) => deberta.validate(self.sizes()),
            _ => Ok(()),
        }
    }

    /// The least number of parameters of such an encoder: those of its matrices.
    pub fn least_parameters(&self) -> u128 {
        let [vocabulary, hidden, embedding, layers, inner] =
            [self.vocab_size, self.hidden_size, self.embedding_size(), self.num_hidden_layers, self.intermediate_size]
                .map(|size| size as u128);
        let positions = if self.has_positions() { self.max_position_embeddings as u128 } else { 0 };
        let relative = self.family.deberta().map_or(0, |deberta| deberta.least_parameters(self.sizes()));
        (vocabulary + positions) * embedding + layers * (4 * hidden * hidden + 2 * hidden * inner) + relative
    }

    fn sizes(&self) -> Sizes {
        Sizes { hidden: self.hidden_size, layers: self.num_hidden_layers, positions: self.max_position_embeddings }
    }

    /// The prefix of the weights inside a larger model of Hugging Face.
    pub const fn prefix(&self) -> &'static str {
        self.family.prefix()
    }

    /// Width of the word embeddings.
    pub fn embedding_size(&self) -> i64 {
        self.family.deberta().and_then(|deberta| deberta.embedding_size).unwrap_or(self.hidden_size)
    }

    /// Whether absolute positions are added to the words.
    pub fn has_positions(&self) -> bool {
        self.family.deberta().is_none_or(|deberta| deberta.position_biased_input)
    }

    /// Whether a token type is added to each word.
    pub fn has_token_types(&self) -> bool {
        self.type_vocab_size > 0 && !matches!(self.family, Family::Mpnet { .. })
    }

    /// The number of token types; `None` if the encoder does not use types.
    pub fn token_types(&self) -> Option<i64> {
        let looks = match self.family {
            Family::Bert => true,
            Family::Roberta { .. } | Family::XlmRoberta { .. } | Family::Mpnet { .. } => false,
            Family::Deberta(_) | Family::DebertaV2(_) => self.type_vocab_size > 0,
        };
        looks.then_some(self.type_vocab_size)
    }

    /// The position of the first token.
    pub fn position_offset(&self) -> i64 {
        self.padding_id().map_or(0, |id| id + 1)
    }

    /// The id of the padding, in the families whose positions start after it.
    pub const fn padding_id(&self) -> Option<i64> {
        match self.family {
            Family::Roberta { pad_token_id }
            | Family::XlmRoberta { pad_token_id }
            | Family::Mpnet { pad_token_id, .. } => Some(pad_token_id),
            Family::Bert | Family::Deberta(_) | Family::DebertaV2(_) => None,
        }
    }

    /// The number of positions: the length of the longest input, in tokens.
    pub fn max_tokens(&self) -> usize {
        usize::try_from(self.max_position_embeddings - self.position_offset()).unwrap_or(0)
    }
}

impl Fixed {
    fn require_types(&self, family: &Family) -> Result<(), String> {
        match (family, self.type_vocab_size) {
            (Family::Mpnet { .. }, _) | (_, Some(_)) => Ok(()),
            (_, None) => Err("missing field `type_vocab_size`".into()),
        }
    }

    fn validate(&self, config: &EncoderConfig) -> Result<(), String> {
        let head = config.hidden_size / config.num_attention_heads;
        match self {
            Fixed { position_embedding_type: Some(kind), .. } if kind != "absolute" => {
                Err(format!("position_embedding_type is {:?}; only \"absolute\" is supported", shown(kind, 40)))
            }
            Fixed { is_decoder: Some(true), .. } => Err("is_decoder is true; only encoders are supported".into()),
            Fixed { talking_head: Some(true), .. } => Err("talking_head is true, which is not supported".into()),
            Fixed { attention_head_size: Some(size), .. } if *size != head => Err(format!(
                "attention_head_size is {size}; only hidden_size / num_attention_heads, here {head}, is supported"
            )),
            _ => Ok(()),
        }
    }
}
