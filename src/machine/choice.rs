//! What a config asks for: device and precision. It knows no tensors.

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

impl From<String> for DeviceChoice {
    fn from(text: String) -> Self {
        DeviceChoice(text)
    }
}

/// The precision of matmuls, as written in a config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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
