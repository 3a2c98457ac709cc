//! The scores of attention that depend on how far two tokens are apart (DeBERTa; He et al., 2021, section 3.1).

use super::element::Element;
use super::matrix::Matrix;
use super::vector::{add_small_product, padded, window_product};
use tch::Tensor;

/// Queries and keys of the distances between tokens.
#[derive(Clone, Copy)]
pub struct DistanceVectors<'a, S> {
    projected: Matrix<'a, S>,
    row_of: &'a [usize],
}

impl<'a, S: Element> DistanceVectors<'a, S> {
    /// `projected [U, 2H]`: queries and keys side by side, without the bias. `row_of` has the row of each distance from
    /// -(longest - 1) to longest - 1, where no sequence is longer than `longest`. Distances may share rows.
    pub fn new(projected: &'a Tensor, row_of: &'a [usize]) -> Self {
        assert!(row_of.len() % 2 == 1);
        DistanceVectors { projected: Matrix::of(projected), row_of }
    }

    pub(super) fn rows(&self) -> usize {
        self.projected.rows()
    }

    pub(super) fn longest(&self) -> usize {
        self.row_of.len().div_ceil(2)
    }

    /// H.
    #[inline(always)]
    pub(super) fn width(&self) -> usize {
        self.projected.width() / 2
    }
}

/// One head's vectors of all distances, in float32.
pub(super) struct HeadDistances {
    /// From distance longest - 1 down: what a token's query is compared with, for each key from the first one on.
    pub keys: DistanceTable,
    /// From distance -(longest - 1) up, scaled: what a token's key is compared with, for each query from the first one on.
    pub queries: DistanceTable,
}

impl HeadDistances {
    pub fn new(longest: usize, depth: usize) -> Self {
        HeadDistances { keys: DistanceTable::new(longest, depth), queries: DistanceTable::new(longest, depth) }
    }

    /// Reads the vectors of a head, and starts their gradient at zero.
    #[inline(always)]
    pub fn read<S: Element>(&mut self, vectors: &DistanceVectors<S>, bias: &[f32], head: usize, scale: f32) {
        let query = head * self.queries.depth;
        let key = vectors.width() + query;
        for (place, &row) in vectors.row_of.iter().enumerate() {
            self.queries.set(place, &vectors.projected.row(row)[query..], &bias[query..], scale);
        }
        for (place, &row) in vectors.row_of.iter().rev().enumerate() {
            self.keys.set(place, &vectors.projected.row(row)[key..], &bias[key..], 1.);
        }
        self.queries.gradient.fill(0.);
        self.keys.gradient.fill(0.);
    }

    /// Adds the gradients of a head's vectors. `sums [U·2H]`
    #[inline(always)]
    pub fn write<S: Element>(&self, vectors: &DistanceVectors<S>, head: usize, scale: f32, sums: &mut [f32]) {
        let query = head * self.queries.depth;
        let key = vectors.width() + query;
        let width = 2 * vectors.width();
        for (place, &row) in vectors.row_of.iter().enumerate() {
            self.queries.add_gradient(place, scale, &mut sums[row * width + query..]);
        }
        for (place, &row) in vectors.row_of.iter().rev().enumerate() {
            self.keys.add_gradient(place, 1., &mut sums[row * width + key..]);
        }
    }
}

/// How many tokens are compared with distances at once: with the l + 15 distances that any of them needs.
const TOKENS: usize = 16;

/// Vectors of distances, W = 2·longest - 1 of them, and their gradients. D' is the number of columns D, padded to a
/// multiple of 16, W' the number of vectors, padded so that each window has such a multiple too.
///
/// Token r of a sequence of l tokens needs those from `longest - 1 - r` on, one for each of the l tokens.
pub(super) struct DistanceTable {
    longest: usize,
    depth: usize,
    /// `[W, D']`
    rows: Vec<f32>,
    /// `[D, W']`
    across: Vec<f32>,
    /// `[W, D']`
    gradient: Vec<f32>,
    /// Scores, or their gradients, of some tokens with a window of distances.
    scores: Vec<f32>,
}

