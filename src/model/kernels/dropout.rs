//! Dropout whose mask is computed from a key and the position, again in the backward pass, and never stored.

use super::matrix::MatrixMut;
use super::parallel::{self, Rows};
use std::ops::Range;
use tch::{Kind, Tensor};

/// How many values are decided at once.
pub const BLOCK: usize = 32;

/// Every value has 16 random bits.
const LEVELS: f64 = 65536.;

/// Sets each value to 0 with a probability, and scales the others up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    key: [u32; 2],
    /// A value is dropped if its 16 bits are below this, of 2^16.
    threshold: u32,
    keep: f32,
}

impl Dropout {
    /// Drops nothing.
    pub const NONE: Dropout = Dropout { key: [0; 2], threshold: 0, keep: 1. };

    pub fn new(key: u64, p: f64) -> Self {
        let threshold = (p * LEVELS).round().min(LEVELS - 1.);
        let keep = (LEVELS / (LEVELS - threshold)) as f32;
        Dropout { key: [key as u32, (key >> 32) as u32], threshold: threshold as u32, keep }
    }

    pub fn drops(&self) -> bool {
        self.threshold > 0
    }

    /// The factors for the values from `32·block` on.
    #[inline(always)]
    pub fn block(&self, block: usize) -> [f32; BLOCK] {
        const HALF: usize = BLOCK / 2;
        let mut factors = [0f32; BLOCK];
        for lane in 0..HALF {
            let bits = hash((block * HALF + lane) as u32, self.key);
            factors[lane] = if bits & 0xffff < self.threshold { 0. } else { self.keep };
            factors[HALF + lane] = if bits >> 16 < self.threshold { 0. } else { self.keep };
        }
        factors
    }

    /// Multiplies values by the factors from `32·block` on.
    #[inline(always)]
    pub fn apply(&self, block: usize, values: &mut [f32]) {
        if self.drops() {
            for (i, values) in values.chunks_mut(BLOCK).enumerate() {
                let factors = self.block(block + i);
                match <&mut [f32; BLOCK]>::try_from(&mut *values) {
                    Ok(whole) => whole.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor),
                    Err(_) => values.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor),
                }
            }
        }
    }

    /// The factors as a float32 tensor on the CPU.
    pub fn mask(&self, shape: &[i64]) -> Tensor {
        let mask = Tensor::empty(shape, (Kind::Float, tch::Device::Cpu));
        let mut flat = mask.view([-1, 1]);
        let count = mask.numel();
        let blocks = count.div_ceil(BLOCK);
        let parts = parallel::split_if_large(blocks, WORTH_A_THREAD / BLOCK);
        parallel::run(&Fill { dropout: *self, values: MatrixMut::of(&mut flat), count }, &parts);
        mask
    }
}

/// With fewer values, a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 16;

struct Fill<'a> {
    dropout: Dropout,
    values: MatrixMut<'a, f32>,
    count: usize,
}

impl Rows for Fill<'_> {
    #[inline(always)]
    fn work(&self, _: usize, blocks: Range<usize>) {
        for block in blocks {
            let (start, factors) = (block * BLOCK, self.dropout.block(block));
            let end = self.count.min(start + BLOCK);
            // SAFETY: these values belong to this block.
            unsafe { self.values.span_mut(start..end) }.copy_from_slice(&factors[..end - start]);
        }
    }
}

/// For each key a bijection of 32 bits, in which every input bit affects every output bit (Wellons' "hash prospector").
#[inline(always)]
fn hash(x: u32, key: [u32; 2]) -> u32 {
    let mut x = x.wrapping_add(key[0]);
    x ^= x >> 16;
    x = x.wrapping_mul(0x21f0_aaad);
    x ^= key[1];
    x ^= x >> 15;
    x = x.wrapping_mul(0xd35a_2d97);
    x ^ (x >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_applied_is_what_the_mask_says_however_many_threads_made_it() {
        let dropout = Dropout::new(5, 0.3);
        let mask = |count: usize| Vec::<f32>::try_from(dropout.mask(&[count as i64])).unwrap();
        let (alone, shared) = (mask(WORTH_A_THREAD - 1), mask(3 * WORTH_A_THREAD + 9));
        assert_eq!(alone, shared[..alone.len()]);
        let mut applied = vec![1.; shared.len()];
        dropout.apply(0, &mut applied);
        assert_eq!(applied, shared);
        let mut nan = vec![f32::NAN; shared.len()];
        dropout.apply(0, &mut nan);
        assert!(nan.iter().all(|value| value.is_nan()), "dropped values too");
        let mut later = [1.; 40];
        dropout.apply(2, &mut later);
        assert_eq!(later, shared[2 * BLOCK..][..40]);
    }
}
