//! The encoder with our own kernels, forward and backward: the same mathematics as with libtorch's automatic
//! differentiation, but the operations between the matmuls are fused ([`kernels`](crate::model::kernels)).

mod gradients;
mod layer;
mod positions;

pub use gradients::EncoderGradients;
pub use layer::FusedLayer;

use super::deberta::RelativePositions;
use super::read_rows::{ReadRows, padded};
use crate::batch::Tokens;
use crate::model::kernels::{Bf16, Sequences};
use crate::model::layers::{Mode, Precision};
use layer::{Hidden, HiddenGradient, LayerActivations};
use positions::Positions;
use tch::{Kind, Tensor};

/// Layers that kernels can compute, and the vectors of relative positions that they share, if they are DeBERTa's.
pub struct FusedLayers<'a> {
    pub layers: Vec<FusedLayer<'a>>,
    pub positions: Option<&'a RelativePositions>,
}

/// What the layers need to know of the tokens.
pub struct FusedInput {
    sequences: Sequences,
    read: ReadRows,
    positions: Option<Positions>,
}

impl FusedInput {
    /// Also returns the vectors of relative positions `[U, H]`, differentiable.
    pub fn of(tokens: &Tokens, layers: &FusedLayers) -> (Self, Option<Tensor>) {
        let distances = layers.positions.map(|positions| positions.of(tokens.longest()));
        let (vectors, positions) = distances
            .map(|distances| {
                let positions = Positions::new(&distances);
                (distances.vectors, positions)
            })
            .unzip();
        let sequences = Sequences::of(&tokens.groups);
        (FusedInput { sequences, read: ReadRows::new(&tokens.read), positions }, vectors)
    }
}

/// A forward pass of all layers, saved for the backward pass.
pub struct SavedActivations {
    precision: Precision,
    tokens: i64,
    sequences: Sequences,
    layers: Vec<LayerActivations>,
}

/// The hidden states of the O tokens that are read, after all layers. Nothing is saved.
pub fn forward(FusedLayers { layers, .. }: &FusedLayers, embedded: &Tensor, input: FusedInput, mode: Mode) -> Tensor {
    let _guard = tch::no_grad_guard();
    let FusedInput { sequences, read, positions } = input;
    let (last, lower) = layers.split_last().expect("an encoder has layers");
    let first = Hidden::new(embedded, mode.precision);
    let pass = |layer: &FusedLayer, hidden: &Hidden, read| {
        layer.pass(hidden, &sequences, positions.as_ref(), read, mode).output
    };
    let hidden = lower.iter().fold(first, |hidden, layer| pass(layer, &hidden, None));
    let count = read.count();
    pass(last, &hidden, Some(read)).values(count)
}

impl SavedActivations {
    /// `embedded [T, H]` -> the saved pass, and the hidden states of the O tokens that are read after all layers `[O, H]`
    pub fn new(
        FusedLayers { layers, .. }: &FusedLayers,
        embedded: &Tensor,
        input: FusedInput,
        mode: Mode,
    ) -> (Self, Tensor) {
        let _guard = tch::no_grad_guard();
        let FusedInput { sequences, read, positions } = input;
        let count = read.count();
        let mut read = Some(read);
        let first = Hidden::new(embedded, mode.precision);
        let mut passes: Vec<LayerActivations> = Vec::with_capacity(layers.len());
        for (i, layer) in layers.iter().enumerate() {
            let hidden = passes.last().map_or(&first, |pass| &pass.output);
            let read = if i + 1 == layers.len() { read.take() } else { None };
            let pass = layer.pass(hidden, &sequences, positions.as_ref(), read, mode);
            passes.push(pass);
        }
        let hidden = passes.last().expect("an encoder has layers").output.values(count);
        let tokens = embedded.size()[0];
        (SavedActivations { precision: mode.precision, tokens, sequences, layers: passes }, hidden)
    }

    /// `gradient [O, H]` is that of the hidden states. `to_embeddings` and `to_positions` say what else is wanted.
    pub fn backward(
        self,
        FusedLayers { layers, .. }: &FusedLayers,
        gradient: &Tensor,
        to_embeddings: bool,
        to_positions: bool,
    ) -> EncoderGradients {
        let _guard = tch::no_grad_guard();
        let lowest_trained = layers.iter().position(FusedLayer::is_trained).unwrap_or(layers.len());
        let lowest = if to_embeddings || to_positions { 0 } else { lowest_trained };
        let mut hidden = HiddenGradient { residual_grad: padded(gradient), matmul_grad: None };
        let mut gradients = EncoderGradients { variables: Vec::new(), embedded: None, positions: None };
        for (i, (layer, pass)) in layers.iter().zip(self.layers).enumerate().skip(lowest).rev() {
            let further = to_embeddings || i > lowest;
            let backward = match self.precision {
                Precision::Fp32 => FusedLayer::backward::<f32>,
                Precision::Bf16 => FusedLayer::backward::<Bf16>,
            };
            hidden = backward(layer, &pass, hidden, &self.sequences, further, &mut gradients);
        }
        if to_embeddings {
            let embedded = match &hidden.matmul_grad {
                Some(matmul_grad) => &hidden.residual_grad + matmul_grad.to_kind(Kind::Float),
                None => hidden.residual_grad.shallow_clone(),
            };
            gradients.embedded = Some(embedded.narrow(0, 0, self.tokens));
        }
        gradients
    }
}
