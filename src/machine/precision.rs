//! The precision that a config chooses, and the one that suits this machine.

use super::choice::PrecisionChoice;
use super::gpu::Gpu;
use super::processor::{cpuinfo, features, proc_value};
use crate::model::Precision;
use tch::Device;

impl From<Precision> for PrecisionChoice {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::Fp32 => PrecisionChoice::Fp32,
            Precision::Bf16 => PrecisionChoice::Bf16,
        }
    }
}

impl PrecisionChoice {
    /// The precision to compute in; `auto` depends on the GPU or this machine's processor ([`preferred`]).
    pub fn resolve(self, device: Device) -> Precision {
        match self {
            PrecisionChoice::Fp32 => Precision::Fp32,
            PrecisionChoice::Bf16 => Precision::Bf16,
            PrecisionChoice::Auto => preferred(Gpu::of(device).as_ref(), &cpuinfo(), device),
        }
    }
}

/// bf16 loses digits; it must be at least this many times as fast to be worth it.
pub const BF16_ADVANTAGE: f64 = 1.5;

/// Processor makers, each with the feature that makes bf16 matmuls [`BF16_ADVANTAGE`] times as fast on their processors.
/// AMD's feature gave 1.2 times on Intel's. Processors that are not listed compute in fp32 (benches/README.md).
const FAST_BF16: [(&str, &str); 2] = [("AuthenticAMD", "avx512_bf16"), ("GenuineIntel", "amx_bf16")];

/// What `auto` chooses: bf16 on GPUs that have it and on processors of [`FAST_BF16`]. It measures no time, so that the load
/// of the machine can't change the numbers of a run. `gpu` is what the driver says of the device, if it is a GPU.
pub fn preferred(gpu: Option<&Gpu>, cpuinfo: &str, device: Device) -> Precision {
    let (maker, features) = (proc_value(cpuinfo, "vendor_id"), features(cpuinfo).unwrap_or_default());
    let is_fast = match device {
        Device::Cpu => FAST_BF16.iter().any(|(of, feature)| maker == Some(of) && features.contains(feature)),
        _ => gpu.is_some_and(Gpu::has_bf16),
    };
    if is_fast { Precision::Bf16 } else { Precision::Fp32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_decides_and_not_its_load() {
        let on = |maker: &str, flags: &str| {
            preferred(None, &format!("vendor_id\t: {maker}\nflags\t\t: fpu {flags}\n"), Device::Cpu)
        };
        assert_eq!(on("AuthenticAMD", "avx2 avx512_bf16"), Precision::Bf16);
        assert_eq!(on("AuthenticAMD", "avx2"), Precision::Fp32);
        assert_eq!(on("GenuineIntel", "avx2 avx512_bf16"), Precision::Fp32);
        assert_eq!(on("GenuineIntel", "avx2 avx512_bf16 amx_bf16"), Precision::Bf16);
        assert_eq!(preferred(None, "", Device::Cpu), Precision::Fp32);
        let gpu = |major| Gpu::named("a GPU", (major, 0));
        let on_gpu = |gpu: Option<Gpu>| preferred(gpu.as_ref(), "", Device::Cuda(0));
        assert_eq!([on_gpu(Some(gpu(8))), on_gpu(Some(gpu(7)))], [Precision::Bf16, Precision::Fp32]);
        assert_eq!(on_gpu(None), Precision::Fp32, "a driver that says nothing");
    }
}
