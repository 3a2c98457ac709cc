//! The loss: L = λp·Lp + λf·Lf + λc·Lc + λs·Ls (TRIP, section 3.2) + λa·La for single stories.

mod config;

pub use config::{LossConfig, Normalization};

use crate::attribute::{ATTRIBUTES, Attribute};
use crate::batch::{SoftAnswers, Targets};
use crate::model::heads::attribute_log_probs;
use crate::model::{Conflicts, Output, SentencePairs};
use serde::{Deserialize, Serialize};
use std::fmt;
use tch::{Device, Kind, Reduction, Tensor};

/// The losses of a batch, each a scalar.
pub struct Losses {
    /// Cross-entropy of each head, averaged over cells, summed over the attributes and divided by 20. This and all losses below:
    /// where a pair has soft labels, the mean of minus the log-probabilities by what these say.
    pub preconditions: Tensor,
    /// The same for the effects.
    pub effects: Tensor,
    /// With conflict probabilities: binary cross-entropy, averaged over cells. With sentence pairs: minus the
    /// log-probability of the gold sentence pair, averaged over pairs.
    pub conflicts: Tensor,
    /// Cross-entropy of the two story scores.
    pub story: Tensor,
    /// For single stories: minus the log-probability of the gold sentence pair, or of "no conflict" for a plausible
    /// story, averaged over stories. `None` for a model without such an output.
    pub single_story: Option<Tensor>,
    /// The number of items in each average; cells count by their weight.
    pub counts: LossValues,
}

/// The losses as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LossValues {
    /// Lp, of the states before sentences.
    pub preconditions: f64,
    /// Lf, of the states after sentences.
    pub effects: f64,
    /// Lc, of the sentences in conflict.
    pub conflicts: f64,
    /// Ls, of the choice between the two stories.
    pub story: f64,
    /// La; `None` for a model that does not judge single stories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single_story: Option<f64>,
}

/// Prints each loss with its name.
impl fmt::Display for LossValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LossValues { preconditions, effects, conflicts, story, single_story } = self;
        write!(f, "preconditions {preconditions:.3} effects {effects:.3} conflicts {conflicts:.3} story {story:.3}")?;
        single_story.map_or(Ok(()), |single_story| write!(f, " single story {single_story:.3}"))
    }
}

impl Losses {
    /// Compares a batch's outputs with its targets. The margins of [`state_margins`] are added to the logits of states.
    pub fn new(output: &Output, targets: &Targets, margins: Option<&Tensor>) -> Self {
        let soft = targets.soft.as_ref();
        let states = |logits, columns, soft| state_loss(logits, margins, targets, columns, soft);
        let cells = targets.weight;
        let pairs = targets.plausible.size()[0] as f64;
        let single_story = match &output.conflicts {
            Conflicts::Sentences { .. } => None,
            Conflicts::SentencePairs(sentence_pairs) => {
                sentence_pairs.single_story.as_ref().map(|log_probs| single_story_loss(log_probs, targets))
            }
        };
        Losses {
            counts: Self::counts(&output.conflicts, cells, pairs),
            preconditions: states(
                &output.precondition_logits,
                &targets.precondition_columns,
                soft.map(|soft| &soft.preconditions),
            ),
            effects: states(&output.effect_logits, &targets.effect_columns, soft.map(|soft| &soft.effects)),
            conflicts: conflict_loss(&output.conflicts, targets),
            story: story_loss(&output.story_scores, targets),
            single_story,
        }
    }

    /// The number of items in each average over so many cells and pairs, for a model with such an output.
    pub fn counts(output: &Conflicts, cells: f64, pairs: f64) -> LossValues {
        let (conflicts, single_story) = match output {
            Conflicts::Sentences { .. } => (cells, None),
            Conflicts::SentencePairs(sentence_pairs) => {
                (pairs, sentence_pairs.single_story.as_ref().map(|_| 2. * pairs))
            }
        };
        LossValues { preconditions: cells, effects: cells, conflicts, story: pairs, single_story }
    }

    /// Sets each loss that averages over nothing to 0. A part of a batch may have none of the cells that count.
    pub fn without_empty(&mut self) {
        let counts = self.counts;
        let losses = [
            (&mut self.preconditions, counts.preconditions),
            (&mut self.effects, counts.effects),
            (&mut self.conflicts, counts.conflicts),
        ];
        for (loss, _) in losses.into_iter().filter(|(_, count)| *count == 0.) {
            *loss = loss.zeros_like();
        }
    }

    /// The weighted sum that is minimised: a differentiable scalar.
    pub fn total(&self, config: &LossConfig) -> Tensor {
        let of_pair = &self.preconditions * config.preconditions
            + &self.effects * config.effects
            + &self.conflicts * config.conflicts
            + &self.story * config.story;
        match &self.single_story {
            Some(single_story) => of_pair + single_story * config.single_story,
            None => of_pair,
        }
    }

