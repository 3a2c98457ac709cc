//! Sizes of XLM-RoBERTa (Conneau et al., 2020, section 4).

use crate::model::EncoderConfig;
use crate::model::encoder::{Activation, Family};

/// A published size, whose cost can be measured without its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs)] // comments of variants become help text
pub enum EncoderSize {
    Base,
    Large,
}

impl EncoderSize {
    /// As in `config.json` of `FacebookAI/xlm-roberta-base` and `-large`.
    pub fn config(self) -> EncoderConfig {
        let (hidden_size, num_hidden_layers, num_attention_heads) = match self {
            EncoderSize::Base => (768, 12, 12),
            EncoderSize::Large => (1024, 24, 16),
        };
        EncoderConfig {
            family: Family::XlmRoberta { pad_token_id: 1 },
            hidden_act: Activation::Gelu,
            vocab_size: 250_002,
            hidden_size,
            num_hidden_layers,
            num_attention_heads,
            intermediate_size: 4 * hidden_size,
            max_position_embeddings: 514,
            type_vocab_size: 1,
            layer_norm_eps: 1e-5,
            hidden_dropout_prob: 0.1,
            attention_probs_dropout_prob: 0.1,
        }
    }
}
