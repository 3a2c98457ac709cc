//! The weights of the losses.

use serde::{Deserialize, Serialize};

/// The weight λ of each loss, and which cells they average over. The default is the paper's best, without story choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LossConfig {
    /// λp, of the states before sentences.
    pub preconditions: f64,
    /// λf, of the states after sentences.
    pub effects: f64,
    /// λc, of the sentences in conflict.
    pub conflicts: f64,
    /// λs, of the choice between the two stories.
    pub story: f64,
    /// The weight for single stories. Above 0, the joint detector has an output for "no conflict".
    pub single_story: f64,
    /// Which cells the losses average over.
    pub normalization: Normalization,
}

/// Which cells the losses average over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalization {
    /// The cells of entities and sentences that exist.
    Real,
    /// Like TRIP's code: every pair is padded to the largest number of entities and the longest story; padding has
    /// label 0.
    Padded,
}

impl Default for LossConfig {
    fn default() -> Self {
        LossConfig {
            preconditions: 0.4,
            effects: 0.4,
            conflicts: 0.2,
            story: 0.,
            single_story: 0.,
            normalization: Normalization::Real,
        }
    }
}
