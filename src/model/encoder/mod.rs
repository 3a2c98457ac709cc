//! The pretrained encoder: BERT, RoBERTa, XLM-RoBERTa, MPNet (one implementation, [`layer`]) and DeBERTa ([`deberta`]).
//!
//! Names are those of Hugging Face's checkpoints. Tokens are packed without padding, and everything but attention works on
//! all T of them at once; attention works on each run of sequences of equal length. Where libtorch's operations compute, all
//! works on bins of several sequences, or on long sequences end to end ([`layout`]). In DeBERTa attention works there on few
//! padded blocks ([`blocks`]).

mod blocks;
pub(super) mod config;
pub mod deberta;
mod embeddings;
mod fused;
mod layer;
mod layout;
mod read_rows;
pub mod relative_bias;
mod sizes;

pub use config::{Activation, EncoderConfig, Family};
pub use embeddings::{Embeddings, TRAINED_ROWS, WORD_TABLE};

use super::layers::Mode;
use super::weight_copies::WeightCopies;
use crate::batch::Tokens;
use blocks::AttentionBlocks;
use deberta::Deberta;
use fused::{FusedInput, FusedLayers};
use layer::Layer;
use layout::TokenLayout;
use relative_bias::RelativeBias;
use std::collections::HashMap;
use tch::{Device, Kind, Tensor, nn};

/// Embeddings and transformer layers with norms after the residual sums; no pooler.
pub struct Encoder {
    /// The sizes and constants that it was built from.
    pub config: EncoderConfig,
    /// They turn token ids into the input of the first layer.
    pub embeddings: Embeddings,
    layers: Layers,
}

/// The transformer layers of a family.
enum Layers {
    Bert {
        layers: Vec<Layer>,
        /// MPNet's, which all layers share.
        relative: Option<RelativeBias>,
    },
    Deberta(Box<Deberta>),
}

/// The implementation that computes the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// Our own kernels between libtorch's matmuls, forward and backward ([`fused`]).
    Kernels,
    /// libtorch's operations and automatic differentiation.
    Libtorch,
}

impl Path {
    /// What computes the layers, for messages.
    pub const fn words(self) -> &'static str {
        match self {
            Path::Kernels => "kernels",
            Path::Libtorch => "libtorch's operations",
        }
    }
}

impl Encoder {
    /// An untrained encoder. Its weights are loaded later, by name.
    pub fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        Encoder {
            config: config.clone(),
            embeddings: Embeddings::new(&(p / "embeddings"), config),
            layers: Layers::new(&(p / "encoder"), config),
        }
    }

    /// # Shapes
    /// T packed tokens, of which O are read -> `[O, H]`, differentiable unless computed by kernels
    pub fn forward(&self, tokens: &Tokens, mode: Mode) -> Tensor {
        let embedded = self.embeddings.forward(tokens, mode);
        match self.layers.fusing(mode, embedded.device()) {
            Some(layers) => fused::forward(&layers, &embedded, FusedInput::of(tokens, &layers).0, mode),
            None => self.layers.forward(embedded, tokens, mode),
        }
    }

    /// [`Encoder::forward`], with everything saved for [`ForwardPass::gradients`].
    pub fn trace<'a>(&'a self, tokens: &Tokens, mode: Mode<'a>) -> ForwardPass<'a> {
        let embedded = self.embeddings.forward(tokens, mode);
        let (graph, hidden, pass) = match self.layers.fusing(mode, embedded.device()) {
            Some(layers) => {
                let (input, positions) = FusedInput::of(tokens, &layers);
                let (pass, hidden) = fused::SavedActivations::new(&layers, &embedded, input, mode);
                (GraphStart { embedded, positions }, hidden, Some((pass, layers)))
            }
            None => {
                let hidden = self.layers.forward(embedded, tokens, mode);
                let detached = hidden.detach();
                (GraphStart::of(hidden), detached, None)
            }
        };
        ForwardPass { graph, hidden: hidden.set_requires_grad(true), pass, copies: mode.copies }
    }

    /// The implementation for this mode and device.
    pub fn path(&self, mode: Mode, device: Device) -> Path {
        if self.layers.fusing(mode, device).is_some() { Path::Kernels } else { Path::Libtorch }
    }
}

impl Layers {
    /// `p` is the `encoder` of the checkpoint.
    fn new(p: &nn::Path, config: &EncoderConfig) -> Self {
        if let Some(deberta) = config.family.deberta() {
            return Layers::Deberta(Box::new(Deberta::new(p, config, deberta)));
        }
        let layer = p / "layer";
        let has_relative = matches!(config.family, Family::Mpnet { .. });
        Layers::Bert {
            layers: (0..config.num_hidden_layers).map(|i| Layer::new(&(&layer / i), config)).collect(),
            relative: has_relative.then(|| RelativeBias::new(p, config.num_attention_heads)),
        }
    }

