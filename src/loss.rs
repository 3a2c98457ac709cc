//! L = λp·Lp + λf·Lf + λc·Lc + λs·Ls (TRIP, section 3.2).

use crate::attribute::{ATTRIBUTES, Attribute};
use crate::batch::Targets;
use crate::model::Output;
use serde::{Deserialize, Serialize};
use tch::{Kind, Reduction, Tensor};

/// The λ of each loss, and what they average over; the default is the paper's best, without story choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LossConfig {
    pub preconditions: f64,
    pub effects: f64,
    pub conflicts: f64,
    pub story: f64,
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
        LossConfig { preconditions: 0.4, effects: 0.4, conflicts: 0.2, story: 0., normalization: Normalization::Real }
    }
}

/// The four losses of a batch, each a scalar.
pub struct Losses {
    /// Cross-entropy a head, averaged over slots, summed over the attributes and divided by 20.
    pub preconditions: Tensor,
    pub effects: Tensor,
    /// Binary cross-entropy of the beliefs, averaged over slots.
    pub conflicts: Tensor,
    /// Cross-entropy of the two story scores.
    pub story: Tensor,
}

/// The losses as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LossValues {
    pub preconditions: f64,
    pub effects: f64,
    pub conflicts: f64,
    pub story: f64,
}

impl Losses {
    pub fn new(output: &Output, targets: &Targets) -> Self {
        let states = |logits, columns| state_loss(logits, &targets.slot_input, columns);
        let beliefs = output.belief_logits.view([-1]).index_select(0, &targets.slot_place); // [S]
        Losses {
            preconditions: states(&output.precondition_logits, &targets.precondition_columns),
            effects: states(&output.effect_logits, &targets.effect_columns),
            conflicts: beliefs.binary_cross_entropy_with_logits::<Tensor>(
                &targets.conflicts,
                None,
                None,
                Reduction::Mean,
            ),
            story: output.story_scores.cross_entropy_for_logits(&targets.plausible),
        }
    }

    pub fn total(&self, config: &LossConfig) -> Tensor {
        &self.preconditions * config.preconditions
            + &self.effects * config.effects
            + &self.conflicts * config.conflicts
            + &self.story * config.story
    }

    pub fn values(&self) -> LossValues {
        LossValues {
            preconditions: self.preconditions.double_value(&[]),
            effects: self.effects.double_value(&[]),
            conflicts: self.conflicts.double_value(&[]),
            story: self.story.double_value(&[]),
        }
    }
}

impl LossValues {
    /// The name of the first loss that is not finite.
    pub fn not_finite(&self) -> Option<&'static str> {
        let named = [
            ("the precondition loss", self.preconditions),
            ("the effect loss", self.effects),
            ("the conflict loss", self.conflicts),
            ("the story loss", self.story),
        ];
        named.into_iter().find(|(_, value)| !value.is_finite()).map(|(name, _)| name)
    }
}

/// # Shapes
/// `logits [U, 66]`, `slot_input [S]`, `columns [S, A]` -> scalar
fn state_loss(logits: &Tensor, slot_input: &Tensor, columns: &Tensor) -> Tensor {
    let log_probs = attribute_log_probs(logits).index_select(0, slot_input); // [S, 66]
    let gold = log_probs.gather(1, columns, false); // [S, A]
    -gold.mean_dim(0, false, Kind::Float).sum(Kind::Float) / ATTRIBUTES as f64
}

/// Log-softmax within each attribute's columns. `[U, 66]` -> `[U, 66]`
pub fn attribute_log_probs(logits: &Tensor) -> Tensor {
    let widths: Vec<i64> = Attribute::ALL.iter().map(|a| a.classes() as i64).collect();
    let parts: Vec<Tensor> =
        logits.split_with_sizes(&widths, 1).iter().map(|part| part.log_softmax(1, Kind::Float)).collect();
    Tensor::cat(&parts, 1)
}
