//! How pairs divide over what is right and what is wrong.

use crate::metrics::Share;
use crate::prediction::PairPrediction;
use serde::Serialize;

/// One of eight ways to be right or wrong, and how many of all pairs are so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The plausible story was chosen.
    pub story: bool,
    /// The sentences said to conflict are the gold ones, by their numbers (whatever story was chosen).
    pub conflict: bool,
    /// At least one nontrivial state is asserted at the gold conflict, and all of them are correct.
    pub states: bool,
    pub pairs: Share,
}

/// All eight, the best first.
pub(super) fn outcomes(predictions: &[PairPrediction]) -> Vec<Outcome> {
    let is = |p: &PairPrediction| (p.is_accurate(), has_found_conflict(p), p.is_explained());
    let both = [true, false];
    let ways = both.into_iter().flat_map(|story| both.map(|conflict| (story, conflict)));
    let ways = ways.flat_map(|(story, conflict)| both.map(|states| (story, conflict, states)));
    let outcome = |way: (bool, bool, bool)| Outcome {
        story: way.0,
        conflict: way.1,
        states: way.2,
        pairs: Share {
            count: predictions.iter().filter(|prediction| is(prediction) == way).count() as u64,
            total: predictions.len() as u64,
        },
    };
    ways.map(outcome).collect()
}

/// Whether the sentences said to conflict are exactly the gold ones.
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
