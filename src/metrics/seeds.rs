//! The scores of a system over several seeds, their intervals, and the difference between two systems.

use super::bootstrap::{Resamples, percentile_interval, smallest_p, two_sided_p};
use super::count::mean;
use super::mcnemar::mcnemar_over_seeds;
use super::tiered::Tiered;
use crate::prediction::LabelledPair;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// One value for each tier.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tiers<T> {
    /// Tier 1.
    pub accuracy: T,
    /// Tier 2.
    pub consistency: T,
    /// `None` if pairs lack state labels.
    pub verifiability: Option<T>,
}

impl<T> Tiers<T> {
    /// The measures of the tiers, from tier 1 to tier 3.
    pub const NAMES: [&'static str; 3] = ["accuracy", "consistency", "verifiability"];

    /// Leaves the last tier out if there are no states.
    fn by_index(has_states: bool, mut value: impl FnMut(usize) -> T) -> Self {
        Tiers { accuracy: value(0), consistency: value(1), verifiability: has_states.then(|| value(2)) }
    }

    /// The values in the order of [`Tiers::NAMES`].
    pub fn each(&self) -> [Option<&T>; 3] {
        [Some(&self.accuracy), Some(&self.consistency), self.verifiability.as_ref()]
    }

    /// The values that exist.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut T> {
        [&mut self.accuracy, &mut self.consistency].into_iter().chain(&mut self.verifiability)
    }
}

/// The pairs of a set and their story groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairSet {
    ids: Vec<String>,
    /// The number of each pair's group, from 0.
    group_of: Vec<usize>,
    groups: usize,
    /// Whether all pairs have state labels.
    has_states: bool,
}

impl PairSet {
    /// Whether all pairs have state labels.
    pub fn has_states(&self) -> bool {
        self.has_states
    }

    /// The pairs of these predictions, in their order.
    pub fn of(predictions: &[LabelledPair]) -> Self {
        let has_states = predictions.iter().all(LabelledPair::has_gold_states);
        let pairs = predictions.iter().map(|prediction| (prediction.id.clone(), prediction.group));
        PairSet { has_states, ..Self::new(pairs) }
    }

    /// Labelled pairs, each with its id and the number of its plausible story.
    pub fn new(pairs: impl IntoIterator<Item = (String, i64)>) -> Self {
        let (ids, numbers): (Vec<String>, Vec<i64>) = pairs.into_iter().unzip();
        let mut groups = BTreeMap::new();
        let group_of = numbers.into_iter().map(|number| {
            let next = groups.len();
            *groups.entry(number).or_insert(next)
        });
        let group_of = group_of.collect();
        PairSet { ids, group_of, groups: groups.len(), has_states: true }
    }

    /// The same pairs, of which some have no state labels.
    pub fn without_states(self) -> Self {
        PairSet { has_states: false, ..self }
    }

    /// How many pairs the set has.
    pub fn pairs(&self) -> usize {
        self.ids.len()
    }

    /// How many story groups the set has.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Sums a value of each pair over each group.
    fn by_group(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.; self.groups];
        self.group_of.iter().enumerate().for_each(|(pair, &group)| sums[group] += value(pair));
        sums
    }
}

/// For each pair of a set, which tiers it reaches: accurate, consistent, verifiable.
pub type Reached = Vec<[bool; 3]>;

/// The tiers that predictions reach, as they are decoded.
pub fn reached(predictions: impl IntoIterator<Item = impl Borrow<LabelledPair>>) -> Reached {
    let tiers = |p: &LabelledPair| [p.is_accurate(), p.is_consistent(), p.is_verifiable()];
    predictions.into_iter().map(|prediction| tiers(prediction.borrow())).collect()
}

/// A share of all pairs, between 0 and 1, over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean of the seeds' shares.
    pub mean: f64,
    /// The sample standard deviation over seeds (divided by n - 1); `None` for one seed.
    pub sd: Option<f64>,
    /// By resampling story groups: how the mean over these seeds would vary with other stories
    /// ([`Resamples::interval`]).
    #[serde(rename = "interval_95")]
    pub interval: [f64; 2],
}

/// The difference between two systems: the first share minus the second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Over the seeds that both have, between -1 and 1.
    pub difference: f64,
    /// By resampling the same story groups for both systems. `None` where that tells nothing: so few groups differ that
    /// [`smallest_p`] is above 0.05, or all by the same share.
    #[serde(rename = "interval_95")]
    pub interval: Option<[f64; 2]>,
    /// Two-sided, from the resampled differences ([`two_sided_p`]), but not below [`smallest_p`].
    pub bootstrap: PValue,
    /// McNemar's exact test over pairs, of all seeds together ([`mcnemar_over_seeds`]).
    pub mcnemar: PValue,
}

