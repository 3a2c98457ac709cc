//! Whether all numbers of a tensor are finite, in one pass and without memory for intermediate results.

use super::matrix::Matrix;
use super::parallel::{self, Rows};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use tch::Tensor;

/// With fewer numbers, a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 18;

/// Whether a contiguous float32 tensor on the CPU has neither NaN nor infinity.
pub fn all_finite(tensor: &Tensor) -> bool {
    let kernel = Finite { values: Matrix::of(tensor), all: AtomicBool::new(true) };
    parallel::run(&kernel, &parallel::split_if_large(tensor.numel(), WORTH_A_THREAD));
    kernel.all.into_inner()
}

struct Finite<'a> {
    values: Matrix<'a, f32>,
    all: AtomicBool,
}

impl Rows for Finite<'_> {
    /// NaN and infinity are the numbers whose exponent has all bits set.
    #[inline(always)]
    fn work(&self, _: usize, span: Range<usize>) {
        let magnitude = |value: &f32| value.to_bits() & 0x7fff_ffff;
        let largest = self.values.span(span).iter().map(magnitude).fold(0, u32::max);
        if largest >= f32::INFINITY.to_bits() {
            self.all.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_as_libtorch() {
        for count in [0, 1, 17, WORTH_A_THREAD as i64 + 3] {
            for wrong in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE / 2., -0.]
            {
                for place in [0, count / 2, count - 1] {
                    let tensor = Tensor::randn([count], tch::kind::FLOAT_CPU);
                    assert!(all_finite(&tensor));
                    if (0..count).contains(&place) {
                        let _ = tensor.get(place).fill_(f64::from(wrong));
                    }
                    assert_eq!(
                        all_finite(&tensor),
                        tensor.isfinite().all().int64_value(&[]) == 1,
                        "{wrong} at {place}"
                    );
                }
            }
        }
    }
}
