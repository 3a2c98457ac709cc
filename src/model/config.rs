//! Everything that determines a model, as saved in `model.json`.

use super::detector::config::{Context, DetectorConfig};
use super::encoder::config::EncoderConfig;
use crate::attribute::ATTRIBUTES;
use crate::batch::{InputText, Reads, WholeStories};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Everything that determines the shapes and names of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// The keys of the encoder's `config.json`.
    pub encoder: EncoderConfig,
    /// The conflict detector.
    #[serde(deserialize_with = "known_fields")]
    pub detector: DetectorConfig,
    /// What is encoded with an entity.
    #[serde(default)]
    pub input_text: InputText,
    /// What the state heads read in addition to the (entity, sentence) input.
    #[serde(default)]
    pub state_context: Context,
    /// N: the sentences of the longest story that the model can read.
    pub max_sentences: usize,
    /// Whether the joint detector can predict that a single story has no conflict.
    #[serde(default)]
    pub no_conflict: bool,
    /// Dropout of heads and detector.
    pub dropout: f64,
}

/// Reads the detector in `model.json`, and ignores fields that a later version added. In a config, all fields must be
/// known.
fn known_fields<'de, D: Deserializer<'de>>(from: D) -> Result<DetectorConfig, D::Error> {
    let mut fields = Map::deserialize(from)?;
    let known = serde_json::to_value(DetectorConfig::default()).map_err(D::Error::custom)?;
    fields.retain(|name, _| known.get(name).is_some());
    DetectorConfig::deserialize(Value::Object(fields)).map_err(D::Error::custom)
}

/// The largest number of sentences that a model can be built for.
pub(crate) const MAX_SENTENCES: usize = 1024;

impl ModelConfig {
    /// # Errors
    /// A value that has the right type but is invalid.
    pub fn validate(&self) -> Result<(), String> {
        if !(1..=MAX_SENTENCES).contains(&self.max_sentences) {
            return Err(format!("max_sentences is {}; it must be from 1 to {MAX_SENTENCES}", self.max_sentences));
        }
        if !(0. ..1.).contains(&self.dropout) {
            return Err("dropout must be at least 0 and below 1".into());
        }
        let detector = &self.detector;
        detector.validate().map_err(|problem| format!("detector: {problem}"))?;
        let hidden = self.encoder.hidden_size;
        match detector.sentence_layers > 0 && hidden % detector.heads != 0 {
            true => Err(format!("detector: heads is {}; it must divide the hidden size {hidden}", detector.heads)),
            false => Ok(()),
        }
    }

    /// What the encoder reads.
    pub fn reads(&self) -> Reads {
        reads(self.input_text, &self.detector, self.state_context)
    }

    /// The least number of parameters of such a model: those of its matrices.
    pub fn least_parameters(&self) -> u128 {
        let hidden = self.encoder.hidden_size as u128;
        let heads = 2 * ATTRIBUTES as u128 * hidden * hidden;
        let detector = self.detector.least_parameters(hidden, self.max_sentences as u128);
        self.encoder.least_parameters() + heads + detector
    }
}

/// What the encoder reads for such a detector and such state heads.
pub fn reads(input_text: InputText, detector: &DetectorConfig, state_context: Context) -> Reads {
    let stories = match state_context {
        Context::Story => WholeStories::AroundInputs,
        Context::Sentence if detector.reads_stories() => WholeStories::Read,
        Context::Sentence => WholeStories::Unread,
    };
    Reads { input_text, stories }
}
