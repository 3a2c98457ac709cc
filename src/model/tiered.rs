//! The tiered model: encoder, state heads, conflict detector, story choice (TRIP, section 3).

use super::detector::{Conflicts, Context, Detector, DetectorConfig, DetectorInput, SentencePairs};
use super::encoder::{Encoder, EncoderConfig};
use super::heads::StateHeads;
use super::layers::{Mode, dropout, linear, new_linear, sentence_means};
use crate::attribute::ATTRIBUTES;
use crate::batch::{Batch, ClassFrequencies, WholeStories};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use tch::{Kind, Tensor, nn};

/// Everything that determines the shapes and names of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    pub encoder: EncoderConfig,
    #[serde(deserialize_with = "known_fields")]
    pub detector: DetectorConfig,
    /// What the state heads read in addition to the (entity, sentence) input.
    #[serde(default)]
    pub state_context: Context,
    /// N: the sentences of the longest story that the model can read.
    pub max_sentences: usize,
    /// Whether the joint detector can predict that a single story has no conflict.
    #[serde(default)]
    pub no_conflict: bool,
    /// Dropout of heads and detector.
    pub dropout: f64,
}

/// Reads the detector in `model.json`, and ignores fields that a later version added. In a config, all fields must be
/// known.
fn known_fields<'de, D: Deserializer<'de>>(from: D) -> Result<DetectorConfig, D::Error> {
    let mut fields = Map::deserialize(from)?;
    let known = serde_json::to_value(DetectorConfig::default()).map_err(D::Error::custom)?;
    fields.retain(|name, _| known.get(name).is_some());
    DetectorConfig::deserialize(Value::Object(fields)).map_err(D::Error::custom)
}

/// The largest number of sentences that a model can be built for.
const MAX_SENTENCES: usize = 1024;

impl ModelConfig {
    /// Values that have the right type but are invalid.
    pub fn problem(&self) -> Option<String> {
        if !(1..=MAX_SENTENCES).contains(&self.max_sentences) {
            return Some(format!("max_sentences is {}; it must be from 1 to {MAX_SENTENCES}", self.max_sentences));
        }
        if !(0. ..1.).contains(&self.dropout) {
            return Some("dropout must be at least 0 and below 1".into());
        }
        self.detector.problem().map(|problem| format!("detector: {problem}"))
    }

    /// Which whole stories are encoded in addition to the (entity, sentence) inputs.
    pub fn whole_stories(&self) -> WholeStories {
        whole_stories(&self.detector, self.state_context)
    }

    /// The least number of parameters of such a model: those of its matrices.
    pub fn least_parameters(&self) -> u128 {
        let hidden = self.encoder.hidden_size as u128;
        let heads = 2 * ATTRIBUTES as u128 * hidden * hidden;
        let detector = self.detector.least_parameters(hidden, self.max_sentences as u128);
        self.encoder.least_parameters() + heads + detector
    }
}

/// Which whole stories such a detector and such state heads need.
pub fn whole_stories(detector: &DetectorConfig, state_context: Context) -> WholeStories {
    match state_context {
        Context::Story => WholeStories::AroundInputs,
        Context::Sentence if detector.reads_stories() => WholeStories::Read,
        Context::Sentence => WholeStories::Unread,
    }
}

/// The outputs of the model for a batch.
pub struct Output {
    /// `[U, 66]`
    pub precondition_logits: Tensor,
    /// `[U, 66]`
    pub effect_logits: Tensor,
    pub conflicts: Conflicts,
    /// `[B, 2]` the score of each story: the higher, the more plausible.
    pub story_scores: Tensor,
}

/// The outputs of the state heads for the (entity, sentence) inputs of a batch.
pub struct States {
    /// `[U, H]` the encoder's embeddings.
    embeddings: Tensor,
    precondition_logits: Tensor,
    effect_logits: Tensor,
}

pub struct TieredModel {
    pub encoder: Encoder,
    preconditions: StateHeads,
    effects: StateHeads,
    /// Maps the sentence's vector from its story, if the heads read whole stories.
    state_context: Option<nn::Linear>,
    detector: Detector,
    dropout_prob: f64,
}

impl TieredModel {
    pub fn new(p: &nn::Path, config: &ModelConfig) -> Self {
        let hidden = config.encoder.hidden_size;
        TieredModel {
            encoder: Encoder::new(&(p / config.encoder.prefix()), &config.encoder),
            preconditions: StateHeads::new(&(p / "preconditions"), hidden, config.dropout),
            effects: StateHeads::new(&(p / "effects"), hidden, config.dropout),
            state_context: (config.state_context == Context::Story)
                .then(|| new_linear(p / "state_context", hidden, hidden)),
            detector: Detector::new(&(p / "detector"), config),
            dropout_prob: config.dropout,
        }
    }

    /// Sets the initial output biases to the frequencies of the labels.
    pub fn set_output_bias(&self, frequencies: &ClassFrequencies) {
        self.preconditions.set_output_bias(&frequencies.preconditions);
        self.effects.set_output_bias(&frequencies.effects);
        self.detector.set_output_bias(frequencies.conflicts);
    }

