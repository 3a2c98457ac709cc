//! One head of attention in one sequence.

use super::vector::{LANES, across, exp_of_negative, padded, sum};

/// One head of one sequence, in float32. Here L is the number of its tokens and D the head's number of columns; L' and
/// D' are these, padded with zeros to whole vectors.
pub(super) struct Head {
    /// `[L, D']`, scaled
    pub queries: Vec<f32>,
    /// `[L, D']`
    pub keys: Vec<f32>,
    /// `[L, D']`
    pub values: Vec<f32>,
    /// `[L, D']` the context or its gradient
    pub context: Vec<f32>,
    /// `[D, L']` a transposed matrix
    pub across: Vec<f32>,
    /// `[L, L']`
    pub weights: Vec<f32>,
    /// `[L, L']` weights after dropout, or gradients
    pub dropped: Vec<f32>,
    /// `[L, L']` gradient of the weights, then of the scores
    pub scores: Vec<f32>,
}

impl Head {
    pub fn new(longest: usize, depth: usize) -> Self {
        let [rows, columns, square] =
            [longest * padded(depth), depth * padded(longest), longest * padded(longest)].map(|size| vec![0.; size]);
        Head {
            queries: rows.clone(),
            keys: rows.clone(),
            values: rows.clone(),
            context: rows,
            across: columns,
            weights: square.clone(),
            dropped: square.clone(),
            scores: square,
        }
    }
}

/// `rows [l, dp]` -> `columns [d, lp]`, padded with zeros.
#[inline(always)]
pub(super) fn transpose(rows: &[f32], columns: &mut [f32], (l, d, dp, lp): (usize, usize, usize, usize)) {
    for (i, row) in rows.chunks_exact(dp).take(l).enumerate() {
        columns[i..].iter_mut().step_by(lp).zip(&row[..d]).for_each(|(to, value)| *to = *value);
    }
    columns.chunks_exact_mut(lp).take(d).for_each(|column| column[l..].fill(0.));
}

/// The softmax of the first `l` numbers; the rest become 0.
#[inline(always)]
pub(super) fn softmax(row: &mut [f32], l: usize) {
    row[l..].fill(f32::NEG_INFINITY);
    let mut largest = [f32::NEG_INFINITY; LANES];
    for chunk in row.chunks_exact(LANES) {
        for lane in 0..LANES {
            largest[lane] = if chunk[lane] > largest[lane] { chunk[lane] } else { largest[lane] };
        }
    }
    let largest = across(largest, |a, b| if b > a { b } else { a });
    for chunk in row.chunks_exact_mut(LANES) {
        for value in chunk {
            *value = exp_of_negative(*value - largest);
        }
    }
    let inverse = 1. / sum(row.len(), |i| row[i]);
    row.iter_mut().for_each(|value| *value *= inverse);
}
