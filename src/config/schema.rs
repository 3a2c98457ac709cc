//! The keys at the top of a config, and its sections.
//!
//! A field of these structs is the one place of a key: serde's default is its default, the doc comment its meaning,
//! `x-resume` what happens if it has changed at resume. `x-type` and `x-default` say in words what a type or a default
//! can't. `keys` reads all this; docs/config.md and docs/schemas/config.json are written from it.

use super::data::DataConfig;
use super::encoder::EncoderSource;
use super::model::ModelOptions;
use crate::checkpoint::CheckpointConfig;
use crate::loss::LossConfig;
use crate::machine::{DeviceChoice, PrecisionChoice};
use crate::train::TrainConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A config. Unknown keys are refused; `docs/config.md` describes every key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Every random choice follows from it.
    #[serde(default)]
    #[schemars(extend("x-resume" = "refused"))]
    pub seed: u64,
    /// Where to compute; `auto` is the first GPU, else the CPU.
    #[serde(default)]
    #[schemars(extend("x-resume" = "warned"))]
    pub device: DeviceChoice,
    /// Precision of the matmuls; weights, losses and norms are float32. `auto` is bf16 on GPUs that have it, and on AMD
    /// processors with avx512_bf16 and Intel processors with amx_bf16, where its matmuls were measured to be at least 1.5
    /// times as fast, else fp32. `tiered doctor` prints the choice and measures both. The run's config records the choice.
    #[serde(default)]
    #[schemars(extend("x-resume" = "warned"))]
    pub precision: PrecisionChoice,
    /// Let a GPU round the inputs of float32 matmuls to TensorFloat-32 (`docs/gpu.md`).
    #[serde(default)]
    #[schemars(extend("x-resume" = "warned"))]
    pub tf32: bool,
    /// Threads of libtorch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096), extend("x-resume" = "warned", "x-default" = "`OMP_NUM_THREADS`, else one for each core that the program may use"))]
    pub threads: Option<u32>,
    /// Give each thread a core of its own (`docs/checkpoints.md#one-seed-one-result`). For two such runs at a time on
    /// one machine, give each its own cores (`taskset`). On a GPU, choose algorithms that give the same numbers each
    /// time, where libtorch has them (`docs/gpu.md`).
    #[serde(default)]
    #[schemars(extend("x-resume" = "warned"))]
    pub deterministic: bool,
    /// A run whose best weights initialise the whole model, heads and detector too; it must have the same `[model]`, but
    /// for `dropout`, `output_bias` and, with the joint detector, `max_sentences`; and a `loss.single_story` that is 0, or
    /// is not, as here. `encoder.path` still names the encoder, which must have the same
    /// `config.json`, but for its dropout, and the same `tokenizer.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-resume" = "refused", "x-type" = "run folder", "x-default" = "none"))]
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
