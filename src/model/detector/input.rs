//! What both detectors read.

use tch::Tensor;

/// What a detector reads.
pub struct DetectorInput<'a> {
    /// `[U, H]`
    pub embeddings: &'a Tensor,
    /// `[U, 132]`; no gradient flows into them.
    pub state_logits: &'a Tensor,
    /// `[T, H]` every token of the batch.
    pub tokens: &'a Tensor,
}
