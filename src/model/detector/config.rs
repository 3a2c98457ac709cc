//! The kind of the detector and its sizes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of the detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DetectorKind {
    /// The paper's: a conflict probability for each sentence and entity.
    Paper,
    /// One distribution over (story, first sentence, second sentence) of both stories.
    Joint,
}

/// What the detector reads (ablations: TRIP, tables 7 and 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DetectorInputs {
    /// Embeddings and state logits.
    Both,
    /// Embeddings without states.
    Embeddings,
    /// States without embeddings.
    States,
}

/// How much context of a sentence is read, by the joint detector or by the state heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// None. The joint detector reads the mean of the (entity, sentence) embeddings over the entities.
    #[default]
    Sentence,
    /// The whole story, encoded as one input. A sentence is the mean of its tokens. The heads add it to the (entity,
    /// sentence) embedding.
    Story,
}

/// Where the transformer layers normalise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// After each residual sum, as in the paper.
    #[default]
    After,
    /// Before attention and feed-forward, and once more at the end: PyTorch's `norm_first`.
    Before,
}

/// The detector and its sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct DetectorConfig {
    /// `paper`: the paper's detector, one conflict probability for each sentence and entity; `joint`: one distribution
    /// over all sentence pairs of both stories (`docs/model.md`).
    #[schemars(extend("x-resume" = "refused"))]
    pub kind: DetectorKind,
    /// What the conflict detector reads.
    #[schemars(extend("x-resume" = "refused"))]
    pub inputs: DetectorInputs,
    /// What the joint detector reads: embeddings of (entity, sentence), or the whole story as one encoder input.
    #[schemars(extend("x-resume" = "refused"))]
    pub context: Context,
    /// Transformer layers of the paper's detector.
    #[schemars(range(min = 1, max = MAX_SIZE), extend("x-resume" = "refused"))]
    pub layers: i64,
    /// Where the layers of the paper's detector normalise: after each sum, as published, or before attention and
    /// feed-forward, and once at the end.
    #[schemars(extend("x-resume" = "refused"))]
    pub norm: Norm,
    /// Of the paper's detector: how much each layer initially adds to its input, as a share of the default;
    /// with 0.1 it learns in half the steps (`docs/notebook.md`).
    #[schemars(range(min = 0), extend("x-resume" = "refused"))]
    pub residual_scale: f64,
    /// Whether the paper's detector standardises embeddings and state logits by their running mean and deviation
    /// (`docs/model.md`); needs `train.shards = 1`.
    #[schemars(extend("x-resume" = "refused"))]
    pub standardize: bool,
    /// Width of the paper's detector; a multiple of twice the heads.
    #[schemars(range(min = 1, max = MAX_SIZE), extend("x-resume" = "refused"))]
    pub width: i64,
    /// Attention heads of these layers; with `sentence_layers` a divisor of the encoder's width.
    #[schemars(range(min = 1, max = MAX_SIZE), extend("x-resume" = "refused"))]
    pub heads: i64,
    /// Width of their feed-forward layer.
    #[schemars(range(min = 1, max = MAX_SIZE), extend("x-resume" = "refused"))]
    pub feed_forward: i64,
    /// Width of the joint detector's pair scores.
    #[schemars(range(min = 1, max = MAX_SIZE), extend("x-resume" = "refused"))]
    pub pair_width: i64,
    /// Transformer layers over the sentences of a story before the joint detector's pair scores.
    #[schemars(range(min = 0, max = MAX_SIZE), extend("x-resume" = "refused"))]
    pub sentence_layers: i64,
    /// Whether the joint detector scores each sentence pair once for each entity.
    #[schemars(extend("x-resume" = "refused"))]
    pub entities: bool,
}

impl Default for DetectorConfig {
    fn default() -> Self {
        DetectorConfig {
            kind: DetectorKind::Paper,
            inputs: DetectorInputs::Both,
            context: Context::Sentence,
            layers: 6,
            norm: Norm::After,
            residual_scale: 1.,
            standardize: false,
            width: 512,
            heads: 8,
            feed_forward: 2048,
            pair_width: 256,
            sentence_layers: 0,
            entities: false,
        }
    }
}

/// The largest size that a config may set.
const MAX_SIZE: i64 = 1 << 20;

impl DetectorConfig {
    /// # Errors
    /// A value that has the right type but is invalid.
    pub fn validate(&self) -> Result<(), &'static str> {
        let sizes = [self.layers, self.width, self.heads, self.feed_forward, self.pair_width];
        if !sizes.iter().all(|size| (1..=MAX_SIZE).contains(size)) {
            return Err("layers, width, heads, feed_forward and pair_width must be above 0 and at most 1048576");
        }
        if !(0..=MAX_SIZE).contains(&self.sentence_layers) {
            return Err("sentence_layers must be at least 0 and at most 1048576");
        }
        if self.kind == DetectorKind::Paper && self.width % (2 * self.heads) != 0 {
            return Err("width must be a multiple of 2 * heads");
        }
        Ok(())
    }

    /// The least number of parameters of such a detector: those of its matrices.
    pub fn least_parameters(&self, hidden: u128, sentences: u128) -> u128 {
        let [layers, width, inner, pairs] =
            [self.layers, self.width, self.feed_forward, self.pair_width].map(|size| size as u128);
        match self.kind {
            DetectorKind::Paper => layers * (4 * width * width + 2 * width * inner) + sentences * sentences * width,
            DetectorKind::Joint => {
                let layer = 4 * hidden * hidden + 2 * hidden * inner;
                3 * hidden * pairs + self.sentence_layers as u128 * layer
            }
        }
    }

    /// Whether the conflict depends on the (entity, sentence) inputs.
    pub fn reads_inputs(&self) -> bool {
        self.kind == DetectorKind::Paper
            || self.context == Context::Sentence
            || self.inputs != DetectorInputs::Embeddings
            || self.entities
    }

    /// Whether it reads whole stories.
    pub fn reads_stories(&self) -> bool {
        self.kind == DetectorKind::Joint && self.context == Context::Story && self.inputs != DetectorInputs::States
    }
}
