//! Scaled dot-product attention within each of many short sequences that lie end to end.

use super::dropout::{BLOCK, Dropout};
use super::element::Element;
use super::matrix::{Matrix, MatrixMut};
use super::parallel::{self, Rows};
use super::vector::{LANES, across, exp_of_negative, padded, small_product, sum};
use crate::batch::LengthGroup;
use std::ops::Range;
use tch::{Device, Kind, Tensor};

/// The ends of the sequences among the packed tokens. Rows after the last end are padding.
pub struct Sequences {
    ends: Vec<usize>,
}

impl Sequences {
    pub fn of(groups: &[LengthGroup]) -> Self {
        let lengths = groups.iter().flat_map(|group| std::iter::repeat_n(group.length as usize, group.count as usize));
        let ends = lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        Sequences { ends: ends.collect() }
    }

    #[inline(always)]
    fn tokens(&self, sequence: usize) -> Range<usize> {
        let start = if sequence == 0 { 0 } else { self.ends[sequence - 1] };
        start..self.ends[sequence]
    }

    /// Sets the padding rows of a `[rows, width]` matrix to zero.
    fn clear_excess(&self, matrix: &mut Tensor) {
        let tokens = self.ends.last().map_or(0, |&end| end as i64);
        let _ = matrix.narrow(0, tokens, matrix.size()[0] - tokens).zero_();
    }

    fn longest(&self) -> usize {
        (0..self.ends.len()).map(|sequence| self.tokens(sequence).len()).max().unwrap_or(0)
    }
}

/// Attention on queries, keys and values that one matmul has computed.
pub struct Attention<'a, S> {
    /// `[T, 3H]` without the bias
    qkv: Matrix<'a, S>,
    /// `[3H]`
    bias: &'a [f32],
    sequences: &'a Sequences,
    heads: usize,
    dropout: Dropout,
}

impl<'a, S: Element> Attention<'a, S> {
    /// `qkv [T, 3H]`: queries, keys and values side by side, without their `bias [3H]`.
    pub fn new(qkv: &'a Tensor, bias: &'a Tensor, sequences: &'a Sequences, heads: i64, dropout: Dropout) -> Self {
        let (qkv, bias) = (Matrix::of(qkv), Matrix::of(bias).row(0));
        Attention { qkv, bias, sequences, heads: heads as usize, dropout }
    }

    /// The context. -> `[T, H]`
    pub fn forward(&self) -> Tensor {
        let shape = [self.qkv.rows() as i64, self.width() as i64];
        let mut context = Tensor::empty(shape, (S::KIND, Device::Cpu));
        let kernel = Forward { attention: self, context: MatrixMut::of(&mut context) };
        parallel::run(&kernel, &parallel::balanced(&self.sequences.ends));
        self.sequences.clear_excess(&mut context);
        context
    }

    /// Gradient of the context `[T, H]` -> gradients of `qkv [T, 3H]` and of its `bias [3H]`.
    pub fn backward(&self, context_gradient: &Tensor) -> (Tensor, Tensor) {
        let parts = parallel::balanced(&self.sequences.ends);
        let width = 3 * self.width() as i64;
        let mut qkv = Tensor::empty([self.qkv.rows() as i64, width], (S::KIND, Device::Cpu));
        let mut sums = Tensor::zeros([parts.len() as i64, width], (Kind::Float, Device::Cpu));
        let kernel = Backward {
            attention: self,
            context: Matrix::of(context_gradient),
            qkv: MatrixMut::of(&mut qkv),
            sums: MatrixMut::of(&mut sums),
        };
        parallel::run(&kernel, &parts);
        self.sequences.clear_excess(&mut qkv);
        (qkv, sums.sum_dim_intlist(0, false, Kind::Float))
    }

    /// H.
    #[inline(always)]
    fn width(&self) -> usize {
        self.qkv.width() / 3
    }

    /// The number of columns of a head.
    #[inline(always)]
    fn depth(&self) -> usize {
        self.width() / self.heads
    }

    #[inline(always)]
    fn scale(&self) -> f32 {
        1. / (self.depth() as f32).sqrt()
    }

