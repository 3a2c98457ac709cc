//! The paper's conflict detector: a transformer over the sentences of a story, for one entity at a time.

use super::{DetectorConfig, DetectorInputs};
use crate::attribute::SIDE_CLASSES;
use crate::batch::Batch;
use crate::model::layers::{Mode, attention, dropout, layer_norm, linear, new_layer_norm, new_linear, product};
use tch::{Kind, Tensor, nn};

/// Projections, transformer layers, and one belief a sentence (TRIP, appendix B).
pub struct BeliefDetector {
    config: DetectorConfig,
    embedding: nn::Linear,
    states: nn::Linear,
    layers: Vec<DetectorLayer>,
    out: nn::Linear,
    dropout_prob: f64,
}

impl BeliefDetector {
    /// `sentences` is N, the longest story the model can read.
    pub fn new(p: &nn::Path, config: &DetectorConfig, hidden: i64, sentences: i64, dropout_prob: f64) -> Self {
        let half = config.width / 2;
        BeliefDetector {
            config: config.clone(),
            embedding: new_linear(p / "embedding", hidden, half),
            states: new_linear(p / "states", 2 * SIDE_CLASSES as i64, half),
            layers: (0..config.layers).map(|i| DetectorLayer::new(&(p / "layers" / i), config, dropout_prob)).collect(),
            out: new_linear(p / "out", sentences * config.width, sentences),
            dropout_prob,
        }
    }

    /// Starts the beliefs at the share of slots that take part in a conflict.
    pub fn set_output_bias(&self, frequency: f32) {
        let bias = f64::from((frequency / (1. - frequency)).ln());
        let _ = tch::no_grad(|| self.out.bs.as_ref().expect("made with a bias").shallow_clone().fill_(bias));
    }

    /// No gradient flows into the state logits: states explain conflicts, they are not bent by them.
    ///
    /// # Shapes
    /// `embeddings [U, H]`, `state_logits [U, 132]` -> belief logits `[R, N]`
    pub fn forward(&self, embeddings: &Tensor, state_logits: &Tensor, batch: &Batch, mode: Mode) -> Tensor {
        let (r, n) = batch.slots.size2().expect("slots are [R, N]");
        let inputs = self.entity_dynamics(embeddings, &state_logits.detach(), mode); // [U, D]
        let sequence = inputs.index_select(0, &batch.slots.view([-1])).view([r, n, -1]); // [R, N, D]
        let mask = batch.mask_f32();
        let bias = ((&mask - 1.0) * 1e9).view([r, 1, 1, n]); // finite: a row of padding only must not become NaN
        let mut hidden = dropout(&sequence, self.dropout_prob, mode);
        for layer in &self.layers {
            hidden = layer.forward(&hidden, &bias, mode);
        }
        let real = (hidden * mask.unsqueeze(-1)).view([r, -1]); // [R, N·D]
        linear(&dropout(&real, self.dropout_prob, mode), &self.out, mode).to_kind(Kind::Float)
    }

    /// `[U, H]`, `[U, 132]` -> `[U, D]`; an ablated half is zeros.
    fn entity_dynamics(&self, embeddings: &Tensor, state_logits: &Tensor, mode: Mode) -> Tensor {
        let project =
            |x: &Tensor, layer| linear(&dropout(x, self.dropout_prob, mode), layer, mode).to_kind(Kind::Float);
        let inputs = self.config.inputs;
        let embedding = project(embeddings, &self.embedding) * f64::from(inputs != DetectorInputs::States);
        let states = project(state_logits, &self.states) * f64::from(inputs != DetectorInputs::Embeddings);
        Tensor::cat(&[embedding, states], -1)
    }
}

/// PyTorch's `nn.TransformerEncoderLayer` (ReLU, norm after), with its names.
struct DetectorLayer {
    in_proj_weight: Tensor,
    in_proj_bias: Tensor,
    out_proj: nn::Linear,
    linear1: nn::Linear,
    linear2: nn::Linear,
    norm1: nn::LayerNorm,
    norm2: nn::LayerNorm,
    heads: i64,
    dropout_prob: f64,
}

/// `nn.TransformerEncoderLayer`'s default.
const LAYER_NORM_EPS: f64 = 1e-5;

impl DetectorLayer {
    fn new(p: &nn::Path, config: &DetectorConfig, dropout_prob: f64) -> Self {
        let (d, ff) = (config.width, config.feed_forward);
        let self_attn = p / "self_attn";
        let xavier = (6.0 / (4 * d) as f64).sqrt(); // of a [3D, D] matrix
        DetectorLayer {
            in_proj_weight: self_attn.uniform("in_proj_weight", &[3 * d, d], -xavier, xavier),
            in_proj_bias: self_attn.zeros("in_proj_bias", &[3 * d]),
            out_proj: new_linear(&self_attn / "out_proj", d, d),
            linear1: new_linear(p / "linear1", d, ff),
            linear2: new_linear(p / "linear2", ff, d),
            norm1: new_layer_norm(p / "norm1", d, LAYER_NORM_EPS),
            norm2: new_layer_norm(p / "norm2", d, LAYER_NORM_EPS),
            heads: config.heads,
            dropout_prob,
        }
    }

    /// `[R, N, D]` -> `[R, N, D]`
    fn forward(&self, x: &Tensor, bias: &Tensor, mode: Mode) -> Tensor {
        let p = self.dropout_prob;
        let qkv = product(x, &self.in_proj_weight, &self.in_proj_bias, mode.precision);
        let attended = linear(&attention(&qkv, self.heads, Some(bias), p, mode), &self.out_proj, mode);
        let x = layer_norm(&(x + dropout(&attended, p, mode)), &self.norm1);
        let inner = dropout(&linear(&x, &self.linear1, mode).relu(), p, mode);
        let outer = dropout(&linear(&inner, &self.linear2, mode), p, mode);
        layer_norm(&(x + outer), &self.norm2)
    }
}
