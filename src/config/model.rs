//! `[model]`: the parts of the model that the encoder does not determine.

use crate::model::{Context, DetectorConfig};
use serde::{Deserialize, Serialize};

/// The parts of the model that the encoder does not determine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelOptions {
    /// The number of sentences of the longest story that the model can read. If absent, that of train and dev.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_sentences: Option<usize>,
    /// Dropout of heads and detector. If absent, the encoder's `hidden_dropout_prob`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropout: Option<f64>,
    /// How the last biases of heads and detector start.
    pub output_bias: OutputBias,
    /// What the state heads read in addition to the (entity, sentence) input.
    pub state_context: Context,
    /// Which of the two detectors, and its sizes.
    pub detector: DetectorConfig,
}

/// The initial value of the last bias of every head and of the detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputBias {
    /// Like PyTorch's `nn.Linear`.
    #[default]
    Random,
    /// The log frequency of its class in the training pairs. Then the first steps need not learn the frequencies.
    Frequency,
}