    /// Reads a head of a sequence and computes its attention weights.
    #[inline(always)]
    fn read(&self, head: &mut Head, tokens: Range<usize>, number: usize) {
        let (l, d, dp, lp) = (tokens.len(), self.depth(), padded(self.depth()), padded(tokens.len()));
        let Head { queries, keys, values, .. } = head;
        for (part, (to, scale)) in [(queries, self.scale()), (keys, 1.), (values, 1.)].into_iter().enumerate() {
            let column = part * self.width() + number * d;
            let bias = &self.bias[column..][..d];
            for (token, to) in tokens.clone().zip(to.chunks_exact_mut(dp)) {
                let row = &self.qkv.row(token)[column..][..d];
                for ((to, value), bias) in to.iter_mut().zip(row).zip(bias) {
                    *to = (value.get() + bias) * scale;
                }
            }
        }
        transpose(&head.keys, &mut head.across, (l, d, dp, lp));
        small_product(&head.queries, (dp, 1), &head.across, &mut head.weights, (l, d, lp));
        for i in 0..l {
            softmax(&mut head.weights[i * lp..][..lp], l);
        }
    }

    /// Applies dropout to the attention weights (or their gradient) of a head.
    #[inline(always)]
    fn drop_out(&self, weights: &mut [f32], tokens: Range<usize>, number: usize) {
        let (l, lp) = (tokens.len(), padded(tokens.len()));
        for (i, token) in tokens.enumerate() {
            let row = token * self.heads + number;
            self.dropout.apply(row * l.div_ceil(BLOCK), &mut weights[i * lp..][..lp]);
        }
    }
}

/// One head of one sequence, in float32. Here L is the number of its tokens and D the head's number of columns; L' and
/// D' are these, padded with zeros to whole vectors.
struct Head {
    /// `[L, D']`, scaled
    queries: Vec<f32>,
    /// `[L, D']`
    keys: Vec<f32>,
    /// `[L, D']`
    values: Vec<f32>,
    /// `[L, D']` the context or its gradient
    context: Vec<f32>,
    /// `[D, L']` a transposed matrix
    across: Vec<f32>,
    /// `[L, L']`
    weights: Vec<f32>,
    /// `[L, L']` weights after dropout, or gradients
    dropped: Vec<f32>,
    /// `[L, L']` gradient of the weights, then of the scores
    scores: Vec<f32>,
}

