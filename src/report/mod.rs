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

use crate::decode::{Decode, StateDecode};
use crate::metrics::{AssertedCounts, Calibration, Share, StateCounts, StateScores, TierCounts};
use crate::prediction::PairPrediction;
use serde::{Deserialize, Serialize};

/// What a system scored on a set of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    pub system: String,
    pub data: DataDescription,
    /// One for each way of deciding which sentences conflict and which states are asserted.
    pub rows: Vec<TierRow>,
    /// One for each way of deciding which states are asserted.
    pub asserted: Vec<AssertedRow>,
    /// Of the most likely classes.
    pub states: StateScores,
    /// Of the story choice: as it is and, where one was fitted on dev, with a temperature. Empty where no probabilities
    /// are known.
    pub calibration: Vec<Calibration>,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierRow {
    /// How the sentences in conflict were decided ("threshold", "pair").
    pub decoding: String,
    /// From which probability on states are asserted; `None` is argmax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_threshold: Option<f32>,
    pub accuracy: Share,
    pub consistency: Share,
    pub verifiability: Share,
}

/// What a way of deciding which states are asserted comes to. A system that asserts little can be right in all it says:
/// recall tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssertedRow {
    /// From which probability on states are asserted; `None` is argmax.
    pub state_threshold: Option<f32>,
    /// Over both sides of all entities and sentences of both stories.
    pub counts: AssertedCounts,
    /// Pairs in which a nontrivial state is asserted at the gold conflict and all that are asserted there are right,
    /// whatever story and sentences were chosen: verifiability if those were right too.
    pub explained: Share,
}

/// How much of a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Summary,
    /// With a table of every attribute.
    PerAttribute,
}

impl TierRow {
    /// Of predictions as they are.
    pub fn new(decoding: impl Into<String>, states: StateDecode, predictions: &[PairPrediction]) -> Self {
        let counts = TierCounts::of(predictions);
        TierRow {
            decoding: decoding.into(),
            state_threshold: states.threshold(),
            accuracy: counts.accuracy(),
            consistency: counts.consistency(),
            verifiability: counts.verifiability(),
        }
    }

    /// One for each decoding of conflicts under each of states, of recorded predictions.
    pub fn by_decoding(predictions: &[PairPrediction], conflicts: &[Decode], states: &[StateDecode]) -> Vec<Self> {
        let by_states = |&states: &StateDecode| {
            let decoded = states.apply(predictions);
            conflicts.iter().map(|d| TierRow::new(d.name(), states, &d.apply(&decoded))).collect::<Vec<_>>()
        };
        states.iter().flat_map(by_states).collect()
    }
}

impl AssertedRow {
    /// Of recorded predictions.
    pub fn new(predictions: &[PairPrediction], states: StateDecode) -> Self {
        let decoded = states.apply(predictions);
        let explained = decoded.iter().filter(|prediction| prediction.is_explained()).count() as u64;
        AssertedRow {
            state_threshold: states.threshold(),
            counts: StateCounts::of_nontrivial(&decoded).scores().asserted,
            explained: Share { count: explained, total: decoded.len() as u64 },
        }
    }
}
