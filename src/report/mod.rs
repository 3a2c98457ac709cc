//! One [`Report`] of a system on a set of pairs, and its formats.

mod answer;
mod export;
mod published;
mod table;
mod tables;
pub mod words;

pub use answer::{Answer, Choice, ConflictSentence, SentenceAnswer, StateAnswer, StoryAnswer};
pub use published::{PublishedRow, PublishedSet, published};
pub use table::Table;

use crate::metrics::{Share, StateScores, TierCounts};
use serde::{Deserialize, Serialize};

/// What a system scored on a set of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    pub system: String,
    pub data: DataDescription,
    /// One for each way of deciding which sentences conflict.
    pub rows: Vec<TierRow>,
    /// The same for every decoding.
    pub states: StateScores,
    /// Scores to compare with.
    pub published: Vec<PublishedRow>,
}

/// Which pairs were scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataDescription {
    /// The story file, where it is known.
    pub file: Option<String>,
    /// The partition, where it is known.
    pub split: Option<String>,
    /// "cloze", "order" or "mixed".
    pub kind: String,
    pub pairs: u64,
}

/// The three tiers under one decoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierRow {
    /// How the sentences in conflict were decided ("threshold", "pair").
    pub decoding: String,
    pub accuracy: Share,
    pub consistency: Share,
    pub verifiability: Share,
}

/// How much of a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Summary,
    /// With a table of every attribute.
    PerAttribute,
}

impl TierRow {
    pub fn new(decoding: impl Into<String>, counts: &TierCounts) -> Self {
        TierRow {
            decoding: decoding.into(),
            accuracy: counts.accuracy(),
            consistency: counts.consistency(),
            verifiability: counts.verifiability(),
        }
    }
}
