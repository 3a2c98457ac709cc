//! Where and in what precision to compute, as written in a config.

use serde::{Deserialize, Serialize};

/// Where to compute, as written in a config: `auto`, `cpu` or `cuda:N`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
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

/// In what to multiply, as written in a config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrecisionChoice {
    /// By device and processor ([`super::preferred`]).
    #[default]
    Auto,
    Fp32,
    Bf16,
}
