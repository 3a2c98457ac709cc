//! The pretrained encoder: BERT, RoBERTa, XLM-RoBERTa (one implementation, [`layer`]) and DeBERTa ([`deberta`]).
//!
//! Names are those of Hugging Face's checkpoints. Tokens come packed, without padding: everything but attention
//! works on all T tokens at once, attention on the runs of sequences of one length.

mod config;
pub mod deberta;
mod embeddings;
mod fused;
mod layer;

pub use config::{Activation, EncoderConfig, Family};
pub use embeddings::{Embeddings, TRAINED_ROWS};

use super::kernels::Sequences;
use super::layers::Mode;
use crate::batch::Tokens;
use deberta::Deberta;
use layer::Layer;
use std::collections::HashMap;
use tch::{Device, Kind, Tensor, nn};

/// Embeddings and a stack of transformer layers, norm after; no pooler.
pub struct Encoder {
    pub config: EncoderConfig,
    pub embeddings: Embeddings,
    layers: Layers,
}

/// The transformer layers of a family.
enum Layers {
    Bert(Vec<Layer>),
    Deberta(Box<Deberta>),
}

/// What computes the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// Kernels of our own between libtorch's products, forward and backward ([`fused`]).
    Kernels,
    /// libtorch's operations and its differentiation.
    Libtorch,
}

impl Path {
    pub const fn words(self) -> &'static str {
        match self {
            Path::Kernels => "kernels",
            Path::Libtorch => "libtorch's operations",
        }
    }
}

impl Encoder {
    /// An untrained encoder; the weights are loaded afterwards, by name.
    pub fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        Encoder {
            config: config.clone(),
            embeddings: Embeddings::new(&(p / "embeddings"), config),
            layers: Layers::new(&(p / "encoder"), config),
        }
    }

    /// # Shapes
    /// T packed tokens -> `[T, H]`, differentiable unless by kernels
    pub fn forward(&self, tokens: &Tokens, mode: Mode) -> Tensor {
        let embedded = self.embeddings.forward(tokens, mode);
        match self.layers.fusing(mode, embedded.device()) {
            Some(layers) => fused::forward(layers, &embedded, &Sequences::of(&tokens.groups), mode),
            None => self.layers.forward(embedded, tokens, mode),
        }
    }

    /// [`Encoder::forward`] kept for [`Trace::gradients`].
    pub fn trace(&self, tokens: &Tokens, mode: Mode) -> Trace<'_> {
        let embedded = self.embeddings.forward(tokens, mode);
        let (graph, hidden, pass) = match self.layers.fusing(mode, embedded.device()) {
            Some(layers) => {
                let (pass, hidden) = fused::Pass::new(layers, &embedded, Sequences::of(&tokens.groups), mode);
                (embedded, hidden, Some((pass, layers)))
            }
            None => {
                let hidden = self.layers.forward(embedded, tokens, mode);
                (hidden.shallow_clone(), hidden.detach(), None)
            }
        };
        Trace { graph, hidden: hidden.set_requires_grad(true), pass }
    }

    /// What computes the layers in this mode.
    pub fn path(&self, mode: Mode, device: Device) -> Path {
        if self.layers.fusing(mode, device).is_some() { Path::Kernels } else { Path::Libtorch }
    }

    /// The vector of each sequence's first token.
    ///
    /// # Shapes
    /// U packed sequences -> `[U, H]`
    pub fn first_tokens(&self, tokens: &Tokens, mode: Mode) -> Tensor {
        self.forward(tokens, mode).index_select(0, &tokens.first)
    }
}

impl Layers {
    /// `p` is the checkpoint's `encoder`.
    fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        if let Some(deberta) = config.family.deberta() {
            return Layers::Deberta(Box::new(Deberta::new(p, config, deberta)));
        }
        let layers = p / "layer";
        Layers::Bert((0..config.num_hidden_layers).map(|i| Layer::new(&(&layers / i), config)).collect())
    }

    /// Those that kernels compute here, if they do.
    fn fusing(&self, mode: Mode, device: Device) -> Option<&[Layer]> {
        match self {
            Layers::Bert(layers) if mode.fuses_on(device) => Some(layers),
            _ => None,
        }
    }

    /// By libtorch's operations, differentiable.
    fn forward(&self, embedded: Tensor, tokens: &Tokens, mode: Mode) -> Tensor {
        let groups = &tokens.groups;
        match self {
            Layers::Bert(layers) => layers.iter().fold(embedded, |hidden, layer| layer.forward(&hidden, groups, mode)),
            Layers::Deberta(deberta) => deberta.forward(&embedded, groups, mode),
        }
    }
}

/// A forward pass through the encoder that can be gone back, in two strides: what reads the encoder, and itself.
pub struct Trace<'a> {
    /// From where on, backwards, libtorch differentiates: the embedded tokens, or without kernels the output.
    graph: Tensor,
    /// `[T, H]` the encoder's output.
    pub hidden: Tensor,
    /// What the kernels kept, with the layers they computed.
    pass: Option<(fused::Pass, &'a [Layer])>,
}

impl Trace<'_> {
    /// Output that was computed before: gradients go no further. `[U, H]`
    pub fn fixed(hidden: Tensor) -> Self {
        Trace { graph: hidden.shallow_clone(), hidden: hidden.detach().set_requires_grad(true), pass: None }
    }

    /// The gradient of `loss` with respect to each of `variables`; undefined where the loss does not depend on it.
    pub fn gradients(self, loss: &Tensor, variables: &[&Tensor]) -> Vec<Tensor> {
        let (mut gradients, of_hidden) = self.gradients_of_readers(loss, variables);
        self.add_gradients_of_encoder(&of_hidden, variables, &mut gradients);
        gradients
    }

    /// The first stride: the gradients of variables outside of the encoder, and of the encoder's output `[T, H]`.
    pub fn gradients_of_readers(&self, loss: &Tensor, variables: &[&Tensor]) -> (Vec<Tensor>, Tensor) {
        let inputs = [variables, &[&self.hidden]].concat();
        let mut gradients = Tensor::run_backward(&[loss], &inputs, false, false);
        let of_hidden = gradients.pop().expect("one for each tensor asked for");
        (gradients, of_hidden)
    }

    /// The second stride: the gradients of variables inside of the encoder.
    pub fn add_gradients_of_encoder(self, of_hidden: &Tensor, variables: &[&Tensor], gradients: &mut [Tensor]) {
        if !of_hidden.defined() {
            return; // the loss does not depend on the encoder
        }
        let further = self.graph.requires_grad();
        let (of_layers, of_graph) = match self.pass {
            Some((pass, layers)) => pass.backward(layers, of_hidden, further),
            None => (Vec::new(), further.then(|| of_hidden.shallow_clone())),
        };
        let place: HashMap<_, _> = variables.iter().enumerate().map(|(i, tensor)| (tensor.data_ptr(), i)).collect();
        for (variable, gradient) in of_layers {
            if let Some(&i) = place.get(&variable.data_ptr()) {
                gradients[i] = gradient;
            }
        }
        if let Some(of_graph) = of_graph {
            let along = (self.graph * of_graph).sum(Kind::Float);
            let found = Tensor::run_backward(&[along], variables, false, false);
            let found = gradients.iter_mut().zip(found).filter(|(_, found)| found.defined());
            found.for_each(|(gradient, found)| *gradient = found);
        }
    }
}
