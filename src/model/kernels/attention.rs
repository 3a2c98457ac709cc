//! Scaled dot-product attention within each of many short sequences that lie end to end.

use super::distances::{DistanceVectors, HeadDistances};
use super::dropout::{BLOCK, Dropout};
use super::element::Element;
use super::head::{Head, softmax, transpose};
use super::matrix::{Matrix, MatrixMut};
use super::parallel::{self, Rows};
use super::sequences::Sequences;
use super::vector::{padded, small_product, sum};
use std::ops::Range;
use tch::{Device, Kind, Tensor};

/// Attention on queries, keys and values that one matmul has computed.
pub struct Attention<'a, S> {
    /// `[T, 3H]` without the bias
    qkv: Matrix<'a, S>,
    /// `[3H]`
    bias: &'a [f32],
    sequences: &'a Sequences,
    heads: usize,
    dropout: Dropout,
    distances: Option<DistanceVectors<'a, S>>,
}

/// What [`Attention::backward`] computes.
pub struct AttentionGradients {
    /// `[T, 3H]`
    pub qkv: Tensor,
    /// `[3H]` float32, of the tokens alone
    pub bias: Tensor,
    /// `[U, 2H]` float32, of [`DistanceVectors`]
    pub distances: Option<Tensor>,
}

impl<'a, S: Element> Attention<'a, S> {
    /// `qkv [T, 3H]`: queries, keys and values side by side, without their `bias [3H]`.
    pub fn new(qkv: &'a Tensor, bias: &'a Tensor, sequences: &'a Sequences, heads: i64, dropout: Dropout) -> Self {
        let (qkv, bias) = (Matrix::of(qkv), Matrix::of(bias).row(0));
        Attention { qkv, bias, sequences, heads: heads as usize, dropout, distances: None }
    }

