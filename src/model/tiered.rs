//! The tiered model: encoder, state heads, conflict detector, story choice (TRIP, section 3).

use super::config::ModelConfig;
use super::detector::{ConflictDetector, Conflicts, Context, DetectorInput, NewDetector, of_config};
use super::encoder::Encoder;
use super::heads::StateHeads;
use super::layers::{Mode, Precision, dropout, input_vectors, linear, new_linear, sentence_means};
use super::weight_copies::WeightCopies;
use crate::batch::{Batch, ClassFrequencies};
use tch::{Kind, Tensor, nn};

/// The outputs of the model for a batch.
pub struct Output {
    /// `[U, 66]`
    pub precondition_logits: Tensor,
    /// `[U, 66]`
    pub effect_logits: Tensor,
    /// The output of the conflict detector.
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

/// An encoder, and the heads and the conflict detector that read its output.
pub struct TieredModel {
    /// Its output `[O, H]` is all that the other parts read of the text.
    pub encoder: Encoder,
    preconditions: StateHeads,
    effects: StateHeads,
    /// Maps the sentence's vector from its story, if the heads read whole stories.
    state_context: Option<nn::Linear>,
    detector: Box<dyn ConflictDetector>,
    dropout_prob: f64,
    /// Of the weights of matmuls in bfloat16 ([`Mode::with_copies`]).
    pub copies: WeightCopies,
}

impl TieredModel {
    /// The model of a config, with its variables under the path.
    pub fn new(p: &nn::Path, config: &ModelConfig) -> Self {
        Self::with_detector(p, config, &of_config)
    }

    /// The same with another conflict detector.
    pub fn with_detector(p: &nn::Path, config: &ModelConfig, detector: NewDetector) -> Self {
        let hidden = config.encoder.hidden_size;
        TieredModel {
            encoder: Encoder::new(&(p / config.encoder.prefix()), &config.encoder),
            preconditions: StateHeads::new(&(p / "preconditions"), hidden, config.dropout),
            effects: StateHeads::new(&(p / "effects"), hidden, config.dropout),
            state_context: (config.state_context == Context::Story)
                .then(|| new_linear(p / "state_context", hidden, hidden)),
            detector: detector(&(p / "detector"), config),
            dropout_prob: config.dropout,
            copies: WeightCopies::default(),
        }
    }

    /// Sets the initial output biases to the frequencies of the labels.
    pub fn set_output_bias(&self, frequencies: &ClassFrequencies) {
        self.preconditions.set_output_bias(&frequencies.preconditions);
        self.effects.set_output_bias(&frequencies.effects);
        self.detector.set_output_bias(frequencies.conflicts);
    }

    /// How it is evaluated, until its weights change: they are rounded now.
    pub fn eval_mode(&self, precision: Precision) -> Mode<'_> {
        self.copies.refresh();
        Mode::eval(precision).with_copies(&self.copies)
    }

    /// Differentiable if `mode` is not fused. Training uses [`Encoder::trace`] and [`TieredModel::read`] instead.
    pub fn forward(&self, batch: &Batch, mode: Mode) -> Output {
        self.read(&self.encoder.forward(&batch.tokens, mode), batch, mode)
    }

    /// The outputs of heads and detector, given the encoder's output. `tokens [O, H]`
    pub fn read(&self, tokens: &Tensor, batch: &Batch, mode: Mode) -> Output {
        self.conflicts(tokens, self.states(tokens, batch, mode), batch, mode)
    }

    /// The first part of [`TieredModel::read`]: the states before and after each sentence. `tokens [O, H]`
    pub fn states(&self, tokens: &Tensor, batch: &Batch, mode: Mode) -> States {
        let embeddings = input_vectors(tokens, &batch.read); // [U, H]
        let read = self.in_context(&embeddings, tokens, batch, mode);
        let precondition_logits = self.preconditions.forward(&read, mode);
        let effect_logits = self.effects.forward(&read, mode);
        States { embeddings, precondition_logits, effect_logits }
    }

    /// The input of the heads. `embeddings [U, H]`, `tokens [O, H]` -> `[U, H]`
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

    /// The second part: the sentences in conflict and, from them, the story. `tokens [O, H]`
    pub fn conflicts(&self, tokens: &Tensor, states: States, batch: &Batch, mode: Mode) -> Output {
        let States { embeddings, precondition_logits, effect_logits } = states;
        let state_logits = Tensor::cat(&[&precondition_logits, &effect_logits], 1); // [U, 132]
        let input = DetectorInput { embeddings: &embeddings, state_logits: &state_logits, tokens };
        let conflicts = self.detector.forward(input, batch, mode);
        let story_scores = conflicts.story_scores(batch);
        Output { precondition_logits, effect_logits, conflicts, story_scores }
    }
}
