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
    /// Where to compute; `auto` is the first GPU, else the CPU.
    #[serde(default)]
    pub device: DeviceChoice,
    /// The precision of matmuls; weights, losses and norms are float32.
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
    /// The pretrained encoder, and which parts of it are not trained.
    pub encoder: EncoderSource,
    /// The pairs to train on, and those to choose the epoch on.
    pub data: DataConfig,
    /// What the encoder does not determine: dropout, context, detector.
    #[serde(default)]
    pub model: ModelOptions,
    /// The weights of the losses, and the cells that they average over.
    #[serde(default)]
    pub loss: LossConfig,
    /// Epochs, steps, optimiser and schedule.
    #[serde(default)]
    pub train: TrainConfig,
    /// When checkpoints are saved, and how many are kept.
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
}
