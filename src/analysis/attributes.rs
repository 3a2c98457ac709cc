//! Every attribute by itself: how well its states are classified, and how many of them support a detected conflict.

use super::outcomes::has_found_conflict;
use crate::attribute::{ATTRIBUTES, Attribute, Side};
use crate::metrics::{AssertedCounts, Share};
use crate::prediction::PairPrediction;
use serde::Serialize;

/// What there is to say of one attribute.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AttributeScores {
    pub attribute: Attribute,
    /// Over all entities and sentences of both stories, as [`crate::metrics::StateCounts`] counts.
    pub preconditions: Classified,
    pub effects: Classified,
    pub support: Support,
}

/// Nontrivial states of one side: counts, and what they come to (TRIP, figure 8).
///
/// As scikit-learn's `precision_recall_fscore_support(labels=NONTRIVIAL, average="micro")`, but undefined where that
/// divides by 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Classified {
    #[serde(flatten)]
    pub counts: AssertedCounts,
    /// Between 0 and 1; undefined where nothing is asserted.
    pub precision: Option<f64>,
    /// Between 0 and 1; undefined where there is no such gold state.
    pub recall: Option<f64>,
    /// Between 0 and 1; undefined where there is neither.
    pub f1: Option<f64>,
}

/// Correct nontrivial states of both sides, and where they stand (TRIP, figure 5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Support {
    /// In both stories.
    pub correct: u64,
    /// Of these, among the effects of the first sentence of the gold conflict and the preconditions of its second.
    pub at_conflict: u64,
    /// Of these, in a conflict that was detected: exactly its sentences are said to conflict.
    pub in_detected: u64,
}

impl From<AssertedCounts> for Classified {
    fn from(counts: AssertedCounts) -> Self {
        let ratio = |share: Share| (share.total > 0).then(|| share.count as f64 / share.total as f64);
        Classified { counts, precision: ratio(counts.precision()), recall: ratio(counts.recall()), f1: counts.f1() }
    }
}

impl Support {
    /// How many of the correct states at a conflict helped to detect it, or at least stand in a detected one.
    pub fn detected(self) -> Share {
        Share { count: self.in_detected, total: self.at_conflict }
    }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    sides: [AssertedCounts; 2],
    support: Support,
}

/// In the order of [`Attribute::ALL`].
pub(super) fn attributes(predictions: &[PairPrediction]) -> Vec<AttributeScores> {
    let mut counts = [Counts::default(); ATTRIBUTES];
    predictions.iter().for_each(|prediction| add(&mut counts, prediction));
    let scores = |attribute: Attribute| {
        let Counts { sides: [preconditions, effects], support } = counts[attribute.index()];
        AttributeScores { attribute, preconditions: preconditions.into(), effects: effects.into(), support }
    };
    Attribute::ALL.map(scores).to_vec()
}

fn add(counts: &mut [Counts; ATTRIBUTES], prediction: &PairPrediction) {
    let [evidence, breakpoint] = prediction.gold_conflict;
    let is_detected = has_found_conflict(prediction);
    for (s, story) in prediction.stories.iter().enumerate() {
        let is_implausible = s != prediction.gold_plausible;
        for (entity, side) in story.entities.iter().flat_map(|entity| Side::BOTH.map(|side| (entity, side))) {
            let place = if side == Side::Effect { evidence } else { breakpoint };
            for (sentence, attribute, gold, predicted) in entity.side(side).slots() {
                let Counts { sides, support } = &mut counts[attribute.index()];
                sides[side as usize].add(attribute, gold, predicted);
                if attribute.is_nontrivial(predicted) && predicted == gold {
                    let at_conflict = is_implausible && sentence == place;
                    support.correct += 1;
                    support.at_conflict += u64::from(at_conflict);
                    support.in_detected += u64::from(at_conflict && is_detected);
                }
            }
        }
    }
}
