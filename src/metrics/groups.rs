//! Shares with intervals, which come from the story groups of the pairs.

use super::bootstrap::Resamples;
use super::count::Share;
use crate::prediction::LabelledPair;
use std::collections::BTreeMap;

/// The story groups of a set of pairs, with one set of resamples for all shares.
pub struct StoryGroups {
    /// Number of the plausible story -> number of the group, from 0 in order of occurrence.
    numbers: BTreeMap<i64, usize>,
    resamples: Resamples,
}

impl StoryGroups {
    /// Of the groups that these pairs have.
    pub fn of(predictions: &[LabelledPair]) -> Self {
        Self::of_numbers(predictions.iter().map(|prediction| prediction.group))
    }

    /// Of the groups that some stories have.
    pub fn of_numbers(groups: impl IntoIterator<Item = i64>) -> Self {
        let mut numbers = BTreeMap::new();
        for group in groups {
            let next = numbers.len();
            numbers.entry(group).or_insert(next);
        }
        let resamples = Resamples::of_groups(numbers.len());
        StoryGroups { numbers, resamples }
    }

    /// The share of items that are true. Each item has a group, and whether it is true.
    ///
    /// # Panics
    /// If a group does not exist.
    pub fn share(&self, things: impl IntoIterator<Item = (i64, bool)>) -> Share {
        self.share_of_counts(things.into_iter().map(|(group, is_so)| (group, u64::from(is_so), 1)))
    }

    /// The same for counted items: group, how many are true, how many there are.
    ///
    /// # Panics
    /// Like [`StoryGroups::share`].
    pub fn share_of_counts(&self, counts: impl IntoIterator<Item = (i64, u64, u64)>) -> Share {
        let (mut parts, mut wholes) = (vec![0.; self.numbers.len()], vec![0.; self.numbers.len()]);
        let mut share = Share::default();
        for (group, count, total) in counts {
            let number = self.numbers[&group];
            parts[number] += count as f64;
            wholes[number] += total as f64;
            share.count += count;
            share.total += total;
        }
        Share { interval: self.resamples.interval(&parts, &wholes), ..share }
    }

    /// For each resample, the sums of some counts. Each item has a group and its counts.
    ///
    /// # Panics
    /// Like [`StoryGroups::share`].
    pub(super) fn resampled<const N: usize>(&self, counts: impl IntoIterator<Item = (i64, [f64; N])>) -> Vec<[f64; N]> {
        let mut columns = [(); N].map(|()| vec![0.; self.numbers.len()]);
        for (group, counts) in counts {
            let number = self.numbers[&group];
            columns.iter_mut().zip(counts).for_each(|(column, count)| column[number] += count);
        }
        let sums = columns.map(|column| self.resamples.sums(&column));
        (0..sums[0].len()).map(|resample| sums.each_ref().map(|column| column[resample])).collect()
    }

    /// The share of these pairs that reach something.
    ///
    /// # Panics
    /// Like [`StoryGroups::share`].
    pub fn share_of_pairs<'a>(
        &self,
        pairs: impl IntoIterator<Item = &'a LabelledPair>,
        is_so: impl Fn(&LabelledPair) -> bool,
    ) -> Share {
        self.share(pairs.into_iter().map(|pair| (pair.group, is_so(pair))))
    }
}
