//! Chooses two things on dev after training: a temperature for the story choice, and the probability from which a state
//! is predicted.

use crate::decode::{Decode, StateDecode};
use crate::metrics::{PredictedCounts, StateCounts, TierCounts, Tiered, bounded_nll};
use crate::prediction::LabelledPair;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The thresholds that are tried after argmax, first without and then with the fallback top-1.
const THRESHOLDS: [f32; 14] = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// The range of temperatures that is searched.
const TEMPERATURES: [f64; 2] = [0.05, 20.];

/// What was chosen, and on which data. It is stored in `decode.json`, beside the weights that it was chosen for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// The scores of the two stories are divided by it before the softmax.
    pub temperature: f64,
    /// Which states are predicted.
    pub states: StateDecode,
    /// The dev pairs on which both were chosen.
    pub chosen_on: ChosenOn,
}

/// The pairs and the decoding of conflicts with which the threshold was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenOn {
    /// The path as it stands in the run's config.
    pub file: PathBuf,
    /// The name of the split; those of several sources are separated by commas.
    pub split: String,
    /// How many dev pairs there were.
    pub pairs: u64,
    /// How conflicts were decoded when the threshold was chosen.
    pub conflicts: Decode,
}

/// The dev scores of one way to predict states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateTrial {
    /// The way that was tried.
    pub states: StateDecode,
    /// The number of dev pairs that reach tier 3.
    pub verifiable: u64,
    /// Pairs with verifiable states: right at the gold conflict, whatever story and sentences were predicted.
    pub verifiable_states: u64,
    /// Nontrivial states over both sides and all attributes: predicted, correct and gold.
    pub predicted_states: PredictedCounts,
}

impl StateTrial {
    /// The best trial has the largest rank; of equal ones, the earliest. Dev verifiability counts first. Pairs with
    /// verifiable states break a tie: there are more of them, so they depend less on chance.
    fn rank(&self) -> (u64, u64) {
        (self.verifiable, self.verifiable_states)
    }
}

/// Tries argmax, then every threshold, then every threshold with the fallback top-1.
pub fn try_states(dev: &[LabelledPair], conflicts: Decode) -> Vec<StateTrial> {
    let dev = conflicts.apply(dev);
    let trial = |states: StateDecode| {
        let decoded = states.apply(&dev);
        StateTrial {
            states,
            verifiable: TierCounts::of(&decoded).verifiable,
            verifiable_states: decoded.iter().filter(|prediction| prediction.has_verifiable_states()).count() as u64,
            predicted_states: StateCounts::of_nontrivial(&decoded).scores().predicted_states,
        }
    };
    let thresholds = [StateDecode::Threshold, StateDecode::ThresholdTop1].map(|kind| THRESHOLDS.map(kind)).concat();
    std::iter::once(StateDecode::Argmax).chain(thresholds).map(trial).collect()
}

/// The best trial; `None` if there are none.
pub fn best(trials: &[StateTrial]) -> Option<&StateTrial> {
    trials.iter().rev().max_by_key(|trial| trial.rank())
}

/// The temperature with the smallest negative log-likelihood of the gold stories. Golden-section search over its
/// logarithm finds it, because there is a single minimum there. If every choice is right, or every one wrong, the
/// result is an end of the range.
pub fn fit_temperature(dev: &[LabelledPair]) -> f64 {
    let nll = |log: f64| bounded_nll(dev, log.exp()).unwrap_or(0.);
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
