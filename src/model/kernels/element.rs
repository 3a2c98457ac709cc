//! The two number formats of a matmul's inputs.

use tch::Kind;

/// A number in memory.
pub trait Element: Copy + Default + Send + Sync + 'static {
    const KIND: Kind;
    fn get(self) -> f32;
    fn put(value: f32) -> Self;
}

impl Element for f32 {
    const KIND: Kind = Kind::Float;

    #[inline(always)]
    fn get(self) -> f32 {
        self
    }

    #[inline(always)]
    fn put(value: f32) -> Self {
        value
    }
}

/// The upper half of a float32.
///
/// The crate `half` rounds to the same bits. But it looks for NaN when it reads a number too, and in a loop of a kernel its
/// conversions took about twice as long as these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(u16);

impl Element for Bf16 {
    const KIND: Kind = Kind::BFloat16;

    #[inline(always)]
    fn get(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// Rounds to nearest, ties to even.
    #[inline(always)]
    fn put(value: f32) -> Self {
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
        let nan = bits | 0x0040_0000;
        Bf16(((if value.is_nan() { nan } else { rounded }) >> 16) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Tensor;

    #[test]
    fn rounds_as_libtorch_does() {
        let mut values: Vec<f32> = (0..4000).map(|i| f32::from_bits(0x3f80_0000 + i * 4099)).collect();
        values.extend([0., -0., 1e-40, -3.3e38, f32::MAX, f32::INFINITY, f32::NEG_INFINITY]);
        let theirs = Vec::<f32>::try_from(Tensor::from_slice(&values).to_kind(Kind::BFloat16).to_kind(Kind::Float));
        let ours: Vec<f32> = values.iter().map(|&value| Bf16::put(value).get()).collect();
        assert_eq!(ours, theirs.unwrap());
        assert!(Bf16::put(f32::from_bits(0x7fff_ffff)).get().is_nan());
    }
}
