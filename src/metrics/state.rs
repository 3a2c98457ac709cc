//! Scores of states and conflicts (TRIP table 4), over every entity and sentence of both stories.

use super::count::{Confusion, Share, mean};
use super::groups::StoryGroups;
use super::undefined;
use crate::attribute::{Attribute, Side};
use crate::prediction::{CONFLICT_THRESHOLD, LabelledEntity, LabelledPair, LabelledStates, LabelledStory};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Confusion counts: of the states of each side by attribute, and of the conflicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateCounts {
    preconditions: Vec<Confusion>,
    effects: Vec<Confusion>,
    conflicts: Confusion,
    predicted_states: PredictedCounts,
}

/// Counts of nontrivial states over both sides and all attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedCounts {
    /// Nontrivial predictions.
    pub predicted: u64,
    /// Nontrivial predictions that equal their gold class.
    pub correct: u64,
    /// Nontrivial gold classes.
    pub gold: u64,
}

/// The [`PredictedCounts`] of a set of pairs, and their scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictedScores {
    /// What the shares are computed from.
    #[serde(flatten)]
    pub counts: PredictedCounts,
    /// The nontrivial predictions that are correct.
    pub precision: Share,
    /// The nontrivial gold states that are predicted.
    pub recall: Share,
    /// Between 0 and 1.
    pub f1: Option<f64>,
}

/// Macro-F1 of one side, between 0 and 1. Undefined for an attribute that does not occur.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideScores {
    /// Mean over the attributes (TRIP table 4).
    pub macro_f1: Option<f64>,
    /// Mean over the classes that occur; `None` for an attribute that does not occur.
    pub by_attribute: BTreeMap<Attribute, Option<f64>>,
}

/// The scores of [`StateCounts`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateScores {
    /// Of the states before sentences.
    pub preconditions: SideScores,
    /// Of the states after sentences.
    pub effects: SideScores,
    /// Macro-F1 of "this sentence takes part in a conflict of this entity", over all entities and sentences.
    pub conflicts: Option<f64>,
    /// Counts of nontrivial states, without shares.
    #[serde(with = "undefined")]
    pub predicted_states: PredictedCounts,
}

impl PredictedCounts {
    /// The nontrivial predictions that are correct, without an interval.
    pub fn precision(&self) -> Share {
        Share::new(self.correct, self.predicted)
    }

    /// The nontrivial gold states that are predicted, without an interval.
    pub fn recall(&self) -> Share {
        Share::new(self.correct, self.gold)
    }

    /// Between 0 and 1; undefined if there were neither nontrivial predictions nor nontrivial gold states.
    pub fn f1(&self) -> Option<f64> {
        let sum = self.predicted + self.gold;
        (sum > 0).then(|| 2.0 * self.correct as f64 / sum as f64)
    }

    /// The counts of both stories of a pair.
    fn of_pair(pair: &LabelledPair) -> Self {
        let mut counts = PredictedCounts::default();
        pair.states().for_each(|states| counts.add_states(states));
        counts
    }

    fn add_states(&mut self, states: LabelledStates) {
        states.cells().for_each(|(_, attribute, gold, predicted)| self.add(attribute, gold, predicted));
    }

    /// Counts one label.
    pub fn add(&mut self, attribute: Attribute, gold: u8, predicted: u8) {
        self.gold += u64::from(attribute.is_nontrivial(gold));
        if attribute.is_nontrivial(predicted) {
            self.predicted += 1;
            self.correct += u64::from(predicted == gold);
        }
    }
}

impl PredictedScores {
    /// Undefined (the default) if any pair lacks gold states.
    pub fn of(predictions: &[LabelledPair], groups: &StoryGroups) -> Self {
        if !predictions.iter().all(LabelledPair::has_gold_states) {
            return PredictedScores::default();
        }
        let by_pair: Vec<(i64, PredictedCounts)> =
            predictions.iter().map(|pair| (pair.group, PredictedCounts::of_pair(pair))).collect();
        let mut counts = PredictedCounts::default();
        for (_, pair) in &by_pair {
            counts.predicted += pair.predicted;
            counts.correct += pair.correct;
            counts.gold += pair.gold;
        }
        let share = |whole: fn(&PredictedCounts) -> u64| {
            groups.share_of_counts(by_pair.iter().map(|(group, pair)| (*group, pair.correct, whole(pair))))
        };
        PredictedScores {
            counts,
            precision: share(|pair| pair.predicted),
            recall: share(|pair| pair.gold),
            f1: counts.f1(),
        }
    }
}

impl Default for StateCounts {
    fn default() -> Self {
        let side = || Attribute::ALL.iter().map(|attribute| Confusion::new(attribute.classes())).collect();
        StateCounts {
            preconditions: side(),
            effects: side(),
            conflicts: Confusion::new(2),
            predicted_states: PredictedCounts::default(),
        }
    }
}

impl StateCounts {
    /// Counts complete predictions. Counts nothing if any pair lacks gold states; without them, entities have no gold
    /// conflicts either.
    pub fn of(predictions: &[LabelledPair]) -> Self {
        let mut counts = StateCounts::default();
        labelled(predictions).for_each(|entity| counts.add(entity));
        counts
    }

    /// Counts predictions whose nontrivial states only are known. All scores but those of predicted states stay
    /// undefined.
    pub fn of_nontrivial(predictions: &[LabelledPair]) -> Self {
        let mut counts = StateCounts::default();
        labelled(predictions).for_each(|entity| counts.add_predicted(entity));
        counts
    }

    fn add(&mut self, entity: LabelledEntity) {
        self.add_predicted(entity);
        for (_, attribute, gold, predicted) in entity.side(Side::Precondition).cells() {
            self.preconditions[attribute.index()].add(gold, predicted);
        }
        for (_, attribute, gold, predicted) in entity.side(Side::Effect).cells() {
            self.effects[attribute.index()].add(gold, predicted);
        }
        for (&gold, &conflict_prob) in entity.gold.conflicts.iter().zip(&entity.prediction.conflict_probs) {
            self.conflicts.add(gold, u8::from(conflict_prob >= CONFLICT_THRESHOLD));
        }
    }

    fn add_predicted(&mut self, entity: LabelledEntity) {
        Side::BOTH.into_iter().for_each(|side| self.predicted_states.add_states(entity.side(side)));
    }

    /// The scores of all that was counted; undefined where nothing was.
    pub fn scores(&self) -> StateScores {
        StateScores {
            preconditions: SideScores::of(&self.preconditions),
            effects: SideScores::of(&self.effects),
            conflicts: self.conflicts.macro_f1(),
            predicted_states: self.predicted_states,
        }
    }
}

impl SideScores {
    fn of(confusions: &[Confusion]) -> Self {
        let f1s: Vec<_> = confusions.iter().map(Confusion::macro_f1).collect();
        SideScores {
            macro_f1: mean(&f1s.iter().flatten().copied().collect::<Vec<_>>()),
            by_attribute: Attribute::ALL.into_iter().zip(f1s).collect(),
        }
    }
}

/// All entities; none if any pair lacks gold states.
fn labelled(predictions: &[LabelledPair]) -> impl Iterator<Item = LabelledEntity<'_>> {
    let is_labelled = predictions.iter().all(LabelledPair::has_gold_states);
    predictions.iter().filter(move |_| is_labelled).flat_map(LabelledPair::stories).flat_map(LabelledStory::entities)
}
