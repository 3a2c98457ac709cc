//! The conflict detectors: two kinds, neither preferred.
//!
//! [`PaperDetector`] predicts for every entity and sentence whether the sentence takes part in a conflict.
//! [`JointDetector`] uses that a pair has exactly one conflict: it predicts one distribution over all sentence pairs of
//! both stories.

pub(super) mod config;
mod conflicts;
mod input;
mod joint;
mod paper;
mod standard;
mod transformer;

pub use config::{Context, DetectorConfig, DetectorInputs, DetectorKind, Norm};
pub use conflicts::{Conflicts, SentencePairs, story_scores};
pub use input::DetectorInput;
pub use joint::JointDetector;
pub use paper::PaperDetector;

use super::config::ModelConfig;
use super::layers::Mode;
use crate::batch::Batch;
use tch::nn;

/// A detector of either kind.
pub enum Detector {
    Paper(PaperDetector),
    Joint(JointDetector),
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
