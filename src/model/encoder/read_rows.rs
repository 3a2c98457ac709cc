//! Rows of tokens: how many to compute with, and which of them are read in the end.

use tch::Tensor;

/// The number of rows to compute with. There are only a few sizes, because libtorch compiles its matmuls again for each
/// size, and because memory of a size that recurs can be reused. The padding rows belong to no sequence; their gradient
/// is zero.
fn rows_for(tokens: i64) -> i64 {
    let step = if tokens < 1024 { 32 } else { 128 };
    (tokens + step - 1) / step * step
}

/// `[tokens, H]`, with rows of zeros added up to one of a few sizes.
pub fn padded(tokens: &Tensor) -> Tensor {
    let count = tokens.size()[0];
    tokens.constant_pad_nd([0, 0, 0, rows_for(count) - count])
}

/// The O tokens whose output is read. After its attention the last layer computes only these.
pub struct ReadRows {
    /// `[O]` among the T tokens.
    tokens: Tensor,
}

impl ReadRows {
    /// `tokens [O]`
    pub fn new(tokens: &Tensor) -> Self {
        ReadRows { tokens: tokens.shallow_clone() }
    }

    /// O.
    pub fn count(&self) -> i64 {
        self.tokens.size()[0]
    }

    /// `[T, H]` -> `[O, H]`, both with padding
    pub fn of(&self, tokens: &Tensor) -> Tensor {
        padded(&tokens.index_select(0, &self.tokens))
    }

    /// The gradient of all tokens: zero for those that are not read. `[O, H]` -> `[T, H]`, both with padding; `like` has
    /// as many rows as the result.
    pub fn gradient_of_all(&self, gradient: &Tensor, like: &Tensor) -> Tensor {
        let read = gradient.narrow(0, 0, self.count());
        let mut all = Tensor::zeros([like.size()[0], gradient.size()[1]], (gradient.kind(), gradient.device()));
        let _ = all.index_copy_(0, &self.tokens, &read);
        all
    }
}