    /// The unweighted losses in one tensor, in the order of [`LossValues`]. `[4]`, or `[5]` with single stories
    pub fn stacked(&self) -> Tensor {
        let of_pairs = [&self.preconditions, &self.effects, &self.conflicts, &self.story];
        let all: Vec<&Tensor> = of_pairs.into_iter().chain(&self.single_story).collect();
        Tensor::stack(&all, 0).detach()
    }
}

impl LossConfig {
    /// The weights for a part of a batch: each loss counts by the part's share of the items that it averages over.
    #[must_use]
    pub fn of_part(&self, shares: &LossValues) -> Self {
        LossConfig {
            preconditions: self.preconditions * shares.preconditions,
            effects: self.effects * shares.effects,
            conflicts: self.conflicts * shares.conflicts,
            story: self.story * shares.story,
            single_story: self.single_story * shares.single_story.unwrap_or(1.),
            ..*self
        }
    }
}

impl LossValues {
    /// The numbers of [`Losses::stacked`].
    ///
    /// # Panics
    /// If they are fewer than four.
    pub fn from_stacked(numbers: &[f64]) -> Self {
        let &[preconditions, effects, conflicts, story, ref single_story @ ..] = numbers else {
            panic!("there are four losses or five")
        };
        LossValues { preconditions, effects, conflicts, story, single_story: single_story.first().copied() }
    }

    /// The number of losses.
    pub const TERMS: usize = 5;

    /// The losses in the order of the fields; 0 for one that the model does not have.
    pub fn to_terms(self) -> [f64; Self::TERMS] {
        let LossValues { preconditions, effects, conflicts, story, single_story } = self;
        [preconditions, effects, conflicts, story, single_story.unwrap_or(0.)]
    }

    /// The opposite of [`LossValues::to_terms`]. A model has the single-story loss if its average has items.
    ///
    /// # Panics
    /// Unless both slices have [`LossValues::TERMS`] items.
    pub fn from_terms(terms: &[f64], counts: &[f64]) -> Self {
        let &[preconditions, effects, conflicts, story, single_story] = terms else { panic!("five losses") };
        let single_story = (counts[Self::TERMS - 1] > 0.).then_some(single_story);
        LossValues { preconditions, effects, conflicts, story, single_story }
    }

    /// Combines each loss with that of `other`.
    pub fn zip(self, other: LossValues, f: impl Fn(f64, f64) -> f64) -> LossValues {
        LossValues {
            preconditions: f(self.preconditions, other.preconditions),
            effects: f(self.effects, other.effects),
            conflicts: f(self.conflicts, other.conflicts),
            story: f(self.story, other.story),
            single_story: self.single_story.zip(other.single_story).map(|(own, other)| f(own, other)),
        }
    }

    /// Every loss that the model has, with its name.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let of_pairs = [
            ("preconditions", self.preconditions),
            ("effects", self.effects),
            ("conflicts", self.conflicts),
            ("story", self.story),
        ];
        of_pairs.into_iter().chain(self.single_story.map(|single_story| ("single_story", single_story))).collect()
    }

    /// The name of the first loss that is not finite.
    pub fn not_finite(&self) -> Option<&'static str> {
        let named = [
            ("the precondition loss", self.preconditions),
            ("the effect loss", self.effects),
            ("the conflict loss", self.conflicts),
            ("the story loss", self.story),
            ("the single-story loss", self.single_story.unwrap_or(0.)),
        ];
        named.into_iter().find(|(_, value)| !value.is_finite()).map(|(name, _)| name)
    }
}

fn conflict_loss(conflicts: &Conflicts, targets: &Targets) -> Tensor {
    match conflicts {
        Conflicts::Sentences { logits } => {
            let logits = logits.view([-1]).index_select(0, &targets.cell_index); // [C]
            let of_cells =
                logits.binary_cross_entropy_with_logits::<Tensor>(&targets.conflicts, None, None, Reduction::None);
            weighted_mean(&of_cells, &targets.cell_weight)
        }
        Conflicts::SentencePairs(SentencePairs { log_probs, .. }) => {
            let log_probs = log_probs.flatten(1, 3);
            let gold = log_probs.gather(1, &targets.gold_pair.unsqueeze(1), false); // [B, 1]
            let soft = targets.soft.as_ref().map(|soft| &soft.sentence_pairs);
            -target_log_probs(gold.squeeze_dim(1), soft, &log_probs).mean(Kind::Float)
        }
    }
}

/// # Shapes
/// `log_probs [2B, N·N + 1]` -> scalar
pub fn single_story_loss(log_probs: &Tensor, targets: &Targets) -> Tensor {
    let none = log_probs.size()[1] - 1;
    let plausible = targets.plausible.unsqueeze(1); // [B, 1]
    let conflict = targets.gold_pair.remainder(none).unsqueeze(1); // of [N, N]: the story is 1 - plausible
    let gold = conflict.expand([-1, 2], false).scatter_value(1, &plausible, none); // [B, 2]
    let gold = log_probs.gather(1, &gold.view([-1, 1]), false).squeeze_dim(1); // [2B]
    -target_log_probs(gold, targets.soft.as_ref().map(|soft| &soft.single_stories), log_probs).mean(Kind::Float)
}

