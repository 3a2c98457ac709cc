//! Short sequences packed into bins of one length, for attention on GPUs.

use super::blocks::LengthGroup;
use tch::Tensor;

/// The T tokens in bins of `length` places each. Tokens attend within their bin, where a bias lets them see their own
/// sequence only. Fused attention computes tiles of many tokens, and so a bin costs it as much as one short sequence would.
pub struct Bins {
    /// Places of each bin.
    pub length: i64,
    /// `[P]` the token at each place; padding repeats the first token of all.
    pub token: Tensor,
    /// `[P]` the number of its sequence; that of padding is -1.
    pub sequence: Tensor,
    /// `[T]` the place of each token.
    pub place: Tensor,
}

/// Bins are as long as the longest sequence, or longer: fused attention computes tiles of so many tokens.
const TILE: usize = 64;

impl Bins {
    /// The bins of sequences that are laid end to end, the shorter ones first.
    pub(super) fn new(groups: &[LengthGroup]) -> Self {
        let lengths: Vec<usize> =
            groups.iter().flat_map(|group| std::iter::repeat_n(group.length as usize, group.count as usize)).collect();
        let length = lengths.last().map_or(TILE, |longest| longest.next_multiple_of(TILE));
        let (starts, bins) = places(&lengths, length);
        let tokens = lengths.iter().sum();
        let (mut token, mut sequence, mut place) =
            (vec![0; bins * length], vec![-1; bins * length], Vec::with_capacity(tokens));
        for (number, (&start, &length)) in starts.iter().zip(&lengths).enumerate() {
            for at in start..start + length {
                token[at] = place.len() as i64;
                sequence[at] = number as i64;
                place.push(at as i64);
            }
        }
        Bins {
            length: length as i64,
            token: Tensor::from_slice(&token),
            sequence: Tensor::from_slice(&sequence),
            place: Tensor::from_slice(&place),
        }
    }

    pub(super) fn all_tensors(&mut self) -> [&mut Tensor; 3] {
        [&mut self.token, &mut self.sequence, &mut self.place]
    }
}

/// Where each sequence starts, and the number of bins: the longest sequences first, each into the fullest bin that has room
/// for it (best-fit decreasing). `lengths` ascends.
fn places(lengths: &[usize], length: usize) -> (Vec<usize>, usize) {
    let mut with_room: Vec<Vec<usize>> = vec![Vec::new(); length + 1]; // the bins with so many free places
    let (mut starts, mut bins) = (vec![0; lengths.len()], 0);
    for (start, &needed) in starts.iter_mut().zip(lengths).rev() {
        let fullest = (needed..=length).find_map(|room| Some((with_room[room].pop()?, room)));
        let (bin, room) = fullest.unwrap_or_else(|| {
            bins += 1;
            (bins - 1, length)
        });
        *start = (bin + 1) * length - room;
        with_room[room - needed].push(bin);
    }
    (starts, bins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(tensor: &Tensor) -> Vec<i64> {
        Vec::try_from(tensor).unwrap()
    }

    #[test]
    fn sequences_lie_whole_in_bins_that_are_nearly_full() {
        let group = |count, length| LengthGroup { count, length };
        let groups = [group(30, 7), group(11, 16), group(3, 60), group(1, 120)];
        let tokens = 30 * 7 + 11 * 16 + 3 * 60 + 120;
        let bins = Bins::new(&groups);
        assert_eq!((bins.length, bins.token.size()), (128, vec![6 * 128]));
        let [token, sequence, place] = [&bins.token, &bins.sequence, &bins.place].map(integers);
        assert!(place.iter().enumerate().all(|(t, &p)| token[p as usize] == t as i64 && sequence[p as usize] >= 0));
        assert_eq!(sequence.iter().filter(|&&number| number >= 0).count() as i64, tokens);
        let lengths = groups.iter().flat_map(|group| std::iter::repeat_n(group.length as usize, group.count as usize));
        let mut places = place.as_slice();
        for (number, length) in lengths.enumerate() {
            let (of_sequence, others) = places.split_at(length);
            places = others;
            assert!(of_sequence.is_sorted_by(|a, b| a + 1 == *b), "end to end");
            assert_eq!(of_sequence[0] / 128, of_sequence[length - 1] / 128, "in one bin");
            assert!(of_sequence.iter().all(|&p| sequence[p as usize] == number as i64));
        }
    }

    #[test]
    fn a_longer_sequence_makes_longer_bins() {
        let bins = Bins::new(&[LengthGroup { count: 2, length: 8 }, LengthGroup { count: 1, length: 130 }]);
        assert_eq!((bins.length, bins.token.size(), integers(&bins.place)[145]), (192, vec![192], 129));
        let none = Bins::new(&[]);
        assert_eq!((none.length, none.token.size()), (64, vec![0]));
    }
}
