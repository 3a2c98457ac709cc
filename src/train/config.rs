//! How a model is trained.

use super::Schedule;
use serde::{Deserialize, Serialize};

/// How a model is trained; the defaults are the paper's (TRIP, section 4 and appendix B).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainConfig {
    pub epochs: u64,
    pub pairs_per_step: usize,
    /// How many entities of each story a step reads, drawn anew each time; all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<usize>,
    /// Share of a step's (entity, sentence) inputs that the state heads learn from; the others are not encoded.
    pub state_inputs: f64,
    /// The tier, on dev, by which the best epoch is chosen.
    pub metric_for_best_model: BestModelMetric,
    /// Training ends after so many epochs without a better one; never where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
    pub learning_rate: f64,
    /// Rate of heads and detector; the encoder's where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_learning_rate: Option<f64>,
    pub schedule: Schedule,
    /// Share of all steps over which the rate rises.
    pub warmup: f64,
    pub adamw: AdamWConfig,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            epochs: 10,
            pairs_per_step: 1,
            entities: None,
            state_inputs: 1.,
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

/// The tier, on dev, by which the best epoch is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BestModelMetric {
    /// Then accuracy, then verifiability with the states by argmax.
    #[default]
    Verifiability,
    /// Then verifiability, then accuracy.
    Consistency,
    /// Then consistency, then verifiability.
    Accuracy,
}

/// Constants of AdamW; the defaults are the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamWConfig {
    pub beta1: f64,
    pub beta2: f64,
    pub epsilon: f64,
    /// Decoupled; not applied to embeddings, biases and norms.
    pub weight_decay: f64,
    /// Largest norm of all gradients together.
    pub clip_norm: f64,
}

impl Default for AdamWConfig {
    fn default() -> Self {
        AdamWConfig { beta1: 0.9, beta2: 0.999, epsilon: 1e-6, weight_decay: 0., clip_norm: 1. }
    }
}
