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
