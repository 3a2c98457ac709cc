//! What a system got right, and whether for the right reasons: the analyses of both papers and some more, of decoded
//! predictions. No model is needed.

mod attributes;
mod export;
mod groups;
mod mistakes;
mod outcomes;
mod recognised;
mod turned;

pub use attributes::{AttributeScores, Classified, Support};
pub use groups::{GroupRow, Grouping};
pub use mistakes::{MISTAKES, Mistake};
pub use outcomes::{Outcome, Tier};
pub use recognised::{Confused, Recognised, RecognisedAttribute};

use crate::data::Pair;
use crate::decode::StateDecode;
use crate::metrics::{Calibration, ConfidenceBin, Share, TierCounts, confidence_bins};
use crate::prediction::{PairPrediction, PredictionFormat};
use crate::report::DataDescription;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything there is to say about the predictions of one set. What there is nothing to count of is undefined (`null`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    pub system: String,
    pub data: DataDescription,
    /// How the sentences in conflict were decided ("threshold", "pair", "as recorded").
    pub decoding: String,
    /// Which states are asserted.
    pub states: StateDecode,
    pub accuracy: Share,
    pub consistency: Share,
    pub verifiability: Share,
    /// The eight ways in which story, conflict and states can be right or wrong (TRIP, figure 3).
    pub outcomes: Vec<Outcome>,
    /// Of the nontrivial states of every attribute (TRIP, figures 8 and 5).
    pub attributes: Vec<AttributeScores>,
    /// Gold states recognised in the implausible stories of consistent pairs (GITA, section 4.5).
    pub recognised: Recognised,
    /// Attributes taken for others (GITA, section 4.5), the most frequent first.
    pub confusions: Vec<Confused>,
    /// The tiers by what the pairs are like.
    pub groups: Vec<Grouping>,
    /// Of the conflicts whose two sentences the plausible story tells the other way round: those that are likelier as the
    /// implausible one tells them. None without probabilities.
    pub turned_round: Share,
    /// Of the story choice as it is and, where one was fitted on dev, with a temperature; none without probabilities.
    pub calibration: Vec<Reliability>,
    /// Pairs whose story was chosen wrongly, the surest first; none without probabilities.
    pub mistakes: Vec<Mistake>,
}

/// How far the probability of the story choice can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reliability {
    #[serde(flatten)]
    pub calibration: Calibration,
    pub bins: Vec<ConfidenceBin>,
}

/// Of whom the predictions are and how they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    pub system: String,
    pub data: DataDescription,
    pub format: PredictionFormat,
    pub decoding: String,
    pub states: StateDecode,
    /// Of the story choice; 1 is left out.
    pub temperature: Option<f64>,
}

/// What the story file knows of a pair and its predictions don't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairFacts {
    /// The room, where the file says.
    pub location: Option<String>,
    /// Of the implausible story.
    pub entities: usize,
}

/// The facts of pairs by their id.
pub type Facts = BTreeMap<String, PairFacts>;

/// What a story file knows of its pairs.
pub fn facts(pairs: &[Pair]) -> Facts {
    let of_pair = |pair: &Pair| {
        let story = pair.implausible_story();
        let location = Some(story.location.trim().to_lowercase()).filter(|location| !location.is_empty());
        (pair.id.clone(), PairFacts { location, entities: story.entities.len() })
    };
    pairs.iter().map(of_pair).collect()
}

impl Analysis {
    /// Of predictions that are decoded in the way `source` says. Pairs without facts are of an unknown room.
    pub fn of(source: Source, predictions: &[PairPrediction], facts: &Facts) -> Self {
        let Source { system, data, format, decoding, states, temperature } = source;
        let tiers = TierCounts::of(predictions);
        let has_probabilities = format == PredictionFormat::Lines;
        let temperatures = std::iter::once(1.).chain(temperature).filter(|_| has_probabilities);
        Analysis {
            system,
            data,
            decoding,
            states,
            accuracy: tiers.accuracy(),
            consistency: tiers.consistency(),
            verifiability: TierCounts::verifiability_of(predictions),
            outcomes: outcomes::outcomes(predictions),
            attributes: attributes::attributes(predictions),
            recognised: Recognised::of(predictions),
            confusions: recognised::confusions(predictions),
            groups: groups::groups(predictions, format, facts),
            turned_round: turned::turned_round(if has_probabilities { predictions } else { &[] }),
            calibration: temperatures.map(|temperature| Reliability::of(predictions, temperature)).collect(),
            mistakes: if has_probabilities { mistakes::mistakes(predictions) } else { Vec::new() },
        }
    }

    /// How it was decoded, in words.
    pub fn reading(&self) -> String {
        format!("conflicts by {}, states by {}", self.decoding, self.states)
    }
}

impl Reliability {
    fn of(predictions: &[PairPrediction], temperature: f64) -> Self {
        Reliability {
            calibration: Calibration::of(predictions, temperature),
            bins: confidence_bins(predictions, temperature),
        }
    }
}