    /// Queries and keys are also compared with those of the distances between tokens, which have the same bias.
    pub fn with_distances(self, distances: DistanceVectors<'a, S>) -> Self {
        assert!(distances.longest() >= self.sequences.longest() && distances.width() == self.width());
        Attention { distances: Some(distances), ..self }
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

    /// `context_gradient [T, H]`
    pub fn backward(&self, context_gradient: &Tensor) -> AttentionGradients {
        let parts = parallel::balanced(&self.sequences.ends);
        let width = 3 * self.width() as i64;
        let mut qkv = Tensor::empty([self.qkv.rows() as i64, width], (S::KIND, Device::Cpu));
        let mut sums = Tensor::zeros([parts.len() as i64, width], (Kind::Float, Device::Cpu));
        let mut distance_sums = self.distances.map(|distances| {
            let shape = [parts.len(), distances.rows(), 2 * self.width()].map(|size| size as i64);
            Tensor::zeros(shape, (Kind::Float, Device::Cpu))
        });
        let kernel = Backward {
            attention: self,
            context: Matrix::of(context_gradient),
            qkv: MatrixMut::of(&mut qkv),
            sums: MatrixMut::of(&mut sums),
            distance_sums: distance_sums.as_mut().map(MatrixMut::of),
        };
        parallel::run(&kernel, &parts);
        self.sequences.clear_excess(&mut qkv);
        let over_parts = |sums: Tensor| sums.sum_dim_intlist(0, false, Kind::Float);
        AttentionGradients { qkv, bias: over_parts(sums), distances: distance_sums.map(over_parts) }
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
        let terms = if self.distances.is_some() { 3 } else { 1 };
        1. / ((terms * self.depth()) as f32).sqrt()
    }

    /// For the vectors of distances, one head after the other.
    fn head_distances(&self) -> Option<HeadDistances> {
        self.distances.map(|distances| HeadDistances::new(distances.longest(), self.depth()))
    }

    #[inline(always)]
    fn read_distances(&self, of_head: &mut Option<HeadDistances>, number: usize) {
        if let (Some(of_head), Some(distances)) = (of_head, &self.distances) {
            of_head.read(distances, self.bias, number, self.scale());
        }
    }

    /// Reads a head of a sequence and computes its attention weights.
    #[inline(always)]
    fn read(&self, head: &mut Head, distances: &mut Option<HeadDistances>, tokens: Range<usize>, number: usize) {
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
        if let Some(HeadDistances { keys, queries }) = distances {
            let weights = &mut head.weights;
            keys.scores(&head.queries, l, |i, scores| {
                weights[i * lp..][..l].iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
            });
            queries.scores(&head.keys, l, |j, scores| {
                weights[j..].iter_mut().step_by(lp).zip(scores).for_each(|(sum, score)| *sum += score);
            });
        }
        for i in 0..l {
            softmax(&mut head.weights[i * lp..][..lp], l);
        }
    }

    /// From the gradient of the context that of the scores: of the weights dP = drop(dC·Vᵀ), and through the softmax
    /// dS = P∘(dP − Σ P∘dP).
    #[inline(always)]
    fn score_gradients(&self, head: &mut Head, tokens: Range<usize>, number: usize) {
        let (l, d, dp, lp) = (tokens.len(), self.depth(), padded(self.depth()), padded(tokens.len()));
        transpose(&head.values, &mut head.across, (l, d, dp, lp));
        small_product(&head.context, (dp, 1), &head.across, &mut head.scores, (l, d, lp));
        self.drop_out(&mut head.scores, tokens, number);
        for i in 0..l {
            let (weights, scores) = (&head.weights[i * lp..][..lp], &mut head.scores[i * lp..][..lp]);
            let along = sum(lp, |j| weights[j] * scores[j]);
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score = weight * (*score - along));
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
        let mut distances = attention.head_distances();
        for number in 0..attention.heads {
            attention.read_distances(&mut distances, number);
            for sequence in sequences.clone() {
                let tokens = attention.sequences.tokens(sequence);
                let (l, lp) = (tokens.len(), padded(tokens.len()));
                attention.read(&mut head, &mut distances, tokens.clone(), number);
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
    /// The gradient of the vectors of distances, likewise.
    distance_sums: Option<MatrixMut<'k, f32>>,
}

impl<S: Element> Rows for Backward<'_, '_, S> {
    #[inline(always)]
    fn work(&self, part: usize, sequences: Range<usize>) {
        let attention = self.attention;
        let (d, dp) = (attention.depth(), padded(attention.depth()));
        let mut head = Head::new(attention.sequences.longest(), d);
        let mut distances = attention.head_distances();
        let mut gradient = vec![0f32; head.queries.len()];
        // SAFETY: this part's own row.
        let sums = unsafe { self.sums.row_mut(part) };
        for number in 0..attention.heads {
            attention.read_distances(&mut distances, number);
            for sequence in sequences.clone() {
                let tokens = attention.sequences.tokens(sequence);
                let (l, lp) = (tokens.len(), padded(tokens.len()));
                attention.read(&mut head, &mut distances, tokens.clone(), number);
                for (i, token) in tokens.clone().enumerate() {
                    let row = &self.context.row(token)[number * d..][..d];
                    head.context[i * dp..].iter_mut().zip(row).for_each(|(value, from)| *value = from.get());
                }
                // values: dV = Pdᵀ·dC
                head.dropped[..l * lp].copy_from_slice(&head.weights[..l * lp]);
                attention.drop_out(&mut head.dropped, tokens.clone(), number);
                small_product(&head.dropped, (1, lp), &head.context, &mut gradient, (l, l, dp));
                self.write(&gradient, tokens.clone(), 2, number, 1., sums);
                attention.score_gradients(&mut head, tokens.clone(), number);
                // queries: dQ = dS·K; keys: dK = dSᵀ·Q (which is scaled already)
                let scores = &head.scores;
                small_product(scores, (lp, 1), &head.keys, &mut gradient, (l, l, dp));
                if let Some(HeadDistances { keys, .. }) = &mut distances {
                    keys.backward(&head.queries, &mut gradient, l, |i, row| {
                        row.copy_from_slice(&scores[i * lp..][..l])
                    });
                }
                self.write(&gradient, tokens.clone(), 0, number, attention.scale(), sums);
                small_product(scores, (1, lp), &head.queries, &mut gradient, (l, l, dp));
                if let Some(HeadDistances { queries, .. }) = &mut distances {
                    queries.backward(&head.keys, &mut gradient, l, |j, row| {
                        row.iter_mut().zip(scores[j..].iter().step_by(lp)).for_each(|(to, score)| *to = *score);
                    });
                }
                self.write(&gradient, tokens.clone(), 1, number, 1., sums);
            }
            if let (Some(of_head), Some(vectors), Some(sums)) = (&distances, &attention.distances, &self.distance_sums)
            {
                let size = vectors.rows() * 2 * attention.width();
                // SAFETY: this part's own numbers.
                let sums = unsafe { sums.span_mut(part * size..(part + 1) * size) };
                of_head.write(vectors, number, attention.scale(), sums);
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
    use crate::batch::LengthGroup;

    /// Two sequences, of 5 tokens and of 3; a NaN or an infinity in the query of a token of the first.
    #[test]
    fn nan_stays_nan() {
        let sequences = Sequences::of(&[LengthGroup { count: 1, length: 5 }, LengthGroup { count: 1, length: 3 }]);
        let (heads, h) = (2, 8);
        let bias = Tensor::zeros([3 * h], (Kind::Float, Device::Cpu));
        let (projected, row_of) = (Tensor::rand([9, 2 * h], (Kind::Float, Device::Cpu)), Vec::from_iter(0..9));
        let distances = DistanceVectors::new(&projected, &row_of);
        for (value, has_distances) in
            [(f64::NAN, false), (f64::INFINITY, false), (f64::NEG_INFINITY, false), (f64::NAN, true)]
        {
            let qkv = Tensor::rand([8, 3 * h], (Kind::Float, Device::Cpu));
            let _ = qkv.get(1).narrow(0, 0, 1).fill_(value);
            let attention = Attention::<f32>::new(&qkv, &bias, &sequences, heads, Dropout::NONE);
            let attention = if has_distances { attention.with_distances(distances) } else { attention };
            let of_row = |rows: &Tensor, row| rows.get(row).isnan().any().int64_value(&[]) == 1;
            let context = attention.forward();
            let gradient = attention.backward(&Tensor::ones([8, h], (Kind::Float, Device::Cpu))).qkv;
            for rows in [&context, &gradient] {
                assert!(of_row(rows, 1), "{value}");
                assert!((5..8).all(|row| !of_row(rows, row)), "the other sequence must not change");
            }
        }
    }
}
