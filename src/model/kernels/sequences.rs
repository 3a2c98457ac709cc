//! Sequences that lie end to end.

use crate::batch::LengthGroup;
use std::ops::Range;
use tch::Tensor;

/// The ends of the sequences among the packed tokens. Rows after the last end are padding.
pub struct Sequences {
    pub(super) ends: Vec<usize>,
}

impl Sequences {
    pub fn of(groups: &[LengthGroup]) -> Self {
        let lengths = groups.iter().flat_map(|group| std::iter::repeat_n(group.length as usize, group.count as usize));
        let ends = lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        Sequences { ends: ends.collect() }
    }

    #[inline(always)]
    pub(super) fn tokens(&self, sequence: usize) -> Range<usize> {
        let start = if sequence == 0 { 0 } else { self.ends[sequence - 1] };
        start..self.ends[sequence]
    }

    /// Sets the padding rows of a `[rows, width]` matrix to zero.
    pub(super) fn clear_excess(&self, matrix: &mut Tensor) {
        let tokens = self.ends.last().map_or(0, |&end| end as i64);
        let _ = matrix.narrow(0, tokens, matrix.size()[0] - tokens).zero_();
    }

    pub(super) fn longest(&self) -> usize {
        (0..self.ends.len()).map(|sequence| self.tokens(sequence).len()).max().unwrap_or(0)
    }
}
