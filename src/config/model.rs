//! `[model]`: the parts of the model that the encoder does not determine.

use crate::batch::InputText;
use crate::model::{Context, DetectorConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parts of the model that the encoder does not determine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct ModelOptions {
    /// The longest story that the model can read, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024), extend("x-resume" = "refused", "x-default" = "the longest of train and dev, also with `--limit`"))]
    pub max_sentences: Option<usize>,
    /// Dropout of heads and detector; the encoder keeps its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 0),
        extend("exclusiveMaximum" = 1, "x-resume" = "refused", "x-default" = "the encoder's `hidden_dropout_prob`")
    )]
    pub dropout: Option<f64>,
    /// Initial value of the last biases of the state heads and of the paper's detector: as PyTorch's linear layer, or the log
    /// frequencies of the training labels.
    #[schemars(extend("x-resume" = "refused"))]
    pub output_bias: OutputBias,
    /// What is encoded with an entity: a sentence (`sentence`), or its whole story, once for all its sentences (`story`)
    /// (`docs/model.md`).
    #[schemars(extend("x-resume" = "refused"))]
    pub input_text: InputText,
    /// What the state heads read: entity and sentence (`sentence`), or also the sentence within its story (`story`)
    /// (`docs/model.md`).
    #[schemars(extend("x-resume" = "refused"))]
    pub state_context: Context,
    /// Which of the two detectors, and its sizes.
    pub detector: DetectorConfig,
}

/// The initial value of the last bias of every head and of the detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputBias {
    /// Like PyTorch's `nn.Linear`.
    #[default]
    Random,
    /// The log frequency of its class in the training pairs. Then the first steps need not learn the frequencies.
    Frequency,
}
