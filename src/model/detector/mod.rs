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

/// A conflict detector: reads what the encoder and the state heads say, and finds the sentences in conflict. A model can
/// have one of the two here or any other (`examples/custom_detector.rs`).
pub trait ConflictDetector: Send {
    /// The conflicts of a batch.
    fn forward(&self, input: DetectorInput, batch: &Batch, mode: Mode) -> Conflicts;

    /// Sets the initial conflict probabilities to the share of cells that take part in a conflict. Does nothing unless
    /// it is implemented: a distribution over sentence pairs has no such bias.
    fn set_output_bias(&self, _frequency: f32) {}
}

/// Makes a detector, with its variables under the path.
pub type NewDetector<'a> = &'a dyn Fn(&nn::Path, &ModelConfig) -> Box<dyn ConflictDetector>;

/// The detector that a config names.
pub fn of_config(p: &nn::Path, config: &ModelConfig) -> Box<dyn ConflictDetector> {
    let ModelConfig { detector, dropout, max_sentences, no_conflict, encoder, .. } = config;
    let (hidden, sentences) = (encoder.hidden_size, *max_sentences as i64);
    match detector.kind {
        DetectorKind::Paper => Box::new(PaperDetector::new(p, detector, hidden, sentences, *dropout)),
        DetectorKind::Joint => Box::new(JointDetector::new(p, detector, hidden, *no_conflict, *dropout)),
    }
}

impl ConflictDetector for PaperDetector {
    fn forward(&self, input: DetectorInput, batch: &Batch, mode: Mode) -> Conflicts {
        Conflicts::Sentences { logits: PaperDetector::forward(self, input.embeddings, input.state_logits, batch, mode) }
    }

    fn set_output_bias(&self, frequency: f32) {
        PaperDetector::set_output_bias(self, frequency);
    }
}

impl ConflictDetector for JointDetector {
    fn forward(&self, input: DetectorInput, batch: &Batch, mode: Mode) -> Conflicts {
        Conflicts::SentencePairs(JointDetector::forward(self, input, batch, mode))
    }
}
