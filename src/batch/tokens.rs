//! Token sequences laid end to end, without padding.

use crate::tokenizer::TokenSequence;
use tch::{Device, Tensor};

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
}

/// `count` consecutive sequences of `length` tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthGroup {
    /// The number of sequences in the run.
    pub count: i64,
    /// Tokens of each of them.
    pub length: i64,
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

    /// The same tokens with their tensors on this device.
    pub fn to_device(&self, device: Device) -> Self {
        Tokens {
            ids: self.ids.to_device(device),
            types: self.types.to_device(device),
            positions: self.positions.to_device(device),
            first: self.first.to_device(device),
            groups: self.groups.clone(),
        }
    }
}
