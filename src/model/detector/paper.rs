//! The paper's conflict detector: a transformer over the sentences of a story, for one entity at a time.

use super::config::{DetectorConfig, DetectorInputs, Norm};
use super::standard::RunningNorm;
use super::transformer::{LAYER_NORM_EPS, TransformerLayer, only};
use crate::attribute::SIDE_CLASSES;
use crate::batch::{Batch, DistinctRows};
use crate::model::layers::{Mode, affine, dropout, layer_norm, linear, new_layer_norm, new_linear};
use tch::{Kind, Tensor, nn};

/// Projections, transformer layers, and one conflict probability for each sentence (TRIP, appendix B).
pub struct PaperDetector {
    config: DetectorConfig,
    /// The norms of embeddings and of state logits, if they are standardised.
    norms: Option<[RunningNorm; 2]>,
    embedding: nn::Linear,
    states: nn::Linear,
    layers: Vec<TransformerLayer>,
    /// The norm after the last layer, if the layers normalise before.
    norm: Option<nn::LayerNorm>,
    out: nn::Linear,
    dropout_prob: f64,
}

impl PaperDetector {
    /// `sentences` is N.
    pub fn new(p: &nn::Path, config: &DetectorConfig, hidden: i64, sentences: i64, dropout_prob: f64) -> Self {
        let half = config.width / 2;
        PaperDetector {
            config: config.clone(),
            norms: config.standardize.then(|| {
                let norm = |name, width| RunningNorm::new(&(p / name), width);
                [norm("embedding_norm", hidden), norm("states_norm", 2 * SIDE_CLASSES as i64)]
            }),
            embedding: new_linear(p / "embedding", hidden, half),
            states: new_linear(p / "states", 2 * SIDE_CLASSES as i64, half),
            layers: TransformerLayer::stack(
                &(p / "layers"),
                config.layers,
                config.width,
                config.norm,
                config,
                dropout_prob,
            ),
            norm: (config.norm == Norm::Before).then(|| new_layer_norm(p / "norm", config.width, LAYER_NORM_EPS)),
            out: new_linear(p / "out", sentences * config.width, sentences),
            dropout_prob,
        }
    }

    /// Sets the initial conflict probabilities to the share of cells that take part in a conflict.
    pub fn set_output_bias(&self, frequency: f32) {
        let bias = f64::from((frequency / (1. - frequency)).ln());
        let _ = tch::no_grad(|| self.out.bs.as_ref().expect("made with a bias").shallow_clone().fill_(bias));
    }

    /// No gradient flows into the state logits: states should explain conflicts, not adapt to them.
    ///
    /// # Shapes
    /// `embeddings [U, H]`, `state_logits [U, 132]` -> conflict logits `[R, N]`
    pub fn forward(&self, embeddings: &Tensor, state_logits: &Tensor, batch: &Batch, mode: Mode) -> Tensor {
        let DistinctRows { cells, mask, of_row } = &batch.distinct;
        let (d, n) = cells.size2().expect("cells are [D, n]");
        let inputs = self.entity_dynamics(embeddings, &state_logits.detach(), mode); // [U, width]
        let sequence = inputs.index_select(0, &cells.view([-1])).view([d, n, -1]); // [D, n, width]
        let mask = mask.to_kind(Kind::Float);
        let bias = only(&mask); // [D, 1, 1, n]
        let mut hidden = dropout(&sequence, self.dropout_prob, mode);
        for layer in &self.layers {
            hidden = layer.forward(&hidden, &bias, mode);
        }
        if let Some(norm) = &self.norm {
            hidden = layer_norm(&hidden, norm);
        }
        let real = (hidden * mask.unsqueeze(-1)).view([d, -1]); // [D, n·width]
        self.of_sentences(&dropout(&real, self.dropout_prob, mode), mode).index_select(0, of_row)
    }

    /// The last layer. It reads N sentences, of which those after the n-th are zeros. `[D, n·width]` -> `[D, N]`
    fn of_sentences(&self, real: &Tensor, mode: Mode) -> Tensor {
        let weight = mode.weight(&self.out.ws).narrow(1, 0, real.size()[1]);
        let bias = self.out.bs.as_ref().expect("made with a bias");
        affine(real, &weight, bias, mode.precision).to_kind(Kind::Float)
    }

    /// `[U, H]`, `[U, 132]` -> `[U, width]`; an ablated half is zeros.
    fn entity_dynamics(&self, embeddings: &Tensor, state_logits: &Tensor, mode: Mode) -> Tensor {
        let project =
            |x: &Tensor, layer| linear(&dropout(x, self.dropout_prob, mode), layer, mode).to_kind(Kind::Float);
        let [embeddings, state_logits] = match &self.norms {
            Some([of_embeddings, of_states]) => {
                [of_embeddings.forward(embeddings, mode), of_states.forward(state_logits, mode)]
            }
            None => [embeddings.shallow_clone(), state_logits.shallow_clone()],
        };
        let inputs = self.config.inputs;
        let embedding = project(&embeddings, &self.embedding) * f64::from(inputs != DetectorInputs::States);
        let states = project(&state_logits, &self.states) * f64::from(inputs != DetectorInputs::Embeddings);
        Tensor::cat(&[embedding, states], -1)
    }
}
