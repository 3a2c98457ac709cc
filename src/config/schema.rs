//! The keys at the top of a config, and its sections.

use super::data::DataConfig;
use super::encoder::EncoderSource;
use super::model::ModelOptions;
use crate::checkpoint::CheckpointConfig;
use crate::loss::LossConfig;
use crate::machine::{DeviceChoice, PrecisionChoice};
use crate::train::TrainConfig;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A config. Unknown keys are refused; `docs/config.md` describes every key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The seed of every random choice.
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub device: DeviceChoice,
    #[serde(default)]
    pub precision: PrecisionChoice,
    /// Threads of libtorch. If absent, as many as there are cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Whether each thread is bound to a core of its own, so that one seed gives one result on every processor.
    #[serde(default)]
    pub deterministic: bool,
    /// A run. Training starts with the best weights of its whole model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init_from: Option<PathBuf>,
    pub encoder: EncoderSource,
    pub data: DataConfig,
    #[serde(default)]
    pub model: ModelOptions,
    #[serde(default)]
    pub loss: LossConfig,
    #[serde(default)]
    pub train: TrainConfig,
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
}
