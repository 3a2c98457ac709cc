//! Scores of every attribute: how well its states are classified, and how many of them support a detected conflict.

use crate::attribute::{ATTRIBUTES, Attribute, Side};
use crate::metrics::{PredictedCounts, Share, StoryGroups, Tiered};
use crate::prediction::LabelledPair;
use serde::Serialize;

/// The scores of one attribute.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AttributeScores {
    /// The one whose states are scored.
    pub attribute: Attribute,
    /// Over all entities and sentences of both stories, as [`crate::metrics::StateCounts`] counts.
    pub preconditions: Classified,
    /// The same for the states after the sentences.
    pub effects: Classified,
    /// How many correct states stand at detected conflicts, both sides together.
    pub support: Support,
}

/// Nontrivial states of one side: counts and scores (TRIP, figure 8).
///
/// The scores are those of scikit-learn's `precision_recall_fscore_support(labels=NONTRIVIAL, average="micro")`, but
/// undefined where that divides by 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Classified {
    /// Predicted, correct and gold states; the scores follow from them.
    #[serde(flatten)]
    pub counts: PredictedCounts,
    /// Between 0 and 1; undefined if no state is predicted.
    pub precision: Option<f64>,
    /// Between 0 and 1; undefined if there is no gold state.
    pub recall: Option<f64>,
    /// Between 0 and 1; undefined if there is neither.
    pub f1: Option<f64>,
}

/// Correct nontrivial states of both sides, and how many are at detected conflicts (TRIP, figure 5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Support {
    /// The correct states of both stories.
    pub correct: u64,
    /// Of the correct states at the gold conflict (effects of its first sentence, preconditions of its second), those
    /// at a detected conflict. A conflict is detected if exactly its sentences are predicted to conflict.
    pub detected: Share,
}

impl From<PredictedCounts> for Classified {
    fn from(counts: PredictedCounts) -> Self {
        let [precision, recall] = [counts.precision(), counts.recall()].map(Share::fraction);
        Classified { counts, precision, recall, f1: counts.f1() }
    }
}

#[derive(Clone, Default)]
struct Counts {
    sides: [PredictedCounts; 2],
    /// Correct states.
    correct: u64,
    /// For each correct state at a conflict: the story group of its pair, and whether the conflict was detected.
    at_conflict: Vec<(i64, bool)>,
}

/// The scores, in the order of [`Attribute::ALL`].
pub(super) fn attributes(predictions: &[LabelledPair], groups: &StoryGroups) -> Vec<AttributeScores> {
    let mut counts: [Counts; ATTRIBUTES] = std::array::from_fn(|_| Counts::default());
    predictions.iter().for_each(|prediction| add(&mut counts, prediction));
    let scores = |(attribute, counts): (Attribute, Counts)| {
        let Counts { sides: [preconditions, effects], correct, at_conflict } = counts;
        let support = Support { correct, detected: groups.share(at_conflict) };
        AttributeScores { attribute, preconditions: preconditions.into(), effects: effects.into(), support }
    };
    Attribute::ALL.into_iter().zip(counts).map(scores).collect()
}

fn add(counts: &mut [Counts; ATTRIBUTES], prediction: &LabelledPair) {
    let [evidence, breakpoint] = prediction.gold.conflict;
    let is_detected = prediction.has_right_conflict();
    for (s, story) in prediction.stories().into_iter().enumerate() {
        let is_implausible = s != prediction.gold.plausible;
        for (entity, side) in story.entities().flat_map(|entity| Side::BOTH.map(|side| (entity, side))) {
            let at = if side == Side::Effect { evidence } else { breakpoint };
            for (sentence, attribute, gold, predicted) in entity.side(side).cells() {
                let Counts { sides, correct, at_conflict } = &mut counts[attribute.index()];
                sides[side as usize].add(attribute, gold, predicted);
                if attribute.is_nontrivial(predicted) && predicted == gold {
                    *correct += 1;
                    if is_implausible && sentence == at {
                        at_conflict.push((prediction.group, is_detected));
                    }
                }
            }
        }
    }
}
