//! The paper's conflict detector: a transformer over the sentences of a story, for one entity at a time.

use super::transformer::{TransformerLayer, only};
use super::{DetectorConfig, DetectorInputs};
use crate::attribute::SIDE_CLASSES;
use crate::batch::Batch;
use crate::model::layers::{Mode, dropout, linear, new_linear};
use tch::{Kind, Tensor, nn};

/// Projections, transformer layers, and one belief a sentence (TRIP, appendix B).
pub struct BeliefDetector {
    config: DetectorConfig,
    embedding: nn::Linear,
    states: nn::Linear,
    layers: Vec<TransformerLayer>,
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
            layers: TransformerLayer::stack(&(p / "layers"), config.layers, config.width, config, dropout_prob),
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
        let bias = only(&mask); // [R, 1, 1, N]
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
