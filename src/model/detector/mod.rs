//! Where the conflict is: two formulations, equal in rank.
//!
//! The paper's [`BeliefDetector`] asks of every sentence, for one entity at a time, whether it takes part in a
//! conflict. The [`JointDetector`] knows that a pair has exactly one conflict, and spreads one distribution over all
//! places where it could be.

mod belief;
mod config;
mod joint;
mod standard;
mod transformer;

pub use belief::BeliefDetector;
pub use config::{Context, DetectorConfig, DetectorInputs, DetectorKind, Norm};
pub use joint::JointDetector;

use super::layers::Mode;
use super::tiered::ModelConfig;
use crate::batch::Batch;
use tch::{Tensor, nn};

/// What a detector says about a batch.
pub enum Conflicts {
    /// `[R, N]` logits of the belief that the sentence takes part in a conflict of the row's entity.
    Beliefs {
        logits: Tensor,
    },
    Places(Places),
}

/// One distribution over the places of both stories.
pub struct Places {
    /// `[B, 2, N, N]` log-probability that the conflict is in this story, between these two sentences; they add up to
    /// one over a pair of stories.
    pub log_probs: Tensor,
    /// `[R, N, N]` the same for each entity, where the detector tells them apart; they add up to `log_probs`.
    pub of_entities: Option<Tensor>,
    /// `[2B, N·N + 1]` log-probabilities in a story alone: of its places, and last that it has no conflict. `None` if
    /// the detector was not made for that.
    pub alone: Option<Tensor>,
}

/// One of the two.
pub enum Detector {
    Belief(BeliefDetector),
    Joint(JointDetector),
}

/// What a detector reads.
pub struct DetectorInput<'a> {
    /// `[U, H]`
    pub embeddings: &'a Tensor,
    /// `[U, 132]`; no gradient flows into them.
    pub state_logits: &'a Tensor,
    /// `[T, H]` every token of the batch.
    pub tokens: &'a Tensor,
}

impl Detector {
    pub fn new(p: &nn::Path, config: &ModelConfig) -> Self {
        let ModelConfig { detector, dropout, max_sentences, no_conflict, encoder, .. } = config;
        let (hidden, sentences) = (encoder.hidden_size, *max_sentences as i64);
        match detector.kind {
            DetectorKind::Belief => Detector::Belief(BeliefDetector::new(p, detector, hidden, sentences, *dropout)),
            DetectorKind::Joint => Detector::Joint(JointDetector::new(p, detector, hidden, *no_conflict, *dropout)),
        }
    }

    /// Starts the paper's beliefs at the share of slots that take part in a conflict; a distribution over places has
    /// no such bias.
    pub fn set_output_bias(&self, frequency: f32) {
        if let Detector::Belief(detector) = self {
            detector.set_output_bias(frequency);
        }
    }

    pub fn forward(&self, input: DetectorInput, batch: &Batch, mode: Mode) -> Conflicts {
        match self {
            Detector::Belief(detector) => {
                let logits = detector.forward(input.embeddings, input.state_logits, batch, mode);
                Conflicts::Beliefs { logits }
            }
            Detector::Joint(detector) => Conflicts::Places(detector.forward(input, batch, mode)),
        }
    }
}
