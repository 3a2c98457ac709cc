//! One [`Report`] of a system on a set of pairs, and its formats.

mod answer;
pub mod comparison;
mod export;
pub mod labels;
mod published;
mod stories;
mod table;
mod tables;
pub mod words;

pub use answer::{
    Answer, ConflictSentence, SentenceAnswer, StateAnswer, StoryAnswer, StoryChoice, Verdict, explaining_cells,
};
pub use published::{KindScores, PublishedRow, PublishedSet, PublishedStoryRow, published, published_models};
pub use stories::{StoryReport, StoryRow};
pub use table::{Table, TableFormat};
pub use tables::{INTERVALS, of_states, percent, share, title};

use crate::decode::{Decode, StateDecode};
use crate::metrics::{Calibration, PredictedScores, Share, StateScores, StoryGroups, Tiered, undefined};
use crate::prediction::LabelledPair;
use serde::{Deserialize, Serialize};

/// What a system scored on a set of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What made the predictions, for the title.
    pub system: String,
    /// The pairs that were scored.
    pub data: DataDescription,
    /// One for each way of deciding which sentences conflict and which states are predicted.
    pub rows: Vec<TierRow>,
    /// Of the most likely classes.
    pub states: StateScores,
    /// Of the story choice: as it is and, where one was fitted on dev, with a temperature. Empty where no probabilities
    /// are known.
    pub calibration: Vec<Calibration>,
    /// Scores to compare with.
    pub published: Vec<PublishedRow>,
}

const UNDEFINED_STATES: &str = "verifiability and all figures of states are undefined";

/// Which pairs were scored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataDescription {
    /// The story file, where it is known.
    pub file: Option<String>,
    /// Its SHA-256, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The split, where it is known.
    pub split: Option<String>,
    /// "cloze", "order" or "mixed".
    pub kind: String,
    /// How many pairs were scored.
    pub pairs: u64,
    /// Whether the split may have more of them, of which only the first were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limited: bool,
    /// What training has seen of them.
    #[serde(default, skip_serializing_if = "Seen::is_nothing")]
    pub seen: Seen,
    /// Whether it has seen only some of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen_in_part: bool,
    /// Whether the entities were found in the sentences, not given by the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub entities_found: bool,
    /// Whether each pair was read also without each of its sentences, and the mean was taken (test-time augmentation).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub augmented: bool,
    /// The precision of the matmuls ("fp32" or "bf16"), if another than the run's own was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// How many of the pairs have no state labels. If any has none, verifiability and all figures of states are undefined.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub without_states: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl DataDescription {
    /// To follow the name of the set: what else there is to know of its pairs, or nothing.
    pub fn remark(&self) -> String {
        let limited = if self.limited { ", only the first of its pairs were scored" } else { "" };
        let without_states = match self.without_states {
            0 => String::new(),
            all if all == self.pairs => ", without state labels".to_owned(),
            some => format!(", {some} of its pairs without state labels"),
        };
        format!("{limited}{}{}{without_states}", self.seen_remark(), self.reading_remark())
    }

    /// To follow the name of the set: how its pairs were read, or nothing where as in training. Scores of pairs that were
    /// read in different ways are not of models alone.
    pub fn reading_remark(&self) -> String {
        let found = if self.entities_found { ", entities found in the sentences" } else { "" };
        let augmented = if self.augmented { ", read also without each sentence" } else { "" };
        let precision = self.precision.as_ref().map_or(String::new(), |precision| format!(", in {precision}"));
        format!("{found}{augmented}{precision}")
    }

    /// To follow the name of the set: what training has seen of its pairs, or nothing.
    pub fn seen_remark(&self) -> String {
        format!("{}{}", self.seen.remark(), if self.seen_in_part { " in part" } else { "" })
    }

    /// The same with what training has seen of each pair.
    #[must_use]
    pub fn with_seen(self, each: &[Seen]) -> Self {
        let seen = each.iter().copied().max().unwrap_or_default();
        DataDescription { seen, seen_in_part: !seen.is_nothing() && each.contains(&Seen::Nothing), ..self }
    }

    /// Whether each pair was read once, in the run's own precision.
    pub fn is_read_as_in_training(&self) -> bool {
        !self.augmented && self.precision.is_none()
    }

    /// Whether every pair has state labels.
    pub fn has_states(&self) -> bool {
        self.without_states == 0
    }

    /// A line on why figures of states are undefined, if they are.
    pub fn why_undefined(&self) -> Option<String> {
        let DataDescription { pairs, without_states, .. } = self;
        let line = || format!("{without_states} of {pairs} pairs have no state labels: {UNDEFINED_STATES}");
        (!self.has_states()).then(line)
    }
}

