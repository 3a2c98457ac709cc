//! Analyses decoded predictions: what a system got right, and whether for the right reasons. It has the analyses of
//! both papers and some more. It needs no model. Also compares two annotators of the same stories.

mod agreement;
mod attributes;
mod export;
mod facts;
mod groups;
mod mistakes;
mod order_sensitivity;
mod outcomes;
mod recall;
mod tiers;

pub use agreement::{AgreementRow, AnnotatedFile, AnnotatorAgreement, Disagreement};
pub use attributes::{AttributeScores, Classified, Support};
pub use facts::{Facts, PairFacts, facts};
pub use groups::{GroupRow, Grouping};
pub use mistakes::{MISTAKES, Mistake};
pub use outcomes::{Outcome, TierReached};
pub use recall::{AttributeRecall, Confused, Recall};
pub use tiers::{PairTiers, decoding, pair_set, parse_tiers, write_tiers};

use crate::decode::{AS_RECORDED, StateDecode};
use crate::metrics::{Calibration, ConfidenceBin, Share, StoryGroups, Tiered, confidence_bins};
use crate::prediction::{LabelledPair, PredictionFormat};
use crate::report::DataDescription;
use serde::Serialize;

/// All analyses of the predictions on one set. A share of nothing is undefined (`null`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// What predicted: the path of a run or of a file of predictions, or the name in its report.
    pub system: String,
    /// Which pairs were analysed.
    pub data: DataDescription,
    /// The decoding of conflicts ("threshold", "pair", "as recorded").
    pub decoding: String,
    /// Which states are predicted.
    pub states: StateDecode,
    /// Tier 1: the share of pairs whose plausible story is found.
    pub accuracy: Share,
    /// Tier 2: accurate, and exactly the two sentences in conflict are found.
    pub consistency: Share,
    /// Tier 3: consistent, and the states at the conflict are right. Undefined if a pair has no gold states.
    pub verifiability: Share,
    /// The eight combinations of right and wrong story, conflict and states (TRIP, figure 3).
    pub outcomes: Vec<Outcome>,
    /// Scores of the nontrivial states of every attribute (TRIP, figures 8 and 5).
    pub attributes: Vec<AttributeScores>,
    /// Recall of gold states in the implausible stories of consistent pairs (GITA, section 4.5).
    pub recall: Recall,
    /// Attributes confused with others (GITA, section 4.5), the most frequent first.
    pub confusions: Vec<Confused>,
    /// The tiers of groups of pairs, by kind, distance, entities and location.
    pub groups: Vec<Grouping>,
    /// Order sensitivity: among conflicts whose two sentences the plausible story has in the other order, those that
    /// are more likely in the order of the implausible story. Ties are left out, and so are pairs of which only one story
    /// was asked about, as those of a language model. Empty without probabilities.
    pub order_sensitivity: Share,
    /// How many of these conflicts are left out of order sensitivity, because they are as likely in both orders.
    pub order_ties: u64,
    /// Calibration of the story choice: uncalibrated and, if a temperature was fitted on dev, calibrated. Empty without
    /// probabilities.
    pub calibration: Vec<Reliability>,
    /// Pairs whose story was chosen wrongly, those of highest confidence first. Empty without probabilities.
    pub mistakes: Vec<Mistake>,
}

/// How well the probability of the story choice is calibrated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reliability {
    /// The temperature, and the errors of the probabilities that it gives.
    #[serde(flatten)]
    pub calibration: Calibration,
    /// The bars of a reliability diagram: only bins that contain a pair, by confidence.
    pub bins: Vec<ConfidenceBin>,
}

/// The system and the decoding of the predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionSource {
    /// What predicted: the path of a run or of a file of predictions, or the name in its report.
    pub system: String,
    /// Which pairs the predictions are of.
    pub data: DataDescription,
    /// The published format has no probabilities, and lacks entities without predictions.
    pub format: PredictionFormat,
    /// The decoding of conflicts, or "as recorded".
    pub decoding: String,
    /// How the predicted states were read from the probabilities.
    pub states: StateDecode,
    /// The temperature of the story choice, if one was fitted.
    pub temperature: Option<f64>,
}

impl Analysis {
    /// Analyses predictions that are decoded as `source` says. The location of pairs without facts is unknown.
    pub fn of(source: PredictionSource, predictions: &[LabelledPair], facts: &Facts) -> Self {
        let PredictionSource { system, data, format, decoding, states, temperature } = source;
        let story_groups = StoryGroups::of(predictions);
        let share = |is_so: fn(&LabelledPair) -> bool| story_groups.share_of_pairs(predictions, is_so);
        let has_states = predictions.iter().all(LabelledPair::has_gold_states);
        let has_probabilities = format == PredictionFormat::Lines;
        let with_probabilities = if has_probabilities { predictions } else { &[] };
        let (order_sensitivity, order_ties) = order_sensitivity::order_sensitivity(with_probabilities, &story_groups);
        let temperatures = std::iter::once(1.).chain(temperature).filter(|_| has_probabilities);
        Analysis {
            system,
            data,
            decoding,
            states,
            accuracy: share(LabelledPair::is_accurate),
            consistency: share(LabelledPair::is_consistent),
            verifiability: if has_states { share(LabelledPair::is_verifiable) } else { Share::default() },
            outcomes: outcomes::outcomes(predictions, &story_groups),
            attributes: attributes::attributes(predictions, &story_groups),
            recall: Recall::of(predictions, &story_groups),
            confusions: recall::confusions(predictions),
            groups: groups::groups(predictions, format, facts, &story_groups),
            order_sensitivity,
            order_ties,
            calibration: temperatures.map(|t| Reliability::of(predictions, t, &story_groups)).collect(),
            mistakes: if has_probabilities { mistakes::mistakes(predictions) } else { Vec::new() },
        }
    }

    /// The decoding, in words.
    pub fn reading(&self) -> String {
        let by = if self.decoding == AS_RECORDED { "" } else { "by " };
        format!("conflicts {by}{}, states by {}", self.decoding, self.states)
    }
}

impl Reliability {
    fn of(predictions: &[LabelledPair], temperature: f64, groups: &StoryGroups) -> Self {
        Reliability {
            calibration: Calibration::of(predictions, temperature),
            bins: confidence_bins(predictions, temperature, groups),
        }
    }
}
