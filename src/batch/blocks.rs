//! Sequences padded to a few lengths, for DeBERTa's attention on GPUs.

use tch::{Kind, Tensor};

/// `count` consecutive sequences of `length` tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthGroup {
    /// The number of sequences in the run.
    pub count: i64,
    /// Tokens of each of them.
    pub length: i64,
}

/// The T tokens as dense blocks of padded sequences. A block costs a GPU some calls whatever its size, so there are
/// few. Only attention reads them so: everything else works on the tokens without padding.
pub struct PaddedBlocks {
    /// The blocks in the order of the sequences; `length` includes the padding.
    pub blocks: Vec<LengthGroup>,
    /// `[P]` the token at each place of the blocks; padding repeats the first token of its sequence.
    pub token: Tensor,
    /// `[P]` false for padding.
    pub is_token: Tensor,
    /// `[T]` the place of each token.
    pub place: Tensor,
}

/// The shortest block. The others are twice as long each.
const SHORTEST: i64 = 16;

impl PaddedBlocks {
    /// The blocks of sequences that are laid end to end, the shorter ones first.
    pub(super) fn new(groups: &[LengthGroup]) -> Self {
        let (mut blocks, mut token, mut is_token, mut place) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for &LengthGroup { count, length } in groups {
            let padded = padded_length(length);
            match blocks.last_mut() {
                Some(LengthGroup { count: so_far, length }) if *length == padded => *so_far += count,
                _ => blocks.push(LengthGroup { count, length: padded }),
            }
            for _ in 0..count {
                place.extend((0..length).map(|position| token.len() as i64 + position));
                token.extend((0..padded).map(|position| if position < length { first + position } else { first }));
                is_token.extend((0..padded).map(|position| position < length));
                first += length;
            }
        }
        PaddedBlocks {
            blocks,
            token: Tensor::from_slice(&token),
            is_token: Tensor::from_slice(&is_token),
            place: Tensor::from_slice(&place),
        }
    }

    pub(super) fn all_tensors(&mut self) -> [&mut Tensor; 3] {
        [&mut self.token, &mut self.is_token, &mut self.place]
    }

    /// For each block, what is added to the scores so that nothing attends to padding, of this kind.
    ///
    /// # Shapes
    /// `[count, 1, 1, length]` each
    pub fn biases(&self, kind: Kind) -> Vec<Tensor> {
        let all = Tensor::zeros([self.is_token.size()[0]], (kind, self.is_token.device()))
            .masked_fill(&self.is_token.logical_not(), f64::NEG_INFINITY);
        let mut start = 0;
        let bias = |&LengthGroup { count, length }: &LengthGroup| {
            let bias = all.narrow(0, start, count * length).view([count, 1, 1, length]);
            start += count * length;
            bias
        };
        self.blocks.iter().map(bias).collect()
    }
}

/// The length of the block for sequences of this length: one of a few, multiples of 16, as fused attention likes them.
fn padded_length(length: i64) -> i64 {
    (length.max(SHORTEST) as u64).next_power_of_two() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_padded_to_few_lengths_and_every_token_has_a_place() {
        let group = |count, length| LengthGroup { count, length };
        let padded = PaddedBlocks::new(&[group(2, 3), group(1, 16), group(1, 17), group(1, 70)]);
        assert_eq!(padded.blocks, [group(3, 16), group(1, 32), group(1, 128)]);
        let integers = |tensor: &Tensor| Vec::<i64>::try_from(tensor).unwrap();
        let (token, place) = (integers(&padded.token), integers(&padded.place));
        let is_token = Vec::<bool>::try_from(&padded.is_token).unwrap();
        assert_eq!((token.len(), place.len()), (3 * 16 + 32 + 128, 2 * 3 + 16 + 17 + 70));
        assert!(place.iter().enumerate().all(|(t, &p)| token[p as usize] == t as i64 && is_token[p as usize]));
        assert_eq!(is_token.iter().filter(|&&is_token| is_token).count(), place.len());
        assert_eq!(&token[14..22], [0, 0, 3, 4, 5, 3, 3, 3], "padding reads its own sequence");
    }
}
