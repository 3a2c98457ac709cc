//! The gold answers for a batch, or those of a teacher: what the loss compares the model's outputs to.

use super::index::{CellIndex, index_tensor};
use super::packed::Packed;
use super::rows::{GoldCell, Row};
use super::soft_targets::SoftTargets;
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::{Classes, Pair};
use tch::Tensor;

/// Gold answers for a batch, as lists over the C cells that the losses average over.
pub struct Targets {
    /// `[C]` which of the U inputs the cell holds.
    pub cell_input: Tensor,
    /// `[C]` the weight of its row.
    pub cell_weight: Tensor,
    /// The sum of the weights of all cells.
    pub weight: f64,
    /// `[C, A]` column of the gold class among the 66 logits of the preconditions.
    pub precondition_columns: Tensor,
    /// `[C, A]` the same for the effects.
    pub effect_columns: Tensor,
    /// `[C]` the index of the cell in the flattened `[R, N]` conflict probabilities.
    pub cell_index: Tensor,
    /// `[C]` 1 where the sentence takes part in the conflict.
    pub conflicts: Tensor,
    /// `[B]` index of the plausible story.
    pub plausible: Tensor,
    /// `[B]` index of the gold conflict in the flattened `[2, N, N]`: story, evidence, breakpoint.
    pub gold_pair: Tensor,
    /// A teacher's answers, if pairs of the batch have them.
    pub soft: Option<SoftTargets>,
}

impl Targets {
    /// `n`: N.
    pub(super) fn new<'a>(rows: &[Row], packed: &Packed, pairs: impl Iterator<Item = &'a Pair>, n: usize) -> Self {
        let all = rows.iter().flat_map(|row| row.cells.iter().map(|cell| (row.weight, cell))).enumerate();
        let counted: Vec<_> = all
            .filter_map(|(i, (weight, cell))| Some((CellIndex(i), weight, cell.input, cell.gold.as_ref()?)))
            .collect();
        let columns = |side: fn(&GoldCell) -> Classes| {
            let columns: Vec<i64> = counted.iter().flat_map(|(.., gold)| columns(side(gold))).collect();
            Tensor::from_slice(&columns).view([counted.len() as i64, ATTRIBUTES as i64])
        };
        let numbers = |of: fn(f32, &GoldCell) -> f32| {
            Tensor::from_slice(&counted.iter().map(|(_, weight, _, gold)| of(*weight, gold)).collect::<Vec<f32>>())
        };
        let pairs: Vec<&Pair> = pairs.collect();
        let (plausible, gold_pair): (Vec<i64>, Vec<i64>) =
            pairs.iter().map(|pair| (pair.plausible as i64, gold_pair(pair, n) as i64)).unzip();
        Targets {
            cell_input: index_tensor(counted.iter().map(|&(_, _, input, _)| packed.unique(input))),
            cell_weight: numbers(|weight, _| weight),
            weight: counted.iter().map(|&(_, weight, ..)| f64::from(weight)).sum(),
            precondition_columns: columns(|gold| *gold.preconditions),
            effect_columns: columns(|gold| *gold.effects),
            cell_index: index_tensor(counted.iter().map(|&(index, ..)| index)),
            conflicts: numbers(|_, gold| f32::from(u8::from(gold.in_conflict))),
            plausible: Tensor::from_slice(&plausible),
            gold_pair: Tensor::from_slice(&gold_pair),
            soft: SoftTargets::new(&pairs, &counted.iter().map(|&(.., gold)| gold).collect::<Vec<_>>(), n),
        }
    }

    pub(super) fn all_tensors(&mut self) -> Vec<&mut Tensor> {
        let Targets {
            cell_input,
            cell_weight,
            weight: _,
            precondition_columns,
            effect_columns,
            cell_index,
            conflicts,
            plausible,
            gold_pair,
            soft,
        } = self;
        let hard = vec![
            cell_input,
            cell_weight,
            precondition_columns,
            effect_columns,
            cell_index,
            conflicts,
            plausible,
            gold_pair,
        ];
        hard.into_iter().chain(soft.iter_mut().flat_map(SoftTargets::all_tensors)).collect()
    }
}

/// Index of the gold conflict in the flattened `[2, N, N]` of a pair.
fn gold_pair(pair: &Pair, n: usize) -> usize {
    ((1 - pair.plausible) * n + pair.conflict.evidence) * n + pair.conflict.breakpoint
}

/// The column of each attribute's class among the 66 logits of a side.
fn columns(classes: Classes) -> impl Iterator<Item = i64> {
    Attribute::ALL.into_iter().zip(classes).map(|(attribute, class)| attribute.offset() as i64 + i64::from(class))
}
