//! The device, the precision, and how fast this machine multiplies.

mod choice;

pub use choice::{DeviceChoice, PrecisionChoice};

use crate::checkpoint::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Precision;
use crate::model::layers::affine;
use serde::Serialize;
use std::time::Instant;
use tch::{Cuda, Device, Kind, Tensor};

/// Asks the allocator to keep freed memory. Every step frees about one gigabyte and allocates it again, and each page
/// that was given back costs a page fault. Without this, training spends a quarter of its time on them
/// (benches/README.md).
pub fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets two numbers of glibc's allocator.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
    }
}

impl DeviceChoice {
    /// The device, if this libtorch can use it.
    ///
    /// # Errors
    /// `Config` if the text is not one of the three forms; `Unavailable` if there is no such GPU.
    pub fn resolve(&self) -> Result<Device> {
        let gpus = Cuda::device_count().max(0) as usize;
        let wanted = match self.0.as_str() {
            "auto" => return Ok(if gpus > 0 { Device::Cuda(0) } else { Device::Cpu }),
            "cpu" => return Ok(Device::Cpu),
            "cuda" => Some(0),
            other => other.strip_prefix("cuda:").and_then(|number| number.parse().ok()),
        };
        match wanted {
            Some(gpu) if gpu < gpus => Ok(Device::Cuda(gpu)),
            Some(gpu) => Err(Error::new(
                ErrorKind::Unavailable,
                format!("device cuda:{gpu}: this libtorch sees {gpus} GPUs; use device = \"cpu\" or \"auto\""),
            )),
            None => Err(Error::config(format!("device = {:?}: must be auto, cpu or cuda:N", self.0))),
        }
    }
}

/// The version of libtorch at build time. libtorch has no function that returns it.
pub const LIBTORCH_VERSION: Option<&str> = option_env!("TIERED_LIBTORCH_VERSION");

/// Processor features that decide how matmuls are computed and how fast. Named as in `/proc/cpuinfo`.
pub const FEATURES: [&str; 5] = ["avx2", "avx512f", "avx512_bf16", "amx_bf16", "bf16"];

/// The [`FEATURES`] that a `/proc/cpuinfo` lists; `None` if it lists no features at all.
pub fn features(cpuinfo: &str) -> Option<Vec<&'static str>> {
    let flags = proc_value(cpuinfo, "flags").or_else(|| proc_value(cpuinfo, "Features"))?;
    Some(FEATURES.into_iter().filter(|feature| flags.split_whitespace().any(|flag| flag == *feature)).collect())
}

/// The first `name : value` in a file of `/proc`.
pub fn proc_value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let of_line = |line: &'a str| line.split_once(':').filter(|(n, _)| n.trim() == name).map(|(_, value)| value.trim());
    text.lines().find_map(of_line)
}

/// What the last digits of a run's numbers depend on, as of now.
pub fn made_with(device: Device) -> Environment {
    Environment {
        tiered: env!("CARGO_PKG_VERSION").to_owned(),
        libtorch: LIBTORCH_VERSION.unwrap_or("unknown").to_owned(),
        device: format!("{device:?}").to_lowercase(),
        threads: tch::get_num_threads(),
        processor: features(&cpuinfo()).unwrap_or_default().into_iter().map(str::to_owned).collect(),
    }
}

/// bf16 loses digits; it must be at least this many times as fast to be worth it.
pub const BF16_ADVANTAGE: f64 = 1.5;

/// Processor makers, each with the feature that makes bf16 [`BF16_ADVANTAGE`] times as fast on their processors. On
/// Intel's the same feature gave 1.2 times. Processors that are not listed compute in fp32 (benches/README.md).
const FAST_BF16: [(&str, &str); 1] = [("AuthenticAMD", "avx512_bf16")];

/// What `auto` chooses: bf16 on GPUs and on processors of [`FAST_BF16`]. It measures no time, so that the load of the
/// machine can't change the numbers of a run.
pub fn preferred(device: Device, cpuinfo: &str) -> Precision {
    let (maker, features) = (proc_value(cpuinfo, "vendor_id"), features(cpuinfo).unwrap_or_default());
    let is_fast = FAST_BF16.iter().any(|(of, feature)| maker == Some(of) && features.contains(feature));
    if device != Device::Cpu || is_fast { Precision::Bf16 } else { Precision::Fp32 }
}

