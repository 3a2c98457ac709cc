//! What a system answered about the pairs of a set: predictions, which every decoding can read, or the tiers that were kept
//! of them.

use crate::analysis::{PairTiers, TierReached, decoding, pair_set};
use crate::decode::{Decode, StateDecode};
use crate::metrics::{PairSet, Reached, reached};
use crate::prediction::LabelledPair;
use std::collections::HashMap;

#[derive(Clone)]
pub(super) enum SetAnswers {
    Predictions(Vec<LabelledPair>),
    Tiers(Vec<PairTiers>),
}

impl SetAnswers {
    pub(super) fn set(&self) -> PairSet {
        match self {
            SetAnswers::Predictions(pairs) => PairSet::of(pairs),
            SetAnswers::Tiers(pairs) => pair_set(pairs),
        }
    }

    /// The id and the kind of each pair.
    pub(super) fn pairs(&self) -> Vec<(&str, &str)> {
        match self {
            SetAnswers::Predictions(pairs) => pairs.iter().map(|pair| (&*pair.id, &*pair.kind)).collect(),
            SetAnswers::Tiers(pairs) => pairs.iter().map(|pair| (&*pair.id, &*pair.kind)).collect(),
        }
    }

    pub(super) fn has_ids_of(&self, other: &SetAnswers) -> bool {
        self.pairs().into_iter().map(|(id, _)| id).eq(other.pairs().into_iter().map(|(id, _)| id))
    }

    /// The answers in the order of others. The folds of a cross-validation may be joined in any order.
    pub(super) fn in_order_of(mut self, first: &SetAnswers) -> Self {
        // Several pairs may have one id; then their stories tell them apart.
        let asked = first.asked();
        let by_id: HashMap<&str, usize> = asked.iter().zip(0..).map(|(pair, i)| (&*pair.id, i)).collect();
        let by_stories: HashMap<_, usize> =
            asked.iter().zip(0..).map(|(pair, i)| ((&*pair.id, &*pair.stories), i)).collect();
        let place =
            |pair: &PairTiers| by_stories.get(&(&*pair.id, &*pair.stories)).or_else(|| by_id.get(&*pair.id)).copied();
        match &mut self {
            SetAnswers::Predictions(pairs) => pairs.sort_by_cached_key(|pair| place(&PairTiers::asked(pair))),
            SetAnswers::Tiers(pairs) => pairs.sort_by_cached_key(place),
        }
        self
    }

    /// The id of a pair of which both were asked different things.
    pub(super) fn asked_otherwise(&self, other: &SetAnswers) -> Option<String> {
        if let (SetAnswers::Predictions(these), SetAnswers::Predictions(those)) = (self, other) {
            let mut pairs = these.iter().zip(those);
            return pairs.find(|(this, that)| !this.asks_the_same(that)).map(|(this, _)| this.id.clone());
        }
        let (these, those) = (self.asked(), other.asked());
        let mut pairs = these.iter().zip(&those);
        pairs.find(|(this, that)| !this.asks_the_same(that)).map(|(this, _)| this.id.clone())
    }

    fn asked(&self) -> Vec<PairTiers> {
        match self {
            SetAnswers::Predictions(pairs) => pairs.iter().map(PairTiers::asked).collect(),
            SetAnswers::Tiers(pairs) => pairs.clone(),
        }
    }

    /// The tiers that each pair reaches.
    ///
    /// # Errors
    /// What is missing for this decoding, and the remedy.
    pub(super) fn reached(&self, conflicts: Decode, states: StateDecode) -> Result<Reached, String> {
        match self {
            SetAnswers::Predictions(pairs) => {
                if states != StateDecode::Argmax && !pairs.iter().all(LabelledPair::has_state_probabilities) {
                    let remedy = "evaluate again with `tiered eval`, or leave out --states";
                    return Err(format!("has no probabilities of states, which --states needs; {remedy}"));
                }
                Ok(reached(states.apply(&conflicts.apply(pairs))))
            }
            SetAnswers::Tiers(pairs) => {
                let name = decoding(conflicts, states);
                let tier = |pair| PairTiers::tier(pair, &name).map(TierReached::reached).ok_or(pair);
                pairs.iter().map(tier).collect::<Result<_, _>>().map_err(|pair| {
                    let known = pair.tiers.keys().map(String::as_str).collect::<Vec<_>>().join("; ");
                    format!(
                        "has no tiers by {name} of pair {} (but by {known}); choose with --decode and --states",
                        pair.id
                    )
                })
            }
        }
    }
}
