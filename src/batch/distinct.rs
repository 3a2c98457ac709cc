//! The rows of a batch, each different one once.

use super::index::{DistinctRow, UniqueInput, index_tensor};
use super::packed::Packed;
use super::rows::Row;
use std::collections::HashMap;
use tch::Tensor;

/// D rows, for detectors that compute a row from its cells alone. The pairs of a group share a story, and with it the
/// rows of its entities. Columns in which no story of the batch has a sentence are left out.
///
/// In training, equal rows then share their dropout. This changes the noise, but not evaluation.
pub struct DistinctRows {
    /// `[D, n]` as the batch's `cells`; n is the number of sentences of the longest story.
    pub cells: Tensor,
    /// `[D, n]` as the batch's `mask`.
    pub mask: Tensor,
    /// `[R]` which of them each row of the batch is.
    pub of_row: Tensor,
}

impl DistinctRows {
    pub(super) fn new(rows: &[Row], packed: &Packed) -> Self {
        let sentences = |row: &Row| row.cells.iter().rposition(|cell| cell.is_present).map_or(0, |last| last + 1);
        let longest = rows.iter().map(sentences).max().unwrap_or(0).max(1);
        let mut number_of: HashMap<Vec<(UniqueInput, bool)>, DistinctRow> = HashMap::new();
        let mut distinct: Vec<(UniqueInput, bool)> = Vec::new();
        let mut of_row = Vec::with_capacity(rows.len());
        for row in rows {
            let cells = row.cells[..longest].iter().map(|cell| (packed.unique(cell.input), cell.is_present));
            let next = DistinctRow(number_of.len());
            of_row.push(*number_of.entry(cells.collect()).or_insert_with_key(|cells| {
                distinct.extend(cells);
                next
            }));
        }
        let mask: Vec<bool> = distinct.iter().map(|&(_, is_present)| is_present).collect();
        let shape = [-1, longest as i64];
        DistinctRows {
            cells: index_tensor(distinct.into_iter().map(|(input, _)| input)).view(shape),
            mask: Tensor::from_slice(&mask).view(shape),
            of_row: index_tensor(of_row),
        }
    }

    pub(super) fn all_tensors(&mut self) -> [&mut Tensor; 3] {
        let DistinctRows { cells, mask, of_row } = self;
        [cells, mask, of_row]
    }
}
