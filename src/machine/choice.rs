//! What a config or a command asks for: device and precision. It knows no tensors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The device, as written in a config: `auto`, `cpu` or `cuda:N`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^(auto|cpu|cuda(:[0-9]+)?)$", "x-type" = "`auto`, `cpu`, `cuda`, `cuda:N`"))]
pub struct DeviceChoice(pub String);

impl Default for DeviceChoice {
    fn default() -> Self {
        DeviceChoice("auto".into())
    }
}

/// As an option of a command.
impl std::str::FromStr for DeviceChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_gpu = text.strip_prefix("cuda:").is_some_and(|number| number.parse::<usize>().is_ok());
        match is_gpu || ["auto", "cpu", "cuda"].contains(&text) {
            true => Ok(DeviceChoice(text.to_owned())),
            false => Err("must be auto, cpu or cuda:N"),
        }
    }
}

/// Where and how predictions are computed, if not as in training.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ComputeChoice {
    /// Where to compute: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    pub device: Option<DeviceChoice>,
    /// The precision of the matmuls [default: as in training]
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionChoice>,
}

impl ComputeChoice {
    /// On this device, in the run's own precision.
    pub fn on(device: Option<&DeviceChoice>) -> Self {
        ComputeChoice { device: device.cloned(), precision: None }
    }
}

/// The precision of matmuls, as written in a config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum PrecisionChoice {
    /// Chosen by device and processor.
    #[default]
    Auto,
    /// Matmuls in float32.
    Fp32,
    /// Matmuls in bfloat16; all else stays float32.
    Bf16,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_takes_devices_only() {
        for good in ["auto", "cpu", "cuda", "cuda:0"] {
            assert_eq!(good.parse(), Ok(DeviceChoice(good.to_owned())));
        }
        for bad in ["gpu", "cuda:", "cuda:-1", ""] {
            assert!(bad.parse::<DeviceChoice>().is_err(), "{bad}");
        }
    }
}
