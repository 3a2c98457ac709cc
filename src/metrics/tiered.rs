//! Accuracy, consistency and verifiability (TRIP section 3.2; GITA section 4.3): each tier is a share of all pairs.

use super::count::Share;
use crate::prediction::{LabelledPair, StoryJudgement};
use serde::{Deserialize, Serialize};

/// What was answered, beside the gold answers: the tiers follow from it.
pub trait Tiered {
    /// Tier 1: of a pair, the plausible story was chosen; a single story was judged rightly.
    fn is_accurate(&self) -> bool;

    /// Whether the predicted sentences in conflict are exactly the gold ones, whatever story was chosen.
    fn has_right_conflict(&self) -> bool;

    /// Whether at least one nontrivial state is predicted at the gold conflict and all predicted ones are correct,
    /// whatever story and sentences were predicted.
    fn has_verifiable_states(&self) -> bool;

    /// Tier 2: accurate, and the sentences in conflict are right.
    fn is_consistent(&self) -> bool {
        self.is_accurate() && self.has_right_conflict()
    }

    /// Tier 3: consistent, and the predicted states explain the conflict.
    fn is_verifiable(&self) -> bool {
        self.is_consistent() && self.has_verifiable_states()
    }
}

impl Tiered for LabelledPair {
    fn is_accurate(&self) -> bool {
        self.prediction.plausible == self.gold.plausible
    }

    fn has_right_conflict(&self) -> bool {
        self.prediction.conflict == self.gold.conflict
    }

    fn has_verifiable_states(&self) -> bool {
        self.implausible_story().explains(self.gold.conflict)
    }
}

/// Tiers 2 and 3 are of implausible stories: a plausible one reaches neither.
impl Tiered for StoryJudgement {
    fn is_accurate(&self) -> bool {
        self.conflict.is_empty() == self.gold_conflict.is_none()
    }

    fn has_right_conflict(&self) -> bool {
        self.gold_conflict.is_some_and(|gold| self.conflict == gold)
    }

    fn has_verifiable_states(&self) -> bool {
        self.gold_conflict.is_some_and(|gold| self.story().explains(gold))
    }
}

/// How many pairs reach each tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierCounts {
    /// All pairs that were counted.
    pub pairs: u64,
    /// Those that reach tier 1.
    pub accurate: u64,
    /// Those that reach tier 2.
    pub consistent: u64,
    /// Those that reach tier 3.
    pub verifiable: u64,
}

impl TierCounts {
    /// Counts predictions as they are decoded.
    pub fn of(predictions: &[LabelledPair]) -> Self {
        let mut counts = TierCounts::default();
        predictions.iter().for_each(|prediction| counts.add(prediction));
        counts
    }

    /// Counts one pair.
    pub fn add(&mut self, prediction: &LabelledPair) {
        self.pairs += 1;
        self.accurate += u64::from(prediction.is_accurate());
        self.consistent += u64::from(prediction.is_consistent());
        self.verifiable += u64::from(prediction.is_verifiable());
    }

    /// Tier 1 as a share of all pairs, without an interval.
    pub fn accuracy(&self) -> Share {
        self.share(self.accurate)
    }

    /// Tier 2 as a share of all pairs, without an interval.
    pub fn consistency(&self) -> Share {
        self.share(self.consistent)
    }

    /// Tier 3 as a share of all pairs, without an interval.
    pub fn verifiability(&self) -> Share {
        self.share(self.verifiable)
    }

    fn share(&self, count: u64) -> Share {
        Share::new(count, self.pairs)
    }
}
