//! The pretrained encoder: XLM-RoBERTa and RoBERTa (Conneau et al., 2020; Liu et al., 2019).
//!
//! Names are those of Hugging Face's checkpoints. Tokens come packed, without padding: everything but attention
//! works on all T tokens at once, attention on the runs of sequences of one length.

mod config;
mod embeddings;
mod fused;
mod layer;

pub use config::{Activation, EncoderConfig, ModelType};
pub use embeddings::{Embeddings, TRAINED_ROWS};

use super::kernels::Sequences;
use super::layers::Mode;
use crate::batch::Tokens;
use layer::Layer;
use std::collections::HashMap;
use tch::{Kind, Tensor, nn};

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
    /// T packed tokens -> `[T, H]`, differentiable unless by kernels
    pub fn forward(&self, tokens: &Tokens, mode: Mode) -> Tensor {
        let embedded = self.embeddings.forward(tokens, mode);
        match mode.fuses_on(embedded.device()) {
            true => fused::forward(&self.layers, &embedded, &Sequences::of(&tokens.groups), mode),
            false => self.layers.iter().fold(embedded, |hidden, layer| layer.forward(&hidden, &tokens.groups, mode)),
        }
    }

    /// [`Encoder::forward`] kept for [`Trace::gradients`].
    pub fn trace(&self, tokens: &Tokens, mode: Mode) -> Trace<'_> {
        let embedded = self.embeddings.forward(tokens, mode);
        if mode.fuses_on(embedded.device()) {
            let (pass, hidden) = fused::Pass::new(&self.layers, &embedded, Sequences::of(&tokens.groups), mode);
            let hidden = hidden.set_requires_grad(true);
            return Trace { encoder: self, embedded, hidden, pass: Some(pass) };
        }
        let hidden =
            self.layers.iter().fold(embedded.shallow_clone(), |hidden, layer| layer.forward(&hidden, &tokens.groups, mode));
        Trace { encoder: self, embedded, hidden, pass: None }
    }

    /// The vector of each sequence's first token.
    ///
    /// # Shapes
    /// U packed sequences -> `[U, H]`
    pub fn first_tokens(&self, tokens: &Tokens, mode: Mode) -> Tensor {
        self.forward(tokens, mode).index_select(0, &tokens.first)
    }
}

/// A forward pass through the encoder that can be gone back.
pub struct Trace<'a> {
    encoder: &'a Encoder,
    /// `[T, H]`
    embedded: Tensor,
    /// `[T, H]` the encoder's output; everything after it is differentiated by libtorch.
    pub hidden: Tensor,
    /// What the kernels kept; without it libtorch differentiates the encoder too.
    pass: Option<fused::Pass>,
}

impl Trace<'_> {
    /// The gradient of `loss` with respect to each of `variables`; undefined where the loss does not depend on it.
    pub fn gradients(self, loss: &Tensor, variables: &[&Tensor]) -> Vec<Tensor> {
        let Some(pass) = self.pass else {
            return Tensor::run_backward(&[loss], variables, false, false);
        };
        let mut gradients = Tensor::run_backward(&[loss], &[variables, &[&self.hidden]].concat(), false, false);
        let hidden = gradients.pop().expect("one for each tensor asked for");
        if hidden.defined() {
            let to_embeddings = self.embedded.requires_grad();
            let (of_layers, embedded) = pass.backward(&self.encoder.layers, &hidden, to_embeddings);
            let place: HashMap<_, _> = variables.iter().enumerate().map(|(i, tensor)| (tensor.data_ptr(), i)).collect();
            for (variable, gradient) in of_layers {
                if let Some(&i) = place.get(&variable.data_ptr()) {
                    gradients[i] = gradient;
                }
            }
            if let Some(embedded) = embedded {
                let along = (&self.embedded * embedded).sum(Kind::Float);
                let of_embeddings = Tensor::run_backward(&[along], variables, false, false);
                for (gradient, of_embeddings) in gradients.iter_mut().zip(of_embeddings) {
                    if of_embeddings.defined() {
                        *gradient = of_embeddings;
                    }
                }
            }
        }
        gradients
    }
}
