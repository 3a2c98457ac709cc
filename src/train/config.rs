//! How a model is trained.

use super::schedule::Schedule;
use serde::{Deserialize, Serialize};

/// How a model is trained. The defaults are the paper's (TRIP, section 4 and appendix B).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainConfig {
    /// The number of epochs, unless `patience` ends training before.
    pub epochs: u64,
    /// How many pairs an optimiser step reads; the last one of an epoch may read fewer.
    pub pairs_per_step: usize,
    /// The number of entities of each story in a step, drawn again each time. If absent, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<usize>,
    /// The share of a step's (entity, sentence) inputs from which the state heads learn. The others are not encoded.
    pub state_sample_ratio: f64,
    /// The tier, on dev, that decides which epoch is best.
    pub metric_for_best_model: BestModelMetric,
    /// Training ends after this many epochs without a better one. If absent, never early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
    /// The encoder's full learning rate, which it has after the warm-up.
    pub learning_rate: f64,
    /// The learning rate of heads and detector. If absent, the encoder's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_learning_rate: Option<f64>,
    /// How the learning rate changes after the warm-up.
    pub schedule: Schedule,
    /// The share of all steps in which the learning rate rises.
    pub warmup: f64,
    /// The constants of the optimiser.
    pub adamw: AdamWConfig,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            epochs: 10,
            pairs_per_step: 1,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamWConfig {
    /// How much of the first moment, the mean of gradients, a step keeps.
    pub beta1: f64,
    /// How much of the second moment, the mean of their squares, a step keeps.
    pub beta2: f64,
    /// Added to the root of the second moment, so that nothing is divided by 0.
    pub epsilon: f64,
    /// Decoupled weight decay. It does not apply to embeddings, biases and norms.
    pub weight_decay: f64,
    /// The largest norm of all gradients together.
    pub clip_norm: f64,
}

impl Default for AdamWConfig {
    fn default() -> Self {
        AdamWConfig { beta1: 0.9, beta2: 0.999, epsilon: 1e-6, weight_decay: 0., clip_norm: 1. }
    }
}
