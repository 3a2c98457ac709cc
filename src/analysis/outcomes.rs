//! Counts pairs by what is right and what is wrong.

use crate::metrics::{Share, StoryGroups, Tiered};
use crate::prediction::LabelledPair;
use serde::{Deserialize, Serialize};

/// One of eight combinations of right and wrong, and the share of its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outcome {
    /// The plausible story was chosen.
    pub story: bool,
    /// The predicted conflict has the numbers of the gold sentences, whatever story was chosen.
    pub conflict: bool,
    /// At least one nontrivial state is predicted at the gold conflict, and all predicted ones are correct.
    pub states: bool,
    /// The pairs with exactly this combination, as a share of all pairs.
    pub pairs: Share,
}

/// All eight combinations, the best first.
pub(super) fn outcomes(predictions: &[LabelledPair], groups: &StoryGroups) -> Vec<Outcome> {
    let is = |p: &LabelledPair| (p.is_accurate(), p.has_right_conflict(), p.has_verifiable_states());
    let both = [true, false];
    let ways = both.into_iter().flat_map(|story| both.map(|conflict| (story, conflict)));
    let ways = ways.flat_map(|(story, conflict)| both.map(|states| (story, conflict, states)));
    let outcome = |way: (bool, bool, bool)| Outcome {
        story: way.0,
        conflict: way.1,
        states: way.2,
        pairs: groups.share_of_pairs(predictions, |prediction| is(prediction) == way),
    };
    ways.map(outcome).collect()
}

/// The highest tier that a pair reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TierReached {
    /// The story, the conflict and the states at the conflict are right.
    Verifiable,
    /// The story and the conflict are right, the states at the conflict are not.
    Consistent,
    /// The story is right, the conflict is not.
    Accurate,
    /// The implausible story was chosen as the plausible one.
    Wrong,
}

impl TierReached {
    /// From the highest tier down.
    pub const ALL: [TierReached; 4] =
        [TierReached::Verifiable, TierReached::Consistent, TierReached::Accurate, TierReached::Wrong];

    /// The first of [`TierReached::ALL`] that holds for the pair.
    pub fn of(prediction: &LabelledPair) -> Self {
        match prediction {
            p if p.is_verifiable() => TierReached::Verifiable,
            p if p.is_consistent() => TierReached::Consistent,
            p if p.is_accurate() => TierReached::Accurate,
            _ => TierReached::Wrong,
        }
    }

    /// Whether a pair that reaches this tier is accurate, consistent and verifiable.
    pub fn reached(self) -> [bool; 3] {
        [TierReached::Accurate, TierReached::Consistent, TierReached::Verifiable].map(|tier| self <= tier)
    }

    /// In lower case, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            TierReached::Verifiable => "verifiable",
            TierReached::Consistent => "consistent",
            TierReached::Accurate => "accurate",
            TierReached::Wrong => "wrong",
        }
    }
}
