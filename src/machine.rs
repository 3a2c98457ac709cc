//! What this machine is and how fast it multiplies.

use crate::error::{Error, ErrorKind, Result};
use crate::model::Precision;
use crate::model::layers::product;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use tch::{Cuda, Device, Kind, Tensor};

/// Where to compute, as written in a config: `auto`, `cpu` or `cuda:N`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceChoice(pub String);

impl Default for DeviceChoice {
    fn default() -> Self {
        DeviceChoice("auto".into())
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

/// In what to multiply, as written in a config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrecisionChoice {
    /// bf16 where it is at least 1.5 times as fast, measured once.
    #[default]
    Auto,
    Fp32,
    Bf16,
}

/// Billions of floating-point operations a second of a matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProductRates {
    pub fp32: f64,
    pub bf16: f64,
}

impl PrecisionChoice {
    pub fn resolve(self, device: Device) -> Precision {
        match self {
            PrecisionChoice::Fp32 => Precision::Fp32,
            PrecisionChoice::Bf16 => Precision::Bf16,
            PrecisionChoice::Auto => ProductRates::measure(device).preferred(),
        }
    }
}

impl ProductRates {
    /// Times a product of the shape an encoder layer has; takes a few tens of milliseconds.
    pub fn measure(device: Device) -> Self {
        ProductRates { fp32: rate(device, Precision::Fp32), bf16: rate(device, Precision::Bf16) }
    }

    pub fn preferred(&self) -> Precision {
        if self.bf16 >= 1.5 * self.fp32 { Precision::Bf16 } else { Precision::Fp32 }
    }
}

/// The best of several runs, in GFLOP/s, operands already in the precision.
fn rate(device: Device, precision: Precision) -> f64 {
    const TOKENS: i64 = 1024;
    const INPUTS: i64 = 384;
    const OUTPUTS: i64 = 1536;
    let _guard = tch::no_grad_guard();
    let operand = |shape: &[i64]| precision.cast(&Tensor::ones(shape, (Kind::Float, device)));
    let (x, w, b) = (operand(&[TOKENS, INPUTS]), operand(&[OUTPUTS, INPUTS]), operand(&[OUTPUTS]));
    let seconds = || {
        let started = Instant::now();
        let y = product(&x, &w, &b, precision);
        y.get(0).get(0).double_value(&[]); // waits for the device
        started.elapsed().as_secs_f64()
    };
    let best = (0..12).map(|_| seconds()).fold(f64::INFINITY, f64::min);
    (2 * TOKENS * INPUTS * OUTPUTS) as f64 / best / 1e9
}