impl Head {
    fn new(longest: usize, depth: usize) -> Self {
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
fn transpose(rows: &[f32], columns: &mut [f32], (l, d, dp, lp): (usize, usize, usize, usize)) {
    for (i, row) in rows.chunks_exact(dp).take(l).enumerate() {
        columns[i..].iter_mut().step_by(lp).zip(&row[..d]).for_each(|(to, value)| *to = *value);
    }
    columns.chunks_exact_mut(lp).take(d).for_each(|column| column[l..].fill(0.));
}

/// The softmax of the first `l` numbers; the rest become 0.
#[inline(always)]
fn softmax(row: &mut [f32], l: usize) {
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

struct Forward<'a, 'k, S> {
    attention: &'k Attention<'a, S>,
    context: MatrixMut<'k, S>,
}

impl<S: Element> Rows for Forward<'_, '_, S> {
    #[inline(always)]
    fn work(&self, _: usize, sequences: Range<usize>) {
        let attention = self.attention;
        let (d, dp) = (attention.depth(), padded(attention.depth()));
        let mut head = Head::new(attention.sequences.longest(), d);
        for sequence in sequences {
            let tokens = attention.sequences.tokens(sequence);
            let (l, lp) = (tokens.len(), padded(tokens.len()));
            for number in 0..attention.heads {
                attention.read(&mut head, tokens.clone(), number);
                attention.drop_out(&mut head.weights, tokens.clone(), number);
                small_product(&head.weights, (lp, 1), &head.values, &mut head.context, (l, l, dp));
                for (i, token) in tokens.clone().enumerate() {
                    // SAFETY: the tokens of this part's own sequences.
                    let row = &mut unsafe { self.context.row_mut(token) }[number * d..][..d];
                    row.iter_mut().zip(&head.context[i * dp..]).for_each(|(out, value)| *out = S::put(*value));
                }
            }
        }
    }
}

struct Backward<'a, 'k, S> {
    attention: &'k Attention<'a, S>,
    context: Matrix<'k, S>,
    qkv: MatrixMut<'k, S>,
    /// The gradient of the bias, one row for each part.
    sums: MatrixMut<'k, f32>,
}

impl<S: Element> Rows for Backward<'_, '_, S> {
    #[inline(always)]
    fn work(&self, part: usize, sequences: Range<usize>) {
        let attention = self.attention;
        let (d, dp) = (attention.depth(), padded(attention.depth()));
        let mut head = Head::new(attention.sequences.longest(), d);
        let mut gradient = vec![0f32; head.queries.len()];
        // SAFETY: this part's own row.
        let sums = unsafe { self.sums.row_mut(part) };
        for sequence in sequences {
            let tokens = attention.sequences.tokens(sequence);
            let (l, lp) = (tokens.len(), padded(tokens.len()));
            for number in 0..attention.heads {
                attention.read(&mut head, tokens.clone(), number);
                for (i, token) in tokens.clone().enumerate() {
                    let row = &self.context.row(token)[number * d..][..d];
                    head.context[i * dp..].iter_mut().zip(row).for_each(|(value, from)| *value = from.get());
                }
                // values: dV = Pdᵀ·dC
                head.dropped[..l * lp].copy_from_slice(&head.weights[..l * lp]);
                attention.drop_out(&mut head.dropped, tokens.clone(), number);
                small_product(&head.dropped, (1, lp), &head.context, &mut gradient, (l, l, dp));
                self.write(&gradient, tokens.clone(), 2, number, 1., sums);
                // weights: dP = drop(dC·Vᵀ), and through the softmax dS = P∘(dP − Σ P∘dP)
                transpose(&head.values, &mut head.across, (l, d, dp, lp));
                small_product(&head.context, (dp, 1), &head.across, &mut head.scores, (l, d, lp));
                attention.drop_out(&mut head.scores, tokens.clone(), number);
                for i in 0..l {
                    let (weights, scores) = (&head.weights[i * lp..][..lp], &mut head.scores[i * lp..][..lp]);
                    let along = sum(lp, |j| weights[j] * scores[j]);
                    scores.iter_mut().zip(weights).for_each(|(score, weight)| *score = weight * (*score - along));
                }
                // queries: dQ = dS·K; keys: dK = dSᵀ·Q (which is scaled already)
                small_product(&head.scores, (lp, 1), &head.keys, &mut gradient, (l, l, dp));
                self.write(&gradient, tokens.clone(), 0, number, attention.scale(), sums);
                small_product(&head.scores, (1, lp), &head.queries, &mut gradient, (l, l, dp));
                self.write(&gradient, tokens.clone(), 1, number, 1., sums);
            }
        }
    }
}

impl<S: Element> Backward<'_, '_, S> {
    /// Stores the gradient of queries (0), keys (1) or values (2) of a head.
    #[inline(always)]
    fn write(&self, gradient: &[f32], tokens: Range<usize>, part: usize, number: usize, scale: f32, sums: &mut [f32]) {
        let (d, dp) = (self.attention.depth(), padded(self.attention.depth()));
        let column = part * self.attention.width() + number * d;
        let sums = &mut sums[column..][..d];
        for (i, token) in tokens.enumerate() {
            // SAFETY: the tokens of this part's own sequences.
            let row = &mut unsafe { self.qkv.row_mut(token) }[column..][..d];
            for ((out, value), sum) in row.iter_mut().zip(&gradient[i * dp..]).zip(sums.iter_mut()) {
                let value = value * scale;
                *out = S::put(value);
                *sum += value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sequences, of 5 tokens and of 3; a NaN or an infinity in the query of a token of the first.
    #[test]
    fn nan_stays_nan() {
        let sequences = Sequences::of(&[LengthGroup { count: 1, length: 5 }, LengthGroup { count: 1, length: 3 }]);
        let (heads, h) = (2, 8);
        let bias = Tensor::zeros([3 * h], (Kind::Float, Device::Cpu));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let qkv = Tensor::rand([8, 3 * h], (Kind::Float, Device::Cpu));
            let _ = qkv.get(1).narrow(0, 0, 1).fill_(value);
            let attention = Attention::<f32>::new(&qkv, &bias, &sequences, heads, Dropout::NONE);
            let of_row = |rows: &Tensor, row| rows.get(row).isnan().any().int64_value(&[]) == 1;
            let context = attention.forward();
            let gradient = attention.backward(&Tensor::ones([8, h], (Kind::Float, Device::Cpu))).0;
            for rows in [&context, &gradient] {
                assert!(of_row(rows, 1), "{value}");
                assert!((5..8).all(|row| !of_row(rows, row)), "the other sequence must not change");
            }
        }
    }
}
