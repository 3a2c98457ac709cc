//! L = λp·Lp + λf·Lf + λc·Lc + λs·Ls (TRIP, section 3.2).

use crate::attribute::{ATTRIBUTES, Attribute};
use crate::batch::Targets;
use crate::model::{Conflicts, Output};
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
    /// Of beliefs: binary cross-entropy, averaged over slots. Of places: minus the log-probability of the gold place,
    /// averaged over pairs.
    pub conflicts: Tensor,
    /// Cross-entropy of the two story scores.
    pub story: Tensor,
    /// How many items each is an average over.
    pub counts: LossValues,
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
        let (slots, pairs) = (targets.slot_input.size()[0] as f64, targets.plausible.size()[0] as f64);
        let conflicts = match &output.conflicts {
            Conflicts::Beliefs { .. } => slots,
            Conflicts::Places { .. } => pairs,
        };
        Losses {
            counts: LossValues { preconditions: slots, effects: slots, conflicts, story: pairs },
            preconditions: states(&output.precondition_logits, &targets.precondition_columns),
            effects: states(&output.effect_logits, &targets.effect_columns),
            conflicts: conflict_loss(&output.conflicts, targets),
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
    fn zip(self, other: LossValues, f: impl Fn(f64, f64) -> f64) -> LossValues {
        LossValues {
            preconditions: f(self.preconditions, other.preconditions),
            effects: f(self.effects, other.effects),
            conflicts: f(self.conflicts, other.conflicts),
            story: f(self.story, other.story),
        }
    }

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

fn conflict_loss(conflicts: &Conflicts, targets: &Targets) -> Tensor {
    match conflicts {
        Conflicts::Beliefs { logits } => {
            let beliefs = logits.view([-1]).index_select(0, &targets.slot_place); // [S]
            beliefs.binary_cross_entropy_with_logits::<Tensor>(&targets.conflicts, None, None, Reduction::Mean)
        }
        Conflicts::Places { log_probs } => {
            let gold = log_probs.flatten(1, 3).gather(1, &targets.gold_place.unsqueeze(1), false); // [B, 1]
            -gold.mean(Kind::Float)
        }
    }
}

/// Averages over all items, whatever the batches were.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LossMean {
    sums: LossValues,
    counts: LossValues,
}

impl LossMean {
    pub fn add(&mut self, values: LossValues, counts: LossValues) {
        self.sums = self.sums.zip(values.zip(counts, |value, count| value * count), |sum, value| sum + value);
        self.counts = self.counts.zip(counts, |sum, count| sum + count);
    }

    pub fn mean(&self) -> LossValues {
        self.sums.zip(self.counts, |sum, count| sum / count)
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
