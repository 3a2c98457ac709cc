//! The kind of the detector and its sizes.

use serde::{Deserialize, Serialize};

/// The kind of the detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DetectorKind {
    /// The paper's: a conflict probability for each sentence and entity.
    Paper,
    /// One distribution over (story, first sentence, second sentence) of both stories.
    Joint,
}

/// What the detector reads (ablations: TRIP, tables 7 and 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// After each residual sum, as in the paper.
    #[default]
    After,
    /// Before attention and feed-forward, and once more at the end: PyTorch's `norm_first`.
    Before,
}

/// The detector and its sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DetectorConfig {
    /// The paper's detector or the joint one.
    pub kind: DetectorKind,
    /// Embeddings, states or both.
    pub inputs: DetectorInputs,
    /// The context of the joint detector. The paper's detector reads single sentences.
    pub context: Context,
    /// Transformer layers of the paper's detector.
    pub layers: i64,
    /// The norm of these layers. Those of the joint detector normalise after the residual sum.
    pub norm: Norm,
    /// The initial size of what each of these layers adds to its input, as a share of PyTorch's.
    pub residual_scale: f64,
    /// Whether the paper's detector standardises its inputs by their running mean and deviation.
    pub standardize: bool,
    /// The total width of its two projections.
    pub width: i64,
    /// Attention heads of the layers of either detector.
    pub heads: i64,
    /// Inner width of the feed-forward part of these layers.
    pub feed_forward: i64,
    /// Width of the joint detector's pair scores.
    pub pair_width: i64,
    /// Transformer layers over the sentences of a story before the joint detector's pair scores.
    pub sentence_layers: i64,
    /// Whether the joint detector distinguishes the entity that a sentence pair's conflict is about.
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
        if self.width % (2 * self.heads) != 0 {
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
            DetectorKind::Joint => 3 * hidden * pairs,
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
