//! The output of both detectors, and the scores of the stories that follow from it.

use crate::batch::Batch;
use tch::{Kind, Tensor};

/// The output of a detector for a batch.
pub enum Conflicts {
    /// `[R, N]` logits of the conflict probability, for the sentence and the row's entity.
    Sentences {
        /// Their sigmoid is the conflict probability.
        logits: Tensor,
    },
    /// The joint detector's output.
    SentencePairs(SentencePairs),
}

/// One distribution over the sentence pairs of both stories.
pub struct SentencePairs {
    /// `[B, 2, N, N]` log-probability that the conflict is in this story, between these two sentences. The
    /// probabilities of a pair's two stories sum to 1.
    pub log_probs: Tensor,
    /// `[R, N, N]` the same for each entity, if the detector distinguishes them. The probabilities sum to those of
    /// `log_probs`.
    pub of_entities: Option<Tensor>,
    /// `[2B, N·N + 1]` log-probabilities for single stories: of the sentence pairs and, last, of "no conflict". `None`
    /// if the detector lacks this output.
    pub single_story: Option<Tensor>,
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
    /// the pairs of the sentence: of the pairs' probabilities if the detector does not distinguish entities, else of
    /// [`SentencePairs::of_entity`].
    ///
    /// # Shapes
    /// -> `[R, N]`
    pub fn conflict_probs(&self, batch: &Batch) -> Tensor {
        match self {
            Conflicts::Sentences { logits } => logits.sigmoid(),
            Conflicts::SentencePairs(pairs) => match pairs.of_entity(batch) {
                Some(log_probs) => in_either_sentence(&log_probs.exp()),
                None => in_either_sentence(&pairs.log_probs.exp().flatten(0, 1)).index_select(0, &batch.row_story),
            },
        }
    }
}

impl SentencePairs {
    /// `[R, N, N]` log-probability that the conflict is of these two sentences and of the row's entity, beside others.
    /// The likeliest entity of a sentence pair has the pair's whole probability, and the others less in proportion. For
    /// labels don't tell the entities of a conflict apart, so that how `of_entities` is split among them means nothing.
    fn of_entity(&self, batch: &Batch) -> Option<Tensor> {
        let of_entities = self.of_entities.as_ref()?;
        let of_pairs = self.log_probs.flatten(0, 1); // [2B, N, N]
        let story = batch.row_story.view([-1, 1, 1]).expand_as(of_entities);
        let likeliest =
            of_pairs.full_like(f64::NEG_INFINITY).internal_scatter_reduce(0, &story, of_entities, "amax", true);
        Some(of_entities + (of_pairs - likeliest).index_select(0, &batch.row_story))
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