/// # Shapes
/// `scores [B, 2]` -> scalar
fn story_loss(scores: &Tensor, targets: &Targets) -> Tensor {
    match &targets.soft {
        None => scores.cross_entropy_for_logits(&targets.plausible),
        Some(soft) => {
            let log_probs = scores.log_softmax(1, Kind::Float);
            let gold = log_probs.gather(1, &targets.plausible.unsqueeze(1), false).squeeze_dim(1); // [B]
            -target_log_probs(gold, Some(&soft.plausible), &log_probs).mean(Kind::Float)
        }
    }
}

/// The log-probability of each gold answer; of an item with soft labels, the mean over all answers by their probabilities
/// (Hinton et al., 2015).
///
/// # Shapes
/// `gold [M]`, `log_probs [M, K]` -> `[M]`
fn target_log_probs(gold: Tensor, soft: Option<&SoftAnswers>, log_probs: &Tensor) -> Tensor {
    let Some(SoftAnswers { taught, probs }) = soft else { return gold };
    (probs * log_probs).sum_dim_intlist(1, false, Kind::Float).where_self(taught, &gold)
}

/// The average over all items, however they were batched.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LossMean {
    /// The sums of the values and the numbers of items.
    totals: Option<(LossValues, LossValues)>,
}

impl LossMean {
    /// Adds the losses of a batch. `counts` has the number of items in each of its averages.
    pub fn add(&mut self, values: LossValues, counts: LossValues) {
        let added = (values.zip(counts, |value, count| value * count), counts);
        self.totals = Some(self.totals.map_or(added, |(sums, so_far)| {
            (sums.zip(added.0, |sum, value| sum + value), so_far.zip(added.1, |sum, count| sum + count))
        }));
    }

    /// NaN if nothing was added.
    pub fn mean(&self) -> LossValues {
        let (sums, counts) = self.totals.unwrap_or_default();
        sums.zip(counts, |sum, count| sum / count)
    }
}

/// The margin in the columns of nontrivial classes, else 0: `[66]`. `None` if it is 0. Made once for a training: a step that
/// sent it to a GPU would wait for that.
pub fn state_margins(margin: f64, device: Device) -> Option<Tensor> {
    let of = |attribute: Attribute| {
        (0..attribute.classes() as u8).map(move |class| if attribute.is_nontrivial(class) { margin } else { 0. })
    };
    let margins: Vec<f64> = Attribute::ALL.into_iter().flat_map(of).collect();
    (margin != 0.).then(|| Tensor::from_slice(&margins).to_kind(Kind::Float).to_device(device))
}

/// The margin is for gold states: a teacher's probabilities are learned as they are.
///
/// # Shapes
/// `logits [U, 66]`, `margins [66]`, `columns [C, A]` -> scalar
fn state_loss(
    logits: &Tensor,
    margins: Option<&Tensor>,
    targets: &Targets,
    columns: &Tensor,
    soft: Option<&SoftAnswers>,
) -> Tensor {
    let of_cells = |logits: &Tensor| attribute_log_probs(logits).index_select(0, &targets.cell_input); // [C, 66]
    let with_margin =
        of_cells(&margins.map_or_else(|| logits.shallow_clone(), |margins| logits + margins.to_kind(logits.kind())));
    let gold = with_margin.gather(1, columns, false).sum_dim_intlist(1, false, Kind::Float); // [C]
    let of_cells = match (soft, margins) {
        (None, _) => gold,
        (_, None) => target_log_probs(gold, soft, &with_margin),
        _ => target_log_probs(gold, soft, &of_cells(logits)),
    };
    -weighted_mean(&of_cells, &targets.cell_weight) / ATTRIBUTES as f64
}

/// `values [C]`, `weights [C]` -> scalar
fn weighted_mean(values: &Tensor, weights: &Tensor) -> Tensor {
    (values * weights).sum(Kind::Float) / weights.sum(Kind::Float)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::SIDE_CLASSES;

    /// Every nontrivial class is raised by the margin, and no other.
    #[test]
    fn the_margin_raises_nontrivial_classes() {
        assert!(state_margins(0., Device::Cpu).is_none());
        let margins = Vec::<f32>::try_from(state_margins(1.5, Device::Cpu).unwrap()).unwrap();
        assert_eq!(margins.len(), SIDE_CLASSES);
        for attribute in Attribute::ALL {
            let of_attribute = &margins[attribute.offset()..][..attribute.classes()];
            // The trivial ones: "unknown", and where it is the default, "true".
            let trivial = [vec![0], if attribute.default_label() == 2 { vec![2] } else { vec![] }].concat();
            for (class, &margin) in of_attribute.iter().enumerate() {
                assert_eq!(margin, if trivial.contains(&class) { 0. } else { 1.5 }, "{} {class}", attribute.name());
            }
        }
    }
}