/// The computed p-value, and the one adjusted by Holm for all tests that are shown together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PValue {
    /// Of this test alone.
    pub p: f64,
    /// Equal to `p` until it is adjusted.
    pub holm: f64,
}

impl PValue {
    fn alone(p: f64) -> Self {
        PValue { p, holm: p }
    }
}

/// What a 95 % interval leaves out.
const LEVEL: f64 = 0.05;

/// The three tiers of one system, by seed; `None` for no seeds.
///
/// # Panics
/// If an outcome does not have the set's pairs, or the resamples do not have its groups.
pub fn estimates(set: &PairSet, seeds: &BTreeMap<u64, Reached>, resamples: &Resamples) -> Option<Tiers<Estimate>> {
    (!seeds.is_empty() && set.pairs() > 0)
        .then(|| Tiers::by_index(set.has_states, |tier| estimate(set, seeds, resamples, tier)))
}

fn estimate(set: &PairSet, seeds: &BTreeMap<u64, Reached>, resamples: &Resamples, tier: usize) -> Estimate {
    let share = |reached: &Reached| {
        assert_eq!(reached.len(), set.pairs(), "an outcome for each pair of the set");
        reached.iter().filter(|tiers| tiers[tier]).count() as f64 / set.pairs() as f64
    };
    let shares: Vec<f64> = seeds.values().map(share).collect();
    let mean = mean(&shares).expect("there are seeds");
    let parts = set.by_group(|pair| seeds_that_reach(seeds.values(), pair, tier));
    let interval = resamples.interval(&parts, &set.by_group(|_| seeds.len() as f64));
    Estimate { mean, sd: sd(&shares, mean), interval: interval.unwrap_or([0., 1.]) }
}

/// In how many seeds the pair reaches the tier. Sums of such numbers are exact, so that a difference of 0 is 0.
fn seeds_that_reach<'a>(seeds: impl Iterator<Item = &'a Reached>, pair: usize, tier: usize) -> f64 {
    seeds.filter(|reached| reached[pair][tier]).count() as f64
}