    /// Differentiable if `mode` is not fused. Training uses [`Encoder::trace`] and [`TieredModel::read`] instead.
    pub fn forward(&self, batch: &Batch, mode: Mode) -> Output {
        self.read(&self.encoder.forward(&batch.tokens, mode), batch, mode)
    }

    /// The outputs of heads and detector, given the encoder's output. `tokens [T, H]`
    pub fn read(&self, tokens: &Tensor, batch: &Batch, mode: Mode) -> Output {
        self.conflicts(tokens, self.states(tokens, batch, mode), batch, mode)
    }

    /// The first part of [`TieredModel::read`]: the states before and after each sentence. `tokens [T, H]`
    pub fn states(&self, tokens: &Tensor, batch: &Batch, mode: Mode) -> States {
        let embeddings = tokens.index_select(0, &batch.first); // [U, H]
        let read = self.in_context(&embeddings, tokens, batch, mode);
        let precondition_logits = self.preconditions.forward(&read, mode);
        let effect_logits = self.effects.forward(&read, mode);
        States { embeddings, precondition_logits, effect_logits }
    }

    /// The input of the heads. `embeddings [U, H]`, `tokens [T, H]` -> `[U, H]`
    fn in_context(&self, embeddings: &Tensor, tokens: &Tensor, batch: &Batch, mode: Mode) -> Tensor {
        let stories = batch.stories.as_ref();
        match (&self.state_context, stories, stories.and_then(|stories| stories.of_input.as_ref())) {
            (Some(layer), Some(stories), Some(of_input)) => {
                let sentences = sentence_means(tokens, stories, batch.cells.size()[1]).index_select(0, of_input);
                let sentences = dropout(&sentences, self.dropout_prob, mode);
                embeddings + linear(&sentences, layer, mode).to_kind(Kind::Float)
            }
            _ => embeddings.shallow_clone(),
        }
    }

    /// The second part: the sentences in conflict and, from them, the story. `tokens [T, H]`
    pub fn conflicts(&self, tokens: &Tensor, states: States, batch: &Batch, mode: Mode) -> Output {
        let States { embeddings, precondition_logits, effect_logits } = states;
        let state_logits = Tensor::cat(&[&precondition_logits, &effect_logits], 1); // [U, 132]
        let input = DetectorInput { embeddings: &embeddings, state_logits: &state_logits, tokens };
        let conflicts = self.detector.forward(input, batch, mode);
        let story_scores = conflicts.story_scores(batch);
        Output { precondition_logits, effect_logits, conflicts, story_scores }
    }
}

impl Conflicts {
    /// The story scores: the higher, the more plausible. Their softmax is the probability of being the plausible story.
    ///
    /// # Shapes
    /// -> `[B, 2]`
    pub fn story_scores(&self, batch: &Batch) -> Tensor {
        match self {
            Conflicts::Sentences { logits } => story_scores(logits, batch),
            // A story is plausible if the conflict is in the other one.
            Conflicts::SentencePairs(SentencePairs { log_probs, .. }) => {
                log_probs.flatten(2, 3).logsumexp(2, false).flip([1])
            }
        }
    }

    /// For each row, the probability that a sentence takes part in a conflict. With sentence pairs, it is the sum over
    /// the pairs of the sentence; if the detector does not distinguish entities, every row of a story has the same sum.
    ///
    /// # Shapes
    /// -> `[R, N]`
    pub fn conflict_probs(&self, batch: &Batch) -> Tensor {
        match self {
            Conflicts::Sentences { logits } => logits.sigmoid(),
            Conflicts::SentencePairs(SentencePairs { of_entities: Some(log_probs), .. }) => {
                in_either_sentence(&log_probs.exp())
            }
            Conflicts::SentencePairs(SentencePairs { log_probs, .. }) => {
                in_either_sentence(&log_probs.exp().flatten(0, 1)).index_select(0, &batch.row_story)
            }
        }
    }
}

/// Sums over the pairs of each sentence. `[R, N, N]` -> `[R, N]`, or `[2B, N, N]` -> `[2B, N]`
fn in_either_sentence(probs: &Tensor) -> Tensor {
    let as_first = probs.sum_dim_intlist(2, false, Kind::Float);
    let as_second = probs.sum_dim_intlist(1, false, Kind::Float);
    as_first + as_second
}

/// Minus half the sum of a story's conflict probabilities over entities and sentences (TRIP, section 3.1). If entities
/// were sampled, the sum is an estimate.
///
/// # Shapes
/// `conflict_logits [R, N]` -> `[B, 2]`
pub fn story_scores(conflict_logits: &Tensor, batch: &Batch) -> Tensor {
    let row_sums = (conflict_logits.sigmoid() * batch.mask_f32()).sum_dim_intlist(1, false, Kind::Float); // [R]
    batch.sum_over_rows(&(row_sums * &batch.row_weight)).view([-1, 2]) * -0.5
}
