//! Attention over sequences that lie end to end.

use super::bridge::packed_attention;
use std::sync::OnceLock;
use tch::{Device, Kind, Tensor};

/// The kernel reads vectors of 8 numbers. Wider heads than these can't be trained on every GPU.
const DEPTHS: std::ops::RangeInclusive<i64> = 8..=128;

/// Whether this device has flash attention for heads of this depth: a GPU for which libtorch has it. That is found out by
/// trying once.
pub fn has_flash_attention(device: Device, depth: i64) -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    let works = || {
        let one = Tensor::zeros([1, 1, 8], (Kind::BFloat16, device));
        let starts = Tensor::from_slice(&[0i32, 1]).to_device(device);
        tch::no_grad(|| packed_attention([&one; 3], &starts, 1, 0.)).is_ok()
    };
    device.is_cuda() && depth % 8 == 0 && DEPTHS.contains(&depth) && *WORKS.get_or_init(works)
}

/// Attention within each of the sequences, of which the longest has `longest` tokens.
///
/// # Shapes
/// `parts` (queries, keys, values) `[T, heads, depth]` each, bfloat16; `starts [sequences + 1]` int32, the first row of
/// each sequence, and T -> `[T, heads, depth]`
///
/// # Panics
/// Unless the device has it ([`has_flash_attention`]).
pub fn flash_attention(parts: [&Tensor; 3], starts: &Tensor, longest: i64, dropout: f64) -> Tensor {
    packed_attention(parts, starts, longest, dropout).unwrap_or_else(|error| panic!("libtorch: {error}"))
}
