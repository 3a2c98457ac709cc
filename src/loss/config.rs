//! The weights of the losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The weight λ of each loss, and which cells they average over. The default is the paper's best, without story choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct LossConfig {
    /// Weight λp of the precondition loss.
    #[schemars(range(min = 0), extend("x-resume" = "warned"))]
    pub preconditions: f64,
    /// Weight λf of the effect loss.
    #[schemars(range(min = 0), extend("x-resume" = "warned"))]
    pub effects: f64,
    /// Weight λc of the conflict loss.
    #[schemars(range(min = 0), extend("x-resume" = "warned"))]
    pub conflicts: f64,
    /// Weight λs of the story choice loss.
    #[schemars(range(min = 0), extend("x-resume" = "warned"))]
    pub story: f64,
    /// Weight λa of the single-story loss; above 0 the joint detector learns to judge a single story.
    #[schemars(range(min = 0), extend("x-resume" = "refused"))]
    pub single_story: f64,
    /// Training adds this to the logits of nontrivial states, so that argmax predicts a state only if it is e to this power
    /// as likely as no state (`docs/model.md`).
    #[schemars(range(min = 0), extend("x-resume" = "warned"))]
    pub state_margin: f64,
    /// Average over the real cells, or over padding too, as the authors of TRIP do.
    #[schemars(extend("x-resume" = "warned"))]
    pub normalization: Normalization,
}

/// Which cells the losses average over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
            state_margin: 0.,
            normalization: Normalization::Real,
        }
    }
}
