//! Counts pairs by what is right and what is wrong.

use crate::metrics::{Share, StoryGroups};
use crate::prediction::PairPrediction;
use serde::Serialize;

/// One of eight combinations of right and wrong, and the share of its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outcome {
    /// The plausible story was chosen.
    pub story: bool,
    /// The predicted conflict has the numbers of the gold sentences, whatever story was chosen.
    pub conflict: bool,
    /// At least one nontrivial state is predicted at the gold conflict, and all predicted ones are correct.
    pub states: bool,
    pub pairs: Share,
}

/// All eight combinations, the best first.
pub(super) fn outcomes(predictions: &[PairPrediction], groups: &StoryGroups) -> Vec<Outcome> {
    let is = |p: &PairPrediction| (p.is_accurate(), has_found_conflict(p), p.has_verifiable_states());
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

/// Whether the predicted conflict is exactly the gold one.
pub(super) fn has_found_conflict(prediction: &PairPrediction) -> bool {
    prediction.conflict == prediction.gold_conflict
}

/// The highest tier that a pair reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Verifiable,
    Consistent,
    Accurate,
    Wrong,
}

impl Tier {
    pub const ALL: [Tier; 4] = [Tier::Verifiable, Tier::Consistent, Tier::Accurate, Tier::Wrong];

    pub fn of(prediction: &PairPrediction) -> Self {
        match prediction {
            p if p.is_verifiable() => Tier::Verifiable,
            p if p.is_consistent() => Tier::Consistent,
            p if p.is_accurate() => Tier::Accurate,
            _ => Tier::Wrong,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Tier::Verifiable => "verifiable",
            Tier::Consistent => "consistent",
            Tier::Accurate => "accurate",
            Tier::Wrong => "wrong",
        }
    }
}
