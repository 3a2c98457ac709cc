//! What the kernels' backward pass computes.

use tch::Tensor;

/// A variable and its gradient.
pub type Gradient = (Tensor, Tensor);

/// What a backward pass computes.
pub struct EncoderGradients {
    /// Of the layers' variables.
    pub variables: Vec<Gradient>,
    /// `[T, H]` of the embedded tokens
    pub embedded: Option<Tensor>,
    /// `[U, H]` of the vectors of relative positions, and more rows of zeros
    pub positions: Option<Tensor>,
}
