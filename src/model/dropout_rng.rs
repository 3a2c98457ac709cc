//! The randomness of dropout. It is counter-based: mask n of a step follows from the step's key and n alone. Our kernels
//! compute masks from these, on a CPU many times faster than libtorch's Bernoulli. On a GPU libtorch's own generator draws
//! them where they are needed, seeded for each mask, in one operation. (The kernels' hash in tensor operations would give the
//! CPU's masks everywhere, but it takes fourteen operations a mask, three masks a layer.)

use super::kernels::Dropout;
use crate::torch::seed;
use std::cell::Cell;
use tch::{Device, Tensor};

/// The dropout masks of one training step. Each depends on the step's key and on the number of masks before it.
pub struct DropoutRng {
    key: u64,
    masks: Cell<u64>,
}

impl DropoutRng {
    /// `key` should be derived from (seed, "dropout", step).
    pub fn new(key: u64) -> Self {
        DropoutRng { key, masks: Cell::new(0) }
    }

    /// The key of the next mask.
    fn next(&self) -> u64 {
        let number = self.masks.replace(self.masks.get() + 1);
        mix(self.key ^ mix(number))
    }

    /// The next mask.
    pub fn dropout(&self, p: f64) -> Dropout {
        Dropout::new(self.next(), p)
    }

    /// The next mask as a float32 tensor on the CPU. Its values are 0 with probability `p`, and otherwise 1 / (1 - p).
    pub fn dropout_mask(&self, shape: &[i64], p: f64) -> Tensor {
        self.dropout(p).mask(shape)
    }

    /// Seeds libtorch's generator for the next mask, which libtorch then draws on this device.
    pub fn seed_libtorch(&self, device: Device) {
        seed(device, self.next());
    }
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Kind;

    #[test]
    fn masks_have_mean_one_and_the_asked_share_of_zeros() {
        let noise = DropoutRng::new(7);
        for p in [0.1, 0.5] {
            let mask = noise.dropout_mask(&[1000, 300], p);
            let zeros = mask.eq(0.).to_kind(Kind::Float).mean(Kind::Float).double_value(&[]);
            assert!((zeros - p).abs() < 0.005, "{zeros} of {p}");
            assert!((mask.mean(Kind::Float).double_value(&[]) - 1.).abs() < 0.005);
        }
    }

    #[test]
    fn masks_follow_from_the_key_and_differ_from_each_other() {
        let draw = |key| {
            let noise = DropoutRng::new(key);
            [0; 2].map(|_| noise.dropout_mask(&[64, 5], 0.3))
        };
        let ([a, b], [c, _], [d, _]) = (draw(1), draw(1), draw(2));
        assert_eq!(a, c);
        assert_ne!(a, b);
        assert_ne!(a, d);
    }
}