    /// The layers, if kernels can compute them here.
    fn fusing(&self, mode: Mode, device: Device) -> Option<FusedLayers<'_>> {
        match self {
            _ if !mode.fuses_on(device) => None,
            Layers::Bert { layers, relative: None } => {
                Some(FusedLayers { layers: layers.iter().map(Layer::fused).collect(), positions: None })
            }
            Layers::Bert { .. } => None,
            Layers::Deberta(deberta) => deberta.fused(),
        }
    }

    /// With libtorch's operations, differentiable.
    fn forward(&self, embedded: Tensor, tokens: &Tokens, mode: Mode) -> Tensor {
        match self {
            Layers::Bert { layers, relative } => {
                let depth = layers.first().map(Layer::depth);
                let layout = TokenLayout::of(tokens, depth, relative.as_ref(), mode);
                let embedded = layout.lay_out(embedded);
                let Some((last, before)) = layers.split_last() else { return layout.read(&embedded) };
                let hidden = before.iter().fold(embedded, |hidden, layer| layer.forward(&hidden, &layout, mode));
                last.forward_read(&hidden, &layout, mode)
            }
            Layers::Deberta(deberta) => {
                let hidden = deberta.forward(&embedded, &AttentionBlocks::of(tokens, mode), mode);
                hidden.index_select(0, &tokens.read)
            }
        }
    }
}

/// A forward pass through the encoder, saved for the backward pass. That has two parts: first whatever reads the
/// encoder, then the encoder itself.
pub struct ForwardPass<'a> {
    graph: GraphStart,
    /// `[O, H]` the encoder's output for the tokens that are read.
    pub hidden: Tensor,
    /// What the kernels saved, and the layers that they computed.
    pass: Option<(fused::SavedActivations, FusedLayers<'a>)>,
    copies: Option<&'a WeightCopies>,
}

/// Where the backward pass goes on in libtorch's graph: with kernels, at the input of the layers; else at their output.
struct GraphStart {
    /// `[T, H]` the embedded tokens, or `[O, H]` the output.
    embedded: Tensor,
    /// `[U, H]` DeBERTa's vectors of relative positions, with kernels.
    positions: Option<Tensor>,
}

impl GraphStart {
    fn of(output: Tensor) -> Self {
        GraphStart { embedded: output, positions: None }
    }
}

impl<'a> ForwardPass<'a> {
    /// Output that was computed earlier: gradients stop here. What reads it computes in this mode. `[U, H]`
    pub fn fixed(hidden: Tensor, mode: Mode<'a>) -> Self {
        let graph = GraphStart::of(hidden.shallow_clone());
        ForwardPass { graph, hidden: hidden.detach().set_requires_grad(true), pass: None, copies: mode.copies }
    }

    /// The gradient of `loss` for each of `variables`; undefined for a variable that the loss does not depend on.
    pub fn gradients(self, loss: &Tensor, variables: &[&Tensor]) -> Vec<Tensor> {
        let (mut gradients, of_hidden) = self.gradients_of_readers(loss, variables);
        self.add_gradients_of_encoder(&of_hidden, variables, &mut gradients);
        gradients
    }

    /// The first part: the gradients of variables outside the encoder, and of the encoder's output `[O, H]`.
    pub fn gradients_of_readers(&self, loss: &Tensor, variables: &[&Tensor]) -> (Vec<Tensor>, Tensor) {
        let inputs = [variables, &[&self.hidden]].concat();
        let mut gradients = gradients_of(loss, &inputs, self.copies);
        let of_hidden = gradients.pop().expect("one for each tensor asked for");
        (gradients, of_hidden)
    }

    /// The second part: adds the gradients of variables inside the encoder.
    pub fn add_gradients_of_encoder(self, of_hidden: &Tensor, variables: &[&Tensor], gradients: &mut [Tensor]) {
        if !of_hidden.defined() {
            return; // the loss does not depend on the encoder
        }
        let GraphStart { embedded, positions } = self.graph;
        let to_embeddings = embedded.requires_grad();
        let to_positions = positions.as_ref().is_some_and(Tensor::requires_grad);
        let of = match self.pass {
            Some((pass, layers)) => pass.backward(&layers, of_hidden, to_embeddings, to_positions),
            None => {
                let embedded = to_embeddings.then(|| of_hidden.shallow_clone());
                fused::EncoderGradients { variables: Vec::new(), embedded, positions: None }
            }
        };
        let index_of: HashMap<_, _> = variables.iter().enumerate().map(|(i, tensor)| (tensor.data_ptr(), i)).collect();
        for (variable, gradient) in of.variables {
            if let Some(&i) = index_of.get(&variable.data_ptr()) {
                gradients[i] = gradient;
            }
        }
        let of_embedded = of.embedded.map(|gradient| embedded * gradient);
        let of_positions = positions
            .filter(|_| to_positions)
            .zip(of.positions)
            .map(|(vectors, gradient)| &vectors * gradient.narrow(0, 0, vectors.size()[0]));
        let along = [of_embedded, of_positions].into_iter().flatten().map(|product| product.sum(Kind::Float));
        if let Some(along) = along.reduce(|a, b| a + b) {
            let found = gradients_of(&along, variables, self.copies);
            let found = gradients.iter_mut().zip(found).filter(|(_, found)| found.defined());
            found.for_each(|(gradient, found)| *gradient = found);
        }
    }
}

/// Undefined for a variable that the loss does not depend on.
fn gradients_of(loss: &Tensor, variables: &[&Tensor], copies: Option<&WeightCopies>) -> Vec<Tensor> {
    match copies {
        Some(copies) => copies.gradients(loss, variables),
        None => Tensor::run_backward(&[loss], variables, false, false),
    }
}
