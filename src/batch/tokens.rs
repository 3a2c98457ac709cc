//! Token sequences laid end to end, without padding.

use super::blocks::{LengthGroup, PaddedBlocks};
use crate::tokenizer::TokenSequence;
use tch::Tensor;

/// T tokens: sequences sorted by length and laid end to end, without padding.
pub struct Tokens {
    /// `[T]` token ids.
    pub ids: Tensor,
    /// `[T]` type of each token.
    pub types: Tensor,
    /// `[T]` position of each token in its sequence, from 0.
    pub positions: Tensor,
    /// Index of the first token of each sequence.
    pub first: Tensor,
    /// Runs of sequences of equal length, in order. Attention treats each run as a dense block, so nothing is padded or
    /// masked.
    pub groups: Vec<LengthGroup>,
    /// The same sequences as GPUs read them in attention.
    pub padded: PaddedBlocks,
}

impl Tokens {
    /// Lays sequences end to end. They must be sorted by length.
    pub fn pack<'a>(sequences: impl Iterator<Item = &'a TokenSequence>) -> Self {
        let (mut ids, mut types, mut positions, mut first) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut groups: Vec<LengthGroup> = Vec::new();
        for sequence in sequences {
            first.push(ids.len() as i64);
            ids.extend_from_slice(&sequence.ids);
            types.extend_from_slice(&sequence.types);
            positions.extend(0..sequence.len() as i64);
            match groups.last_mut() {
                Some(group) if group.length == sequence.len() as i64 => group.count += 1,
                _ => groups.push(LengthGroup { count: 1, length: sequence.len() as i64 }),
            }
        }
        Tokens {
            ids: Tensor::from_slice(&ids),
            types: Tensor::from_slice(&types),
            positions: Tensor::from_slice(&positions),
            first: Tensor::from_slice(&first),
            padded: PaddedBlocks::new(&groups),
            groups,
        }
    }

    /// T.
    pub fn len(&self) -> i64 {
        self.ids.size()[0]
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn all_tensors(&mut self) -> Vec<&mut Tensor> {
        let Tokens { ids, types, positions, first, groups: _, padded } = self;
        [ids, types, positions, first].into_iter().chain(padded.all_tensors()).collect()
    }
}
