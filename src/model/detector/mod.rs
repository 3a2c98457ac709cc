//! The conflict detectors: two kinds, neither preferred.
//!
//! [`PaperDetector`] predicts for every entity and sentence whether the sentence takes part in a conflict.
//! [`JointDetector`] uses that a pair has exactly one conflict: it predicts one distribution over all sentence pairs of
//! both stories.

mod config;
mod joint;
mod paper;
mod standard;
mod transformer;

pub use config::{Context, DetectorConfig, DetectorInputs, DetectorKind, Norm};
pub use joint::JointDetector;
pub use paper::PaperDetector;

use super::layers::Mode;
use super::tiered::ModelConfig;
use crate::batch::Batch;
use tch::{Tensor, nn};

/// The output of a detector for a batch.
pub enum Conflicts {
    /// `[R, N]` logits of the conflict probability, for the sentence and the row's entity.
    Sentences {
        logits: Tensor,
    },
    SentencePairs(SentencePairs),
}

/// One distribution over the sentence pairs of both stories.
pub struct SentencePairs {
    /// `[B, 2, N, N]` log-probability that the conflict is in this story, between these two sentences. The
    /// probabilities of a pair's two stories sum to 1.
    pub log_probs: Tensor,
    /// `[R, N, N]` the same for each entity, if the detector distinguishes them. The probabilities sum to those of
    /// `log_probs`.
    pub of_entities: Option<Tensor>,
    /// `[2B, N·N + 1]` log-probabilities for single stories: of the sentence pairs and, last, of "no conflict". `None`
    /// if the detector lacks this output.
    pub single_story: Option<Tensor>,
}

/// A detector of either kind.
pub enum Detector {
    Paper(PaperDetector),
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
            DetectorKind::Paper => Detector::Paper(PaperDetector::new(p, detector, hidden, sentences, *dropout)),
            DetectorKind::Joint => Detector::Joint(JointDetector::new(p, detector, hidden, *no_conflict, *dropout)),
        }
    }

    /// Sets the paper's initial conflict probabilities to the share of cells that take part in a conflict. A
    /// distribution over sentence pairs has no such bias.
    pub fn set_output_bias(&self, frequency: f32) {
        if let Detector::Paper(detector) = self {
            detector.set_output_bias(frequency);
        }
    }

    pub fn forward(&self, input: DetectorInput, batch: &Batch, mode: Mode) -> Conflicts {
        match self {
            Detector::Paper(detector) => {
                let logits = detector.forward(input.embeddings, input.state_logits, batch, mode);
                Conflicts::Sentences { logits }
            }
            Detector::Joint(detector) => Conflicts::SentencePairs(detector.forward(input, batch, mode)),
        }
    }
}
