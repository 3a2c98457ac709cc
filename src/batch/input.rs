//! What is encoded of the pairs, and where the inputs are in it.

use super::index::{SentencePlace, SequenceNumber};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An entity in a sentence, as a model reads it.
#[derive(Debug, Clone)]
pub struct Input {
    /// The tokens that are encoded.
    pub sequence: SequenceNumber,
    /// Those whose mean is read, by their positions. A sentence without tokens reads none, and its vector is 0.
    pub read: Vec<usize>,
    /// With [`WholeStories::AroundInputs`]: the sentence where it stands; the padding stands nowhere.
    pub place: Option<SentencePlace>,
}

/// What a model reads of a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reads {
    /// With each entity.
    pub input_text: InputText,
    /// Without entities, in addition.
    pub stories: WholeStories,
}

/// The text that is encoded with an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InputText {
    /// One sentence. The vector of the first token is read (TRIP, section 3.1).
    #[default]
    Sentence,
    /// The whole story, once for all its sentences. The mean of the sentence's tokens is read.
    Story,
}

/// The stories that are encoded in addition to the inputs with entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WholeStories {
    /// None: the model reads inputs with entities only.
    Unread,
    /// Every distinct story.
    Read,
    /// Every distinct story. An input is identified by its story and sentence too.
    AroundInputs,
}
