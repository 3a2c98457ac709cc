//! The sum of the squares of a tensor's numbers, in one pass over memory. libtorch would widen rounded numbers first.

use super::element::Element;
use super::matrix::Matrix;
use super::parallel::{self, Rows};
use super::vector::sum;
use std::ops::Range;
use std::sync::OnceLock;
use tch::Tensor;

/// With fewer numbers, a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 17;

/// So many squares are added in float32, their sums in float64.
const BLOCK: usize = 1 << 12;

/// The sum of the squares of a contiguous tensor's numbers on the CPU, always in the same order for a number of threads.
pub fn sum_of_squares<S: Element>(tensor: &Tensor) -> f64 {
    let parts = parallel::split_if_large(tensor.numel(), WORTH_A_THREAD);
    let kernel = Squares { values: Matrix::<S>::of(tensor), sums: parts.iter().map(|_| OnceLock::new()).collect() };
    parallel::run(&kernel, &parts);
    kernel.sums.into_iter().filter_map(OnceLock::into_inner).sum()
}

struct Squares<'a, S> {
    values: Matrix<'a, S>,
    /// Of each part.
    sums: Vec<OnceLock<f64>>,
}

impl<S: Element> Rows for Squares<'_, S> {
    #[inline(always)]
    fn work(&self, part: usize, span: Range<usize>) {
        let mut total = 0.;
        for block in self.values.span(span).chunks(BLOCK) {
            total += f64::from(sum(block.len(), |i| block[i].get() * block[i].get()));
        }
        let _ = self.sums[part].set(total);
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::Bf16;
    use super::*;
    use tch::Kind;

    #[test]
    fn the_same_as_libtorch() {
        for count in [0, 1, 17, BLOCK as i64 + 5, WORTH_A_THREAD as i64 + 3] {
            let tensor = Tensor::randn([count], tch::kind::FLOAT_CPU);
            let expected = |tensor: &Tensor| tensor.to_kind(Kind::Double).square().sum(Kind::Double).double_value(&[]);
            let is_close = |found: f64, expected: f64| (found - expected).abs() <= 1e-6 * expected;
            assert!(is_close(sum_of_squares::<f32>(&tensor), expected(&tensor)));
            let rounded = tensor.to_kind(Kind::BFloat16);
            assert!(is_close(sum_of_squares::<Bf16>(&rounded), expected(&rounded)));
        }
    }

    #[test]
    fn one_that_is_not_finite_shows() {
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let tensor = Tensor::ones([WORTH_A_THREAD as i64 + 3], tch::kind::FLOAT_CPU);
            let _ = tensor.get(-1).fill_(wrong);
            assert!(!sum_of_squares::<f32>(&tensor).is_finite(), "{wrong}");
        }
    }
}
