//! Token sequences laid end to end, without padding.

use super::bins::Bins;
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
    /// `[O]` the tokens whose output is read, in order. The encoder's output has only these.
    pub read: Tensor,
    /// `[sequences + 1]` int32: the first token of each sequence, and T.
    pub starts: Tensor,
    /// Runs of sequences of equal length, in order. Attention treats each run as a dense block, so nothing is padded or
    /// masked.
    pub groups: Vec<LengthGroup>,
    /// The same sequences as GPUs read them in attention.
    pub bins: Bins,
    /// The same as GPUs read them in DeBERTa's attention.
    pub padded: PaddedBlocks,
}

impl Tokens {
    /// Lays sequences end to end, of which the first tokens are read. They must be sorted by length.
    pub fn pack<'a>(sequences: impl Iterator<Item = &'a TokenSequence>) -> Self {
        Self::pack_reading(sequences.map(|sequence| (sequence, [0])))
    }

    /// Lays sequences end to end, with the tokens of each that are read. They must be sorted by length.
    pub fn pack_reading<'a, R: IntoIterator<Item = usize>>(
        sequences: impl Iterator<Item = (&'a TokenSequence, R)>,
    ) -> Self {
        let (mut ids, mut types, mut positions, mut read) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut starts = vec![0i32];
        let mut groups: Vec<LengthGroup> = Vec::new();
        for (sequence, its_read) in sequences {
            let start = ids.len();
            read.extend(its_read.into_iter().map(|token| (start + token) as i64));
            ids.extend_from_slice(&sequence.ids);
            types.extend_from_slice(&sequence.types);
            positions.extend(0..sequence.len() as i64);
            starts.push(ids.len() as i32);
            match groups.last_mut() {
                Some(group) if group.length == sequence.len() as i64 => group.count += 1,
                _ => groups.push(LengthGroup { count: 1, length: sequence.len() as i64 }),
            }
        }
        Tokens {
            ids: Tensor::from_slice(&ids),
            types: Tensor::from_slice(&types),
            positions: Tensor::from_slice(&positions),
            read: Tensor::from_slice(&read),
            starts: Tensor::from_slice(&starts),
            bins: Bins::new(&groups),
            padded: PaddedBlocks::new(&groups),
            groups,
        }
    }

    /// T.
    pub fn len(&self) -> i64 {
        self.ids.size()[0]
    }

    /// Tokens of the longest sequence.
    pub fn longest(&self) -> i64 {
        self.groups.last().map_or(0, |group| group.length)
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn all_tensors(&mut self) -> Vec<&mut Tensor> {
        let Tokens { ids, types, positions, read, starts, groups: _, bins, padded } = self;
        [ids, types, positions, read, starts]
            .into_iter()
            .chain(bins.all_tensors())
            .chain(padded.all_tensors())
            .collect()
    }
}
