//! The randomness of dropout: counter-based, and many times faster than libtorch's Bernoulli on a CPU.

use std::cell::Cell;
use tch::{Device, Tensor};

/// The dropout masks of one training step, each a function of the step's key and of how many came before it.
pub struct Noise {
    key: u64,
    masks: Cell<u64>,
}

/// Masks are decided by 16 random bits a value.
const LEVELS: f64 = 65536.;

impl Noise {
    /// `key` should come from (seed, "dropout", step).
    pub fn new(key: u64) -> Self {
        Noise { key, masks: Cell::new(0) }
    }

    /// A float32 tensor that is 0 with probability `p` and otherwise the inverse of the share that is kept.
    pub fn dropout_mask(&self, shape: &[i64], p: f64, device: Device) -> Tensor {
        let number = self.masks.replace(self.masks.get() + 1);
        let threshold = (p * LEVELS).round().min(LEVELS - 1.);
        let keep = (LEVELS / (LEVELS - threshold)) as f32;
        let mut values = vec![0.; shape.iter().product::<i64>() as usize];
        fill_mask(&mut values, mix(self.key ^ mix(number)), threshold as u16, keep);
        Tensor::from_slice(&values).view(shape).to_device(device)
    }
}

/// Values below which a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 18;

/// Four values from each 64-bit word, in parallel where it is worth it; the values don't depend on that.
fn fill_mask(values: &mut [f32], key: u64, threshold: u16, keep: f32) {
    let threads = if values.len() < WORTH_A_THREAD { 1 } else { tch::get_num_threads().max(1) as usize };
    let chunk = values.len().div_ceil(4 * threads).max(1) * 4;
    let mut parts = values.chunks_mut(chunk).enumerate();
    let own = parts.next();
    let fill = |(part, values): (usize, &mut [f32])| {
        for (i, four) in values.chunks_mut(4).enumerate() {
            let word = mix(key.wrapping_add(((part * chunk / 4 + i) as u64).wrapping_mul(GOLDEN)));
            for (k, value) in four.iter_mut().enumerate() {
                *value = if ((word >> (16 * k)) as u16) < threshold { 0. } else { keep };
            }
        }
    };
    std::thread::scope(|scope| {
        parts.for_each(|part| drop(scope.spawn(move || fill(part))));
        own.into_iter().for_each(fill);
    });
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
        let noise = Noise::new(7);
        for p in [0.1, 0.5] {
            let mask = noise.dropout_mask(&[1000, 300], p, Device::Cpu);
            let zeros = mask.eq(0.).to_kind(Kind::Float).mean(Kind::Float).double_value(&[]);
            assert!((zeros - p).abs() < 0.005, "{zeros} of {p}");
            assert!((mask.mean(Kind::Float).double_value(&[]) - 1.).abs() < 0.005);
        }
    }

    #[test]
    fn a_mask_is_the_same_however_many_threads_made_it() {
        let fill = |count| {
            let mut values = vec![0.; count];
            fill_mask(&mut values, 5, 20_000, 1.5);
            values
        };
        let (alone, shared) = (fill(WORTH_A_THREAD - 1), fill(WORTH_A_THREAD + 9));
        assert_eq!(alone, shared[..alone.len()]);
    }

    #[test]
    fn masks_follow_from_the_key_and_differ_from_each_other() {
        let draw = |key| {
            let noise = Noise::new(key);
            [0; 2].map(|_| noise.dropout_mask(&[64, 5], 0.3, Device::Cpu))
        };
        let ([a, b], [c, _], [d, _]) = (draw(1), draw(1), draw(2));
        assert_eq!(a, c);
        assert_ne!(a, b);
        assert_ne!(a, d);
    }
}
