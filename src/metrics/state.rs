//! How well states and conflicts are classified (TRIP table 4), over every entity and sentence of both stories.

use super::count::{Confusion, Share, mean};
use super::undefined;
use crate::attribute::{Attribute, Side};
use crate::prediction::{EntityPrediction, PairPrediction, StateLabels};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The belief from which a sentence counts as part of a conflict.
const CONFLICT_BELIEF: f32 = 0.5;

/// Confusion counts of the states of one side, per attribute; and of the conflicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateCounts {
    preconditions: Vec<Confusion>,
    effects: Vec<Confusion>,
    conflicts: Confusion,
    asserted: AssertedCounts,
}

/// Counts of nontrivial states, over both sides and all attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssertedCounts {
    /// Nontrivial predictions.
    pub predicted: u64,
    /// Nontrivial predictions that equal their gold class.
    pub correct: u64,
    /// Nontrivial gold classes.
    pub gold: u64,
}

/// Macro-F1 of one side, between 0 and 1. An attribute that no slot has is undefined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideScores {
    /// Mean over the attributes (TRIP table 4).
    pub macro_f1: Option<f64>,
    pub by_attribute: BTreeMap<Attribute, Option<f64>>,
}

/// What [`StateCounts`] come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateScores {
    pub preconditions: SideScores,
    pub effects: SideScores,
    /// Macro-F1 of "this sentence takes part in a conflict of this entity", over all entities and sentences.
    pub conflicts: Option<f64>,
    #[serde(with = "undefined")]
    pub asserted: AssertedCounts,
}

impl AssertedCounts {
    pub fn precision(&self) -> Share {
        Share { count: self.correct, total: self.predicted }
    }

    pub fn recall(&self) -> Share {
        Share { count: self.correct, total: self.gold }
    }

    /// Between 0 and 1; undefined if nothing was asserted and there was nothing to assert.
    pub fn f1(&self) -> Option<f64> {
        let sum = self.predicted + self.gold;
        (sum > 0).then(|| 2.0 * self.correct as f64 / sum as f64)
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

impl Default for StateCounts {
    fn default() -> Self {
        let side = || Attribute::ALL.iter().map(|attribute| Confusion::new(attribute.classes())).collect();
        StateCounts {
            preconditions: side(),
            effects: side(),
            conflicts: Confusion::new(2),
            asserted: AssertedCounts::default(),
        }
    }
}

impl StateCounts {
    /// Counts complete predictions; nothing, if any of them lacks the gold states, on which conflicts of entities hang too.
    pub fn of(predictions: &[PairPrediction]) -> Self {
        let mut counts = StateCounts::default();
        labelled(predictions).for_each(|entity| counts.add(entity));
        counts
    }

    /// Counts predictions of which only the nontrivial states are known: all but the asserted states stay undefined.
    pub fn of_nontrivial(predictions: &[PairPrediction]) -> Self {
        let mut counts = StateCounts::default();
        labelled(predictions).for_each(|entity| counts.add_asserted(entity));
        counts
    }

    fn add(&mut self, entity: &EntityPrediction) {
        self.add_asserted(entity);
        for (attribute, gold, predicted) in slots(&entity.preconditions) {
            self.preconditions[attribute.index()].add(gold, predicted);
        }
        for (attribute, gold, predicted) in slots(&entity.effects) {
            self.effects[attribute.index()].add(gold, predicted);
        }
        for (&gold, &belief) in entity.gold_beliefs.iter().zip(&entity.beliefs) {
            self.conflicts.add(gold, u8::from(belief >= CONFLICT_BELIEF));
        }
    }

    fn add_asserted(&mut self, entity: &EntityPrediction) {
        for (attribute, gold, predicted) in Side::BOTH.into_iter().flat_map(|side| slots(entity.side(side))) {
            self.asserted.add(attribute, gold, predicted);
        }
    }

    pub fn scores(&self) -> StateScores {
        StateScores {
            preconditions: SideScores::of(&self.preconditions),
            effects: SideScores::of(&self.effects),
            conflicts: self.conflicts.macro_f1(),
            asserted: self.asserted,
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

/// All entities; none if the gold states of any pair are not known.
fn labelled(predictions: &[PairPrediction]) -> impl Iterator<Item = &EntityPrediction> {
    let is_labelled = predictions.iter().all(PairPrediction::has_gold_states);
    predictions
        .iter()
        .filter(move |_| is_labelled)
        .flat_map(|prediction| &prediction.stories)
        .flat_map(|story| &story.entities)
}

/// (attribute, gold, predicted) at every sentence.
fn slots(labels: &StateLabels) -> impl Iterator<Item = (Attribute, u8, u8)> {
    labels.slots().map(|(_, attribute, gold, predicted)| (attribute, gold, predicted))
}
