//! Which tokens of a batch each input reads.

use super::index::{InputNumber, ReadIndex, UniqueInput, index_tensor};
use super::packed::Packed;
use tch::{Device, Kind, Tensor};

/// The tokens of the U unique inputs, whose mean is an input's vector.
pub struct InputTokens {
    /// Indices among the O read tokens, input by input.
    pub token: Tensor,
    /// The input of each of these tokens, among the U; `None` if every input reads one token.
    pub input: Option<Tensor>,
    /// U.
    pub count: i64,
}

impl InputTokens {
    pub(super) fn new(packed: &Packed) -> Self {
        let reads = |(u, (_, tokens)): (usize, &(InputNumber, Vec<ReadIndex>))| vec![UniqueInput(u); tokens.len()];
        let is_one_each = packed.inputs.iter().all(|(_, tokens)| tokens.len() == 1);
        InputTokens {
            token: index_tensor(packed.inputs.iter().flat_map(|(_, tokens)| tokens.iter().copied())),
            input: (!is_one_each).then(|| index_tensor(packed.inputs.iter().enumerate().flat_map(reads))),
            count: packed.inputs.len() as i64,
        }
    }

    /// Those of an encoder's output that has one vector for each of `count` inputs.
    pub fn one_each(count: i64, device: Device) -> Self {
        InputTokens { token: Tensor::arange(count, (Kind::Int64, device)), input: None, count }
    }

    pub(super) fn all_tensors(&mut self) -> impl Iterator<Item = &mut Tensor> {
        let InputTokens { token, input, count: _ } = self;
        std::iter::once(token).chain(input)
    }
}