fn sd(values: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The first system minus the second, over the seeds that both have; `None` if there are none.
///
/// # Panics
/// Like [`estimates`].
pub fn differences(
    set: &PairSet,
    [first, second]: [&BTreeMap<u64, Reached>; 2],
    resamples: &Resamples,
) -> Option<Tiers<Difference>> {
    let both: Vec<[&Reached; 2]> =
        first.iter().filter_map(|(seed, reached)| Some([reached, second.get(seed)?])).collect();
    (!both.is_empty() && set.pairs() > 0)
        .then(|| Tiers::by_index(set.has_states, |tier| difference(set, &both, resamples, tier)))
}

fn difference(set: &PairSet, seeds: &[[&Reached; 2]], resamples: &Resamples, tier: usize) -> Difference {
    let reach = |system: usize, pair: usize| seeds_that_reach(seeds.iter().map(|both| both[system]), pair, tier);
    let parts = set.by_group(|pair| reach(0, pair) - reach(1, pair));
    let differing = parts.iter().filter(|&&part| part != 0.).count();
    let count = seeds.len() as f64;
    let resampled = resamples.ratios(&parts, &set.by_group(|_| count));
    let difference = parts.iter().sum::<f64>() / (count * set.pairs() as f64);
    let smallest_p = smallest_p(differing);
    let interval = percentile_interval(&resampled).filter(|[low, high]| smallest_p <= LEVEL && low < high);
    let only_one = seeds.iter().map(|[first, second]| {
        let only = |a: &Reached, b: &Reached| a.iter().zip(b).filter(|(a, b)| a[tier] && !b[tier]).count() as u64;
        [only(first, second), only(second, first)]
    });
    Difference {
        difference,
        interval,
        bootstrap: PValue::alone(two_sided_p(&resampled).max(smallest_p)),
        mcnemar: PValue::alone(mcnemar_over_seeds(&only_one.collect::<Vec<_>>()).expect("there are seeds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of 2, 1 and 1 pairs.
    fn set() -> PairSet {
        PairSet {
            ids: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            group_of: vec![0, 0, 1, 2],
            groups: 3,
            has_states: true,
        }
    }

    fn seeds(of: &[(u64, [bool; 4])]) -> BTreeMap<u64, Reached> {
        of.iter().map(|(seed, pairs)| (*seed, pairs.iter().map(|&first| [first, false, true]).collect())).collect()
    }

    #[test]
    fn seeds_are_averaged_and_their_spread_is_a_samples() {
        let seeds = seeds(&[(0, [true, true, false, false]), (1, [true, true, true, false])]);
        let Tiers { accuracy, consistency, verifiability } =
            estimates(&set(), &seeds, &Resamples::new(3, 2000, 0)).unwrap();
        let verifiability = verifiability.unwrap();
        assert_eq!(accuracy.mean, 0.625);
        assert!((accuracy.sd.unwrap() - 0.125 * 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(accuracy.interval, [0., 1.], "three groups can all be the first, or all the last");
        assert!((consistency.mean, consistency.interval[0]) == (0., 0.) && consistency.interval[1] > 0.5);
        assert!((verifiability.mean, verifiability.interval[1]) == (1., 1.) && verifiability.interval[0] < 0.5);
        assert!(estimates(&set(), &BTreeMap::new(), &Resamples::new(3, 10, 0)).is_none());
    }

    #[test]
    fn only_seeds_of_both_are_compared() {
        let first = seeds(&[(0, [true; 4]), (5, [false; 4])]);
        let second = seeds(&[(0, [true, false, false, true]), (6, [true; 4])]);
        let resamples = Resamples::new(3, 2000, 0);
        let Tiers { accuracy, consistency, .. } = differences(&set(), [&first, &second], &resamples).unwrap();
        // Two groups differ.
        assert_eq!((accuracy.difference, accuracy.bootstrap.p, accuracy.mcnemar.p), (0.5, 0.5, 0.5));
        assert_eq!((consistency.difference, consistency.bootstrap.p, consistency.mcnemar.p), (0., 1., 1.));
        assert_eq!((accuracy.interval, consistency.interval), (None, None));
        assert!(differences(&set(), [&first, &seeds(&[(7, [true; 4])])], &resamples).is_none());
    }

    /// Over three seeds, four groups with differences of 1, -1, 1 and 0 thirds, of which 1 - 2/3 and 0 - 1/3 don't sum to 0
    /// in floating-point numbers. Of the 256 draws of four groups, 49 sum to 0 and 47 to less.
    #[test]
    fn resampled_differences_of_0_count_on_both_sides() {
        let of = |count: [usize; 4]| -> BTreeMap<u64, Reached> {
            (0..3).map(|seed| (seed, count.map(|count| [(seed as usize) < count, false, false]).to_vec())).collect()
        };
        let set = PairSet::new((0..4).map(|pair: i64| (pair.to_string(), pair)));
        let resamples = Resamples::new(4, 40_000, 0);
        let differences = differences(&set, [&of([3, 0, 1, 1]), &of([2, 1, 0, 1])], &resamples).unwrap();
        assert_eq!(differences.accuracy.difference, 1. / 12.);
        let p = differences.accuracy.bootstrap.p;
        assert!((p - 2. * 96. / 256.).abs() < 0.02, "{p}");
    }

    /// With five differing groups p can't be below 0.0625, so that no interval without 0 may stand beside it.
    #[test]
    fn an_interval_needs_as_many_differing_groups_as_a_p_value_of_its_level() {
        let set = PairSet::new((0..20).map(|pair: i64| (pair.to_string(), pair)));
        let of = |right: usize| -> BTreeMap<u64, Reached> {
            BTreeMap::from([(0, (0..20).map(|pair| [pair < right, false, false]).collect())])
        };
        let resamples = Resamples::new(20, 2000, 0);
        let difference = |right: usize| differences(&set, [&of(right), &of(0)], &resamples).unwrap().accuracy;
        let (five, six, all) = (difference(5), difference(6), difference(20));
        assert_eq!((five.difference, five.bootstrap.p, five.interval), (0.25, 0.0625, None));
        assert_eq!((all.difference, all.interval), (1., None), "an interval has a width");
        let [low, high] = six.interval.unwrap();
        assert!(six.bootstrap.p < 0.05 && 0. < low && low < 0.3 && 0.3 < high, "{six:?}");
        assert_eq!(serde_json::to_value(five).unwrap()["interval_95"], serde_json::Value::Null);
    }

    #[test]
    fn groups_are_numbered_as_they_come() {
        let empty = PairSet::of(&[]);
        assert_eq!((empty.pairs(), empty.groups()), (0, 0));
        assert_eq!(set().by_group(|_| 1.), [2., 1., 1.]);
    }
}
