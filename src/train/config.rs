//! How a model is trained.

use super::schedule::Schedule;
use crate::untrusted::{MAX_EPOCHS, MAX_STEP_SHARDS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a model is trained. The defaults are the paper's (TRIP, section 4 and appendix B).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct TrainConfig {
    /// Number of epochs.
    #[schemars(range(min = 1, max = MAX_EPOCHS), extend("x-resume" = "warned"))]
    pub epochs: u64,
    /// Pairs in a step; with more than one, the pairs of a plausible story stay together.
    #[schemars(range(min = 1), extend("x-resume" = "refused"))]
    pub pairs_per_step: usize,
    /// Into how many parts a step is cut; up to as many processes share it (`docs/cluster.md`). The result depends on this
    /// number; it does not depend on the number of processes if that is a power of two.
    #[schemars(range(min = 1, max = MAX_STEP_SHARDS), extend("x-resume" = "refused"))]
    pub shards: usize,
    /// How many entities of each story a step reads, drawn anew each time; a step with 2 takes less than half the time
    /// (`docs/model.md`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-resume" = "warned", "x-default" = "all"))]
    pub entities: Option<usize>,
    /// Share of a step's (entity, sentence) inputs that the state heads learn from, drawn anew each step; the others
    /// are not encoded. A value below 1 needs a detector that reads whole stories only.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0, "x-resume" = "warned"))]
    pub state_sample_ratio: f64,
    /// The tier on dev that chooses the best epoch. If it changes when a run is resumed, epochs so far are not judged anew.
    #[schemars(extend("x-resume" = "warned"))]
    pub metric_for_best_model: BestModelMetric,
    /// Stop training after this many epochs in a row without a better one on dev (by `metric_for_best_model`); the
    /// schedule still follows `train.epochs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-resume" = "warned", "x-default" = "none"))]
    pub patience: Option<u64>,
    /// Learning rate of the encoder.
    #[schemars(extend("exclusiveMinimum" = 0, "x-resume" = "warned"))]
    pub learning_rate: f64,
    /// Learning rate of heads and detector.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "x-resume" = "warned", "x-default" = "`learning_rate`"))]
    pub head_learning_rate: Option<f64>,
    /// The rate after the warm-up; `linear` falls to 0.
    #[schemars(extend("x-resume" = "warned"))]
    pub schedule: Schedule,
    /// Share of all steps in which the rate rises.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1, "x-resume" = "warned"))]
    pub warmup: f64,
    /// The constants of the optimiser.
    pub adamw: AdamWConfig,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            epochs: 10,
            pairs_per_step: 1,
            shards: 1,
            entities: None,
            state_sample_ratio: 1.,
            metric_for_best_model: BestModelMetric::Verifiability,
            patience: None,
            learning_rate: 1e-5,
            head_learning_rate: None,
            schedule: Schedule::Constant,
            warmup: 0.,
            adamw: AdamWConfig::default(),
        }
    }
}

/// The tier, on dev, that decides which epoch is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BestModelMetric {
    /// Ties: accuracy, then verifiability with the states by argmax.
    #[default]
    Verifiability,
    /// Ties: verifiability, then accuracy.
    Consistency,
    /// Ties: consistency, then verifiability.
    Accuracy,
}

/// The constants of AdamW. The defaults are the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct AdamWConfig {
    /// Decay of the first moment.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1, "x-resume" = "warned"))]
    pub beta1: f64,
    /// Decay of the second moment.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1, "x-resume" = "warned"))]
    pub beta2: f64,
    /// Added to the denominator of the update.
    #[schemars(extend("exclusiveMinimum" = 0, "x-resume" = "warned"))]
    pub epsilon: f64,
    /// Decoupled; not for embeddings, biases and norms.
    #[schemars(range(min = 0), extend("x-resume" = "warned"))]
    pub weight_decay: f64,
    /// Largest norm of all gradients together.
    #[schemars(extend("exclusiveMinimum" = 0, "x-resume" = "warned"))]
    pub clip_norm: f64,
}

impl Default for AdamWConfig {
    fn default() -> Self {
        AdamWConfig { beta1: 0.9, beta2: 0.999, epsilon: 1e-6, weight_decay: 0., clip_norm: 1. }
    }
}
