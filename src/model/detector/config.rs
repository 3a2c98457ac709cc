//! Which detector, and its sizes.

use serde::{Deserialize, Serialize};

/// Which formulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DetectorKind {
    /// The paper's: a belief a sentence and entity.
    Belief,
    /// One distribution over (story, first sentence, second sentence) of both stories.
    Joint,
}

/// What the detector reads (ablated in TRIP, tables 7 and 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DetectorInputs {
    /// Embeddings and state logits.
    Both,
    Embeddings,
    States,
}

/// What of a sentence's surroundings is read: by the joint detector, by the state heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// Nothing. The detector takes the mean over entities of the entity-sentence embeddings.
    #[default]
    Sentence,
    /// The whole story encoded as one input, a sentence being the mean of its tokens. The heads add that to the
    /// entity-sentence embedding.
    Story,
}

/// Where the transformer layers normalise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// After each residual sum: the paper's.
    #[default]
    After,
    /// Before attention and feed-forward, and once more at the end: PyTorch's `norm_first`.
    Before,
}

/// The detector and its sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DetectorConfig {
    pub kind: DetectorKind,
    pub inputs: DetectorInputs,
    /// Of the joint detector; the paper's reads single sentences.
    pub context: Context,
    /// Transformer layers of the paper's detector.
    pub layers: i64,
    /// Of these layers; those of the joint detector normalise after.
    pub norm: Norm,
    /// What each of these layers adds to its input at the start of training, as a share of what PyTorch's would.
    pub residual_scale: f64,
    /// Whether the paper's detector reads its inputs less their running mean, divided by their running deviation.
    pub standardize: bool,
    /// Width of its two projections together.
    pub width: i64,
    /// Attention heads of the layers of either detector.
    pub heads: i64,
    pub feed_forward: i64,
    /// Width of the joint detector's pair scores.
    pub pair_width: i64,
    /// Transformer layers over the sentences of a story before the joint detector's pair scores.
    pub sentence_layers: i64,
    /// Whether the joint detector tells places apart by the entity that the conflict is about.
    pub entities: bool,
}

impl Default for DetectorConfig {
    fn default() -> Self {
        DetectorConfig {
            kind: DetectorKind::Belief,
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

/// The largest size of a detector.
const MAX_SIZE: i64 = 1 << 20;

impl DetectorConfig {
    /// What no detector can be, though the types are right.
    pub fn problem(&self) -> Option<&'static str> {
        let sizes = [self.layers, self.width, self.heads, self.feed_forward, self.pair_width];
        if !sizes.iter().all(|size| (1..=MAX_SIZE).contains(size)) {
            return Some("layers, width, heads, feed_forward and pair_width must be above 0 and at most 1048576");
        }
        (self.width % (2 * self.heads) != 0).then_some("width must be a multiple of 2 * heads")
    }

    /// How many numbers such a detector has at least: its matrices.
    pub fn least_parameters(&self, hidden: u128, sentences: u128) -> u128 {
        let [layers, width, inner, pairs] =
            [self.layers, self.width, self.feed_forward, self.pair_width].map(|size| size as u128);
        match self.kind {
            DetectorKind::Belief => layers * (4 * width * width + 2 * width * inner) + sentences * sentences * width,
            DetectorKind::Joint => 3 * hidden * pairs,
        }
    }

    /// Whether the conflict depends on the (entity, sentence) inputs.
    pub fn reads_inputs(&self) -> bool {
        self.kind == DetectorKind::Belief
            || self.context == Context::Sentence
            || self.inputs != DetectorInputs::Embeddings
            || self.entities
    }

    /// Whether it reads whole stories.
    pub fn reads_stories(&self) -> bool {
        self.kind == DetectorKind::Joint && self.context == Context::Story && self.inputs != DetectorInputs::States
    }
}
