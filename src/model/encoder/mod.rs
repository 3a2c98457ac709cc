//! The pretrained encoder: XLM-RoBERTa and RoBERTa (Conneau et al., 2020; Liu et al., 2019).
//!
//! Names are those of Hugging Face's checkpoints. Tokens come packed, without padding: everything but attention
//! works on all T tokens at once, attention on the runs of sequences of one length.

mod config;
mod embeddings;
mod layer;

pub use config::{Activation, EncoderConfig, ModelType};
pub use embeddings::{Embeddings, TRAINED_ROWS};

use super::layers::Mode;
use crate::batch::Tokens;
use layer::Layer;
use tch::{Tensor, nn};

/// Embeddings and a stack of transformer layers, norm after; no pooler.
pub struct Encoder {
    pub config: EncoderConfig,
    pub embeddings: Embeddings,
    layers: Vec<Layer>,
}

impl Encoder {
    /// An untrained encoder; the weights are loaded afterwards, by name.
    pub fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        let layers = p / "encoder" / "layer";
        Encoder {
            config: config.clone(),
            embeddings: Embeddings::new(&(p / "embeddings"), config),
            layers: (0..config.num_hidden_layers).map(|i| Layer::new(&(&layers / i), config)).collect(),
        }
    }

    /// # Shapes
    /// T packed tokens -> `[T, H]`
    pub fn forward(&self, tokens: &Tokens, mode: Mode) -> Tensor {
        let embedded = self.embeddings.forward(tokens, mode);
        self.layers.iter().fold(embedded, |hidden, layer| layer.forward(&hidden, &tokens.groups, mode))
    }

    /// The vector of each sequence's first token.
    ///
    /// # Shapes
    /// U packed sequences -> `[U, H]`
    pub fn first_tokens(&self, tokens: &Tokens, mode: Mode) -> Tensor {
        self.forward(tokens, mode).index_select(0, &tokens.first)
    }
}
