//! What this machine is and how fast it multiplies.

mod choice;

pub use choice::{DeviceChoice, PrecisionChoice};

use crate::checkpoint::MadeWith;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Precision;
use crate::model::layers::product;
use serde::Serialize;
use std::time::Instant;
use tch::{Cuda, Device, Kind, Tensor};

/// Asks the allocator to keep what has been freed. Every step frees and asks for the same gigabyte, and pages that are
/// given back come again one fault at a time: a quarter of the time of training, without this (benches/README.md).
pub fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets two numbers of glibc's allocator.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
    }
}

impl DeviceChoice {
    /// The device, if this libtorch has it.
    ///
    /// # Errors
    /// `Config` if the words are none of the three; `Unavailable` if there is no such GPU.
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

/// The libtorch that this was built with; libtorch has no function that tells.
pub const LIBTORCH_VERSION: Option<&str> = option_env!("TIERED_LIBTORCH_VERSION");

/// Instructions that decide how products are computed and how fast, by the names of `/proc/cpuinfo`.
pub const FEATURES: [&str; 5] = ["avx2", "avx512f", "avx512_bf16", "amx_bf16", "bf16"];

/// Which of [`FEATURES`] a `/proc/cpuinfo` tells of; `None` if it tells nothing.
pub fn features(cpuinfo: &str) -> Option<Vec<&'static str>> {
    let flags = proc_value(cpuinfo, "flags").or_else(|| proc_value(cpuinfo, "Features"))?;
    Some(FEATURES.into_iter().filter(|feature| flags.split_whitespace().any(|flag| flag == *feature)).collect())
}

/// The first `name : value` of a file of `/proc`.
pub fn proc_value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let of_line = |line: &'a str| line.split_once(':').filter(|(n, _)| n.trim() == name).map(|(_, value)| value.trim());
    text.lines().find_map(of_line)
}

/// What the last digits of a run's numbers depend on, as it is now.
pub fn made_with(device: Device) -> MadeWith {
    MadeWith {
        tiered: env!("CARGO_PKG_VERSION").to_owned(),
        libtorch: LIBTORCH_VERSION.unwrap_or("unknown").to_owned(),
        device: format!("{device:?}").to_lowercase(),
        threads: tch::get_num_threads(),
        processor: features(&cpuinfo()).unwrap_or_default().into_iter().map(str::to_owned).collect(),
    }
}

/// How many times as fast bf16 must be to be worth the digits it loses.
pub const BF16_ADVANTAGE: f64 = 1.5;

/// Makers of processors, with the instruction by which bf16 is [`BF16_ADVANTAGE`] times as fast on theirs. The same
/// instruction gave 1.2 on Intel's, so that what is not listed computes in fp32 (benches/README.md).
const FAST_BF16: [(&str, &str); 1] = [("AuthenticAMD", "avx512_bf16")];

/// What `auto` chooses: bf16 on GPUs and on processors of [`FAST_BF16`]. It is no stopwatch that decides, so that what
/// else a machine is doing can't change the numbers of a run.
pub fn preferred(device: Device, cpuinfo: &str) -> Precision {
    let (maker, features) = (proc_value(cpuinfo, "vendor_id"), features(cpuinfo).unwrap_or_default());
    let is_fast = FAST_BF16.iter().any(|(of, feature)| maker == Some(of) && features.contains(feature));
    if device != Device::Cpu || is_fast { Precision::Bf16 } else { Precision::Fp32 }
}

/// What this machine tells of its processor; empty where it tells nothing.
fn cpuinfo() -> String {
    std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// Billions of floating-point operations a second of a matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProductRates {
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

impl ProductRates {
    /// Times a product of the shape an encoder layer has, the two precisions in turn, so that another program that is
    /// busy for a while slows both; takes a fifth of a second.
    pub fn measure(device: Device) -> Self {
        Self::best_of(16, Shape { tokens: 1024, inputs: 384, outputs: 1536 }, device)
    }

    /// The most that products reach here: [`ProductRates::measure`], or a far larger product if that is faster; takes
    /// one or two seconds.
    pub fn peak(device: Device) -> Self {
        let large = Self::best_of(5, Shape { tokens: 4096, inputs: 1024, outputs: 4096 }, device);
        Self::measure(device).max(large)
    }

    /// The larger rate of each precision.
    pub fn max(self, other: Self) -> Self {
        ProductRates { fp32: self.fp32.max(other.fp32), bf16: self.bf16.max(other.bf16) }
    }

    pub fn of(&self, precision: Precision) -> f64 {
        match precision {
            Precision::Fp32 => self.fp32,
            Precision::Bf16 => self.bf16,
        }
    }

    fn best_of(rounds: usize, shape: Shape, device: Device) -> Self {
        let [fp32, bf16] = [Precision::Fp32, Precision::Bf16].map(|precision| Product::new(shape, device, precision));
        let mut best = [f64::INFINITY; 2];
        for _ in 0..rounds {
            best = [best[0].min(fp32.seconds()), best[1].min(bf16.seconds())];
        }
        let [fp32, bf16] = best.map(|seconds| shape.operations() / seconds / 1e9);
        ProductRates { fp32, bf16 }
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

/// Operands that are already in the precision.
struct Product {
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    precision: Precision,
}

impl Product {
    fn new(Shape { tokens, inputs, outputs }: Shape, device: Device, precision: Precision) -> Self {
        let operand = |shape: &[i64]| precision.cast(&Tensor::ones(shape, (Kind::Float, device)));
        Product {
            x: operand(&[tokens, inputs]),
            weight: operand(&[outputs, inputs]),
            bias: operand(&[outputs]),
            precision,
        }
    }

    fn seconds(&self) -> f64 {
        let _guard = tch::no_grad_guard();
        let started = Instant::now();
        let y = product(&self.x, &self.weight, &self.bias, self.precision);
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
