//! What is chosen on dev after training: a temperature for the story choice, and from which probability on states are
//! asserted.

use crate::decode::{Decode, StateDecode};
use crate::metrics::{AssertedCounts, Calibration, StateCounts, TierCounts};
use crate::prediction::PairPrediction;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The thresholds tried: after argmax, first without and then with the surest state of every conflict.
const THRESHOLDS: [f32; 14] = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// The temperatures between which the best is looked for.
const TEMPERATURES: [f64; 2] = [0.05, 20.];

/// What was chosen, on what. In a file `decode.json` beside the weights it was chosen for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// The scores of the two stories are divided by it before the softmax.
    pub temperature: f64,
    /// Which states are asserted.
    pub states: StateDecode,
    pub chosen_on: ChosenOn,
}

/// The pairs and the decoding of conflicts by which the threshold was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChosenOn {
    /// As the config of the run names it.
    pub file: PathBuf,
    pub split: String,
    pub pairs: u64,
    pub conflicts: Decode,
}

/// How one way of asserting states does on dev.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    pub states: StateDecode,
    pub verifiable: u64,
    /// Pairs explained by their states, whatever story and sentences were chosen.
    pub explained: u64,
    pub asserted: AssertedCounts,
}

impl Trial {
    /// The larger is better, and of equal ones the earlier trial: dev verifiability; on a tie the pairs that the states
    /// explain, for these are more and so depend less on chance.
    fn rank(&self) -> (u64, u64) {
        (self.verifiable, self.explained)
    }
}

/// Tries argmax, every threshold alone, and every threshold with the surest state of a conflict, in that order.
pub fn try_states(dev: &[PairPrediction], conflicts: Decode) -> Vec<Trial> {
    let dev = conflicts.apply(dev);
    let trial = |states: StateDecode| {
        let decoded = states.apply(&dev);
        Trial {
            states,
            verifiable: TierCounts::of(&decoded).verifiable,
            explained: decoded.iter().filter(|prediction| prediction.is_explained()).count() as u64,
            asserted: StateCounts::of_nontrivial(&decoded).scores().asserted,
        }
    };
    let thresholds = [StateDecode::Threshold, StateDecode::Surest].map(|kind| THRESHOLDS.map(kind)).concat();
    std::iter::once(StateDecode::Argmax).chain(thresholds).map(trial).collect()
}

/// The best trial; `None` if there are none.
pub fn best(trials: &[Trial]) -> Option<&Trial> {
    trials.iter().rev().max_by_key(|trial| trial.rank())
}

/// The temperature with the smallest negative log-likelihood of the gold stories, by golden-section search over its
/// logarithm, in which that has a single minimum. Where every choice is right, or every one wrong, it is an end of the
/// range.
pub fn fit_temperature(dev: &[PairPrediction]) -> f64 {
    let nll = |log: f64| Calibration::of(dev, log.exp()).nll.unwrap_or(0.);
    let shrink = (5f64.sqrt() - 1.) / 2.;
    let [mut low, mut high] = TEMPERATURES.map(f64::ln);
    while high - low > 1e-4 {
        let (left, right) = (high - shrink * (high - low), low + shrink * (high - low));
        if nll(left) <= nll(right) {
            high = right;
        } else {
            low = left;
        }
    }
    ((low + high) / 2.).exp()
}