/// The contents of `/proc/cpuinfo`; empty where there is none.
fn cpuinfo() -> String {
    std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// Matmul rates in billions of floating-point operations a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MatmulRates {
    pub fp32: f64,
    pub bf16: f64,
}

impl From<Precision> for PrecisionChoice {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::Fp32 => PrecisionChoice::Fp32,
            Precision::Bf16 => PrecisionChoice::Bf16,
        }
    }
}

impl PrecisionChoice {
    pub fn resolve(self, device: Device) -> Precision {
        match self {
            PrecisionChoice::Fp32 => Precision::Fp32,
            PrecisionChoice::Bf16 => Precision::Bf16,
            PrecisionChoice::Auto => preferred(device, &cpuinfo()),
        }
    }
}

impl MatmulRates {
    /// Times a matmul with the shape of one in an encoder layer. The two precisions take turns, so that another busy
    /// program slows both. Takes a fifth of a second.
    pub fn measure(device: Device) -> Self {
        Self::best_of(16, Shape { tokens: 1024, inputs: 384, outputs: 1536 }, device)
    }

    /// The fastest matmuls here: those of [`MatmulRates::measure`], or far larger ones if they are faster. Takes one
    /// or two seconds.
    pub fn peak(device: Device) -> Self {
        let large = Self::best_of(5, Shape { tokens: 4096, inputs: 1024, outputs: 4096 }, device);
        Self::measure(device).max(large)
    }

    /// The larger rate of each precision.
    pub fn max(self, other: Self) -> Self {
        MatmulRates { fp32: self.fp32.max(other.fp32), bf16: self.bf16.max(other.bf16) }
    }

    pub fn of(&self, precision: Precision) -> f64 {
        match precision {
            Precision::Fp32 => self.fp32,
            Precision::Bf16 => self.bf16,
        }
    }

    fn best_of(rounds: usize, shape: Shape, device: Device) -> Self {
        let [fp32, bf16] = [Precision::Fp32, Precision::Bf16].map(|precision| Matmul::new(shape, device, precision));
        let mut best = [f64::INFINITY; 2];
        for _ in 0..rounds {
            best = [best[0].min(fp32.seconds()), best[1].min(bf16.seconds())];
        }
        let [fp32, bf16] = best.map(|seconds| shape.operations() / seconds / 1e9);
        MatmulRates { fp32, bf16 }
    }
}

/// x `[tokens, inputs]` times the transpose of a weight `[outputs, inputs]`.
#[derive(Clone, Copy)]
struct Shape {
    tokens: i64,
    inputs: i64,
    outputs: i64,
}

impl Shape {
    fn operations(self) -> f64 {
        (2 * self.tokens * self.inputs * self.outputs) as f64
    }
}

/// A matmul whose inputs are already in the precision.
struct Matmul {
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    precision: Precision,
}

impl Matmul {
    fn new(Shape { tokens, inputs, outputs }: Shape, device: Device, precision: Precision) -> Self {
        let input = |shape: &[i64]| precision.cast(&Tensor::ones(shape, (Kind::Float, device)));
        Matmul { x: input(&[tokens, inputs]), weight: input(&[outputs, inputs]), bias: input(&[outputs]), precision }
    }

    fn seconds(&self) -> f64 {
        let _guard = tch::no_grad_guard();
        let started = Instant::now();
        let y = affine(&self.x, &self.weight, &self.bias, self.precision);
        y.get(0).get(0).double_value(&[]); // waits for the device
        started.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_decides_and_not_its_load() {
        let on = |maker: &str, flags: &str| {
            preferred(Device::Cpu, &format!("vendor_id\t: {maker}\nflags\t\t: fpu {flags}\n"))
        };
        assert_eq!(on("AuthenticAMD", "avx2 avx512_bf16"), Precision::Bf16);
        assert_eq!(on("AuthenticAMD", "avx2"), Precision::Fp32);
        assert_eq!(on("GenuineIntel", "avx2 avx512_bf16"), Precision::Fp32);
        assert_eq!(preferred(Device::Cpu, ""), Precision::Fp32);
        assert_eq!(preferred(Device::Cuda(0), ""), Precision::Bf16);
    }
}