impl DistanceTable {
    fn new(longest: usize, depth: usize) -> Self {
        let rows = vec![0.; (2 * longest).saturating_sub(1) * padded(depth)];
        DistanceTable {
            longest,
            depth,
            across: vec![0.; depth * Self::stride(longest)],
            gradient: rows.clone(),
            rows,
            scores: vec![0.; TOKENS * padded(longest + TOKENS)],
        }
    }

    /// W'.
    fn stride(longest: usize) -> usize {
        padded(2 * longest + TOKENS)
    }

    #[inline(always)]
    fn set<S: Element>(&mut self, place: usize, values: &[S], bias: &[f32], scale: f32) {
        let stride = Self::stride(self.longest);
        let row = &mut self.rows[place * padded(self.depth)..][..self.depth];
        for ((to, value), bias) in row.iter_mut().zip(values).zip(bias) {
            *to = (value.get() + bias) * scale;
        }
        self.across[place..].iter_mut().step_by(stride).zip(&*row).for_each(|(to, value)| *to = *value);
    }

    #[inline(always)]
    fn add_gradient(&self, place: usize, scale: f32, sums: &mut [f32]) {
        let gradient = &self.gradient[place * padded(self.depth)..][..self.depth];
        sums.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value * scale);
    }

    /// Calls `add` with each token and its scores with the l distances.
    ///
    /// # Shapes
    /// `vectors [l, D']`
    #[inline(always)]
    pub fn scores(&mut self, vectors: &[f32], l: usize, mut add: impl FnMut(usize, &[f32])) {
        let (stride, from) = (Self::stride(self.longest), padded(self.depth));
        for first in (0..l).step_by(TOKENS) {
            let tokens = TOKENS.min(l - first);
            let window = padded(l + tokens - 1);
            let across = (&self.across[self.longest - first - tokens..], stride);
            let sizes = (tokens, self.depth, window);
            window_product(&vectors[first * from..], (from, 1), across, &mut self.scores, sizes);
            for token in 0..tokens {
                add(first + token, &self.scores[token * window + tokens - 1 - token..][..l]);
            }
        }
    }

    /// Adds to the gradients of the tokens' vectors and of the distances'. `get` puts a token's gradients of its l scores.
    ///
    /// # Shapes
    /// `vectors` and `gradient` `[l, D']`
    #[inline(always)]
    pub fn backward(
        &mut self,
        vectors: &[f32],
        gradient: &mut [f32],
        l: usize,
        mut get: impl FnMut(usize, &mut [f32]),
    ) {
        let from = padded(self.depth);
        for first in (0..l).step_by(TOKENS) {
            let tokens = TOKENS.min(l - first);
            let window = l + tokens - 1;
            let scores = &mut self.scores[..tokens * window];
            scores.fill(0.);
            for token in 0..tokens {
                get(first + token, &mut scores[token * window + tokens - 1 - token..][..l]);
            }
            let start = (self.longest - first - tokens) * from;
            let (of_tokens, of_distances) = (&mut gradient[first * from..], &mut self.gradient[start..]);
            add_small_product(scores, (window, 1), &self.rows[start..], of_tokens, (tokens, window, from));
            add_small_product(scores, (1, window), &vectors[first * from..], of_distances, (window, tokens, from));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::batch::LengthGroup;
    use crate::model::kernels::{Attention, DistanceVectors, Dropout, Sequences};
    use std::ops::Range;
    use tch::{Device, Kind, Tensor};

    const HEADS: i64 = 2;
    const DEPTH: i64 = 20;
    const LONGEST: i64 = 40;

    /// Distances beyond 12 share the vectors of 12.
    fn row_of(distance: i64) -> i64 {
        distance.clamp(-12, 12) + 12
    }

    /// The context of a sequence as the equation has it: softmax((Q_i·K_j + Q_i·Kr_δ(i,j) + K_j·Qr_δ(i,j)) / √(3D))·V.
    fn by_definition(qkv: &Tensor, projected: &Tensor, bias: &Tensor, tokens: Range<i64>) -> Tensor {
        let length = tokens.end - tokens.start;
        let place = Tensor::arange(length, (Kind::Int64, Device::Cpu));
        let distance = place.unsqueeze(1) - place.unsqueeze(0);
        let rows = (distance.clamp(-12, 12) + 12).flatten(0, 1);
        let heads = |rows: Tensor, parts: i64| rows.view([-1, parts, HEADS, DEPTH]).unbind(1);
        let content = heads(qkv.narrow(0, tokens.start, length) + bias, 3); // each [length, heads, depth]
        let of_distance = heads(projected + bias.narrow(1, 0, 2 * HEADS * DEPTH), 2);
        let pairs = |vectors: &Tensor| vectors.index_select(0, &rows).view([length, length, HEADS, DEPTH]);
        let scores = content[0].unsqueeze(1) * (content[1].unsqueeze(0) + pairs(&of_distance[1]))
            + content[1].unsqueeze(0) * pairs(&of_distance[0]); // [length, length, heads, depth]
        let scores = scores.sum_dim_intlist(-1, false, Kind::Float) / ((3 * DEPTH) as f64).sqrt();
        let weights = scores.softmax(1, Kind::Float).unsqueeze(-1);
        (weights * content[2].unsqueeze(0)).sum_dim_intlist(1, false, Kind::Float).flatten(1, 2)
    }

    #[test]
    fn attention_with_distances_is_the_equation_and_its_gradients() {
        tch::manual_seed(1);
        let lengths = [1, 2, 15, 16, 17, 33, LONGEST];
        let groups: Vec<LengthGroup> = lengths.iter().map(|&length| LengthGroup { count: 1, length }).collect();
        let (total, h): (i64, i64) = (lengths.iter().sum(), HEADS * DEPTH);
        let random = |shape: [i64; 2]| Tensor::randn(shape, (Kind::Float, Device::Cpu)).set_requires_grad(true);
        let (qkv, projected, bias) = (random([total, 3 * h]), random([25, 2 * h]), random([1, 3 * h]));
        let cotangent = random([total, h]).detach();

        let ends = lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let contexts: Vec<Tensor> =
            ends.zip(lengths).map(|(end, length)| by_definition(&qkv, &projected, &bias, end - length..end)).collect();
        let expected = Tensor::cat(&contexts, 0);
        let loss = (&expected * &cotangent).sum(Kind::Float);
        let gradients = Tensor::run_backward(&[loss], &[&qkv, &projected, &bias], false, false);

        let (qkv, projected, bias) = (qkv.detach(), projected.detach(), bias.detach());
        // Some more distances than the longest sequence has.
        let rows: Vec<usize> = (-LONGEST..=LONGEST).map(|distance| row_of(distance) as usize).collect();
        let sequences = Sequences::of(&groups);
        let attention = Attention::<f32>::new(&qkv, &bias, &sequences, HEADS, Dropout::NONE)
            .with_distances(DistanceVectors::new(&projected, &rows));
        let close = |found: &Tensor, expected: &Tensor| {
            let largest = (found - expected).abs().max().double_value(&[]);
            assert!(largest < 1e-4, "{largest}");
        };
        close(&attention.forward(), &expected.detach());
        let found = attention.backward(&cotangent);
        close(&found.qkv, &gradients[0]);
        let of_distances = found.distances.unwrap();
        close(&of_distances, &gradients[1]);
        let of_bias = found.bias
            + Tensor::cat(
                &[of_distances.sum_dim_intlist(0, false, Kind::Float), Tensor::zeros([h], (Kind::Float, Device::Cpu))],
                0,
            );
        close(&of_bias, &gradients[2].get(0));
    }
}