/// What a run has seen of the pairs that it is scored on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// As far as the run knows.
    #[default]
    Nothing,
    /// They are the fold that was left out of its training, in cross-validation.
    HeldOut,
    /// Its best epoch, and how its answers are read, were chosen on them.
    ChosenOn,
    /// It was trained on them, so that the scores say nothing about other stories.
    TrainedOn,
}

impl Seen {
    /// Leaves the field out of JSON where there is nothing to say.
    pub fn is_nothing(&self) -> bool {
        *self == Seen::Nothing
    }

    /// To follow the name of the set: empty, or ", the run was trained on this set".
    pub const fn remark(self) -> &'static str {
        match self {
            Seen::Nothing => "",
            Seen::HeldOut => ", the fold that was left out of training",
            Seen::ChosenOn => ", the epoch was chosen on this set",
            Seen::TrainedOn => ", the run was trained on this set",
        }
    }
}

/// The three tiers under one decoding, and how many states that decoding predicts. A system that predicts few can be right in
/// all it says: recall tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TierRow {
    /// How the sentences in conflict were decided ("threshold", "pair").
    pub decoding: String,
    /// Which states are predicted.
    pub states: StateDecode,
    /// Tier 1, of all pairs.
    pub accuracy: Share,
    /// Tier 2, of all pairs.
    pub consistency: Share,
    /// Tier 3, of all pairs; undefined if any pair lacks state labels.
    #[serde(with = "undefined")]
    pub verifiability: Share,
    /// Over both sides of all entities and sentences of both stories.
    #[serde(with = "undefined")]
    pub predicted_states: PredictedScores,
    /// Pairs in which a nontrivial state is predicted at the gold conflict and all that are predicted there are right,
    /// whatever story and sentences were chosen.
    #[serde(with = "undefined")]
    pub verifiable_states: Share,
}

/// What of a report is shown beside the tiers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Detail {
    /// Precision and recall of states, macro-F1, calibration.
    pub verbose: bool,
    /// Macro-F1 of every attribute.
    pub per_attribute: bool,
}

impl TierRow {
    /// Of predictions as they are.
    pub fn new(decoding: impl Into<String>, states: StateDecode, predictions: &[LabelledPair]) -> Self {
        Self::of(decoding, states, predictions, &StoryGroups::of(predictions))
    }

    fn of(
        decoding: impl Into<String>,
        states: StateDecode,
        predictions: &[LabelledPair],
        groups: &StoryGroups,
    ) -> Self {
        let share = |is_so: fn(&LabelledPair) -> bool| groups.share_of_pairs(predictions, is_so);
        let has_states = predictions.iter().all(LabelledPair::has_gold_states);
        let of_states = |is_so| if has_states { share(is_so) } else { Share::default() };
        TierRow {
            decoding: decoding.into(),
            states,
            accuracy: share(LabelledPair::is_accurate),
            consistency: share(LabelledPair::is_consistent),
            verifiability: of_states(LabelledPair::is_verifiable),
            predicted_states: PredictedScores::of(predictions, groups),
            verifiable_states: of_states(LabelledPair::has_verifiable_states),
        }
    }

    /// One for each decoding of conflicts under each of states, of recorded predictions.
    pub fn by_decoding(predictions: &[LabelledPair], conflicts: &[Decode], states: &[StateDecode]) -> Vec<Self> {
        let groups = StoryGroups::of(predictions);
        let decodings = states.iter().flat_map(|&states| conflicts.iter().map(move |&decode| (decode, states)));
        let row = |(decode, states): (Decode, StateDecode)| {
            TierRow::of(decode.name(), states, &states.apply(&decode.apply(predictions)), &groups)
        };
        decodings.map(row).collect()
    }

    /// What it is called in tables.
    pub fn name(&self) -> String {
        decoding_name(&self.decoding, self.states)
    }
}

/// The decoding of conflicts, and of states unless that is argmax.
fn decoding_name(conflicts: &str, states: StateDecode) -> String {
    match states {
        StateDecode::Argmax => conflicts.to_owned(),
        states => format!("{conflicts}, states {states}"),
    }
}
