//! What both detectors read.

use tch::Tensor;

/// What a detector reads.
pub struct DetectorInput<'a> {
    /// `[U, H]`
    pub embeddings: &'a Tensor,
    /// `[U, 132]`; no gradient flows into them.
    pub state_logits: &'a Tensor,
    /// `[O, H]` the tokens of the batch that are read.
    pub tokens: &'a Tensor,
}
