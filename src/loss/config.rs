//! How much each loss counts.

use serde::{Deserialize, Serialize};

/// The λ of each loss, and what they average over; the default is the paper's best, without story choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LossConfig {
    pub preconditions: f64,
    pub effects: f64,
    pub conflicts: f64,
    pub story: f64,
    /// Of a story alone: above 0 the joint detector has a place for "no conflict".
    pub alone: f64,
    pub normalization: Normalization,
}

/// Which slots the losses average over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalization {
    /// Every entity and sentence that there is.
    Real,
    /// The reference's: every pair padded to the largest entity count and the longest story, padding labelled 0.
    Padded,
}

impl Default for LossConfig {
    fn default() -> Self {
        LossConfig {
            preconditions: 0.4,
            effects: 0.4,
            conflicts: 0.2,
            story: 0.,
            alone: 0.,
            normalization: Normalization::Real,
        }
    }
}
