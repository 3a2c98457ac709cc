//! The bootstrap over story groups. Pairs of one plausible story are alike, so whole groups are drawn, with replacement
//! (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, sections 8.5 and 13.3).

use crate::seed;
use rand::RngExt;

/// The default number of resamples.
pub const RESAMPLES: usize = 10_000;

/// The seed of the draws. It is fixed, so that the same predictions in the same order always give the same intervals.
pub const BOOTSTRAP_SEED: u64 = 0;

/// The largest number of draws. With very many groups there are fewer resamples; many groups need fewer.
const MAX_DRAWS: usize = 20_000_000;
/// The smallest number of resamples.
const MIN_RESAMPLES: usize = 1_000;

/// Resamples: each draws `groups` times one of `groups` groups. Statistics that use the same draws are compared
/// pairwise.
pub struct Resamples {
    groups: usize,
    resamples: usize,
    /// `[groups, resamples]` how often each group was drawn.
    drawn: Vec<u16>,
}

impl Resamples {
    /// The same arguments give the same draws, everywhere.
    pub fn new(groups: usize, resamples: usize, seed: u64) -> Self {
        let mut rng = seed::rng(seed, "bootstrap", groups as u64);
        let mut drawn = vec![0; resamples * groups];
        for resample in 0..resamples {
            for _ in 0..groups {
                drawn[rng.random_range(0..groups) * resamples + resample] += 1;
            }
        }
        Resamples { groups, resamples, drawn }
    }

    /// The resamples for intervals: [`RESAMPLES`], or fewer if there are very many groups.
    pub fn of_groups(groups: usize) -> Self {
        Self::new(groups, Self::count_for(groups), BOOTSTRAP_SEED)
    }

    /// How many resamples [`Resamples::of_groups`] draws.
    pub fn count_for(groups: usize) -> usize {
        (MAX_DRAWS / groups.max(1)).clamp(MIN_RESAMPLES, RESAMPLES)
    }

    /// For each resample, the sum of values; there is one for each group.
    ///
    /// # Panics
    /// If there are not as many values as groups.
    pub fn sums(&self, values: &[f64]) -> Vec<f64> {
        assert!(values.len() == self.groups, "one value for each group");
        let mut sums = vec![0.; self.resamples];
        for (group, &value) in values.iter().enumerate().filter(|(_, value)| **value != 0.) {
            let drawn = &self.drawn[group * self.resamples..][..self.resamples];
            for (sum, &times) in sums.iter_mut().zip(drawn) {
                *sum += f64::from(times) * value;
            }
        }
        sums
    }

    /// For each resample, the sum of `parts` divided by the sum of `wholes`; both have one value for each group. NaN if
    /// the drawn groups have no whole.
    ///
    /// # Panics
    /// Like [`Resamples::sums`].
    pub fn ratios(&self, parts: &[f64], wholes: &[f64]) -> Vec<f64> {
        self.sums(parts).into_iter().zip(self.sums(wholes)).map(|(part, whole)| part / whole).collect()
    }

    /// The 95 % interval of the sum of `parts` divided by the sum of `wholes`. Both have one value for each group; each
    /// part is between 0 and its whole. `None` if all wholes are 0. If every group has the same share (none, or all, of
    /// its pairs), resampling shows no variation; then the interval is Wilson's, with each group counted once.
    ///
    /// # Panics
    /// Like [`Resamples::ratios`].
    pub fn interval(&self, parts: &[f64], wholes: &[f64]) -> Option<[f64; 2]> {
        let mut shares = parts.iter().zip(wholes).filter(|(_, whole)| **whole > 0.).map(|(part, whole)| part / whole);
        let first = shares.next()?;
        if shares.clone().all(|share: f64| (share - first).abs() < 1e-9) {
            return Some(wilson(first, 1 + shares.count()));
        }
        let drawn: Vec<f64> = self.ratios(parts, wholes).into_iter().filter(|ratio| !ratio.is_nan()).collect();
        percentile_interval(&drawn)
    }
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % Wilson score interval of a share of `total`.
fn wilson(share: f64, total: usize) -> [f64; 2] {
    let total = total as f64;
    let centre = share + Z * Z / (2. * total);
    let spread = Z * (share * (1. - share) / total + Z * Z / (4. * total * total)).sqrt();
    let bound = |value: f64| (value / (1. + Z * Z / total)).clamp(0., 1.);
    // At 0 and 1 rounding would leave values that are close but not equal.
    [if share == 0. { 0. } else { bound(centre - spread) }, if share == 1. { 1. } else { bound(centre + spread) }]
}

/// The 2.5 % and 97.5 % quantiles of the resampled values; `None` if there are none.
pub fn percentile_interval(resampled: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = resampled.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| [0.025, 0.975].map(|share| quantile(&sorted, share)))
}

/// Linear between the two nearest values, like NumPy's default.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

/// The two-sided p-value of "the difference is 0": twice the share of resampled differences on the other side of 0. The
/// observed difference counts among them, so the p-value is never 0.
pub fn two_sided_p(resampled: &[f64]) -> f64 {
    let not_above = resampled.iter().filter(|&&difference| difference <= 0.).count();
    let not_below = resampled.iter().filter(|&&difference| difference >= 0.).count();
    (2. * (1 + not_above.min(not_below)) as f64 / (1 + resampled.len()) as f64).min(1.)
}

/// The smallest two-sided p-value of an exact sign-flip test, if `differing` story groups differ: that of differences
/// which all have one sign. Resampling says less the fewer groups differ, but its p-value falls below this.
pub fn smallest_p(differing: usize) -> f64 {
    (2. * 0.5f64.powf(differing as f64)).min(1.)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resample_has_as_many_groups_as_there_are() {
        let resamples = Resamples::new(7, 100, 0);
        let sum = |resample: usize| (0..7).map(|group| resamples.drawn[100 * group + resample]).sum::<u16>();
        assert!((0..100).all(|resample| sum(resample) == 7));
        assert_eq!(resamples.drawn, Resamples::new(7, 100, 0).drawn);
        assert_ne!(resamples.drawn, Resamples::new(7, 100, 1).drawn);
    }

    /// With two groups the distribution is known: both draws the first (1/4), both the second (1/4), one of each (1/2).
    #[test]
    fn two_groups_come_as_they_must() {
        let ratios = Resamples::new(2, 40_000, 0).ratios(&[0., 3.], &[1., 3.]);
        for (value, expected) in [(0., 0.25), (0.75, 0.5), (1., 0.25)] {
            let share = ratios.iter().filter(|&&ratio| ratio == value).count() as f64 / 40_000.;
            assert!((share - expected).abs() < 0.01, "{value}: {share}");
        }
        assert_eq!(percentile_interval(&ratios), Some([0., 1.]));
    }

    /// Values of `scipy.stats.binomtest(count, total).proportion_ci(method="wilson")`, for the examples of Newcombe
    /// (1998).
    #[test]
    fn wilson_intervals_are_those_of_scipy() {
        for (count, total, bounds) in [
            (81, 263, [0.2553, 0.3662]),
            (15, 148, [0.0624, 0.1605]),
            (0, 20, [0.0, 0.1611]),
            (1, 29, [0.0061, 0.1718]),
        ] {
            let ours = wilson(f64::from(count) / f64::from(total), total as usize);
            assert!(ours.iter().zip(bounds).all(|(a, b)| (a - b).abs() < 5e-5), "{count} of {total}: {ours:?}");
        }
    }

    #[test]
    fn where_groups_are_alike_the_interval_is_no_point() {
        let resamples = Resamples::new(4, 1000, 0);
        let interval = |parts: [f64; 4]| resamples.interval(&parts, &[2., 2., 0., 4.]).unwrap();
        assert_eq!(interval([0.; 4]), wilson(0., 3));
        assert_eq!(interval([2., 2., 0., 4.]), wilson(1., 3));
        assert_eq!(interval([1., 1., 0., 2.]), wilson(0.5, 3));
        assert_eq!(interval([2., 0., 0., 2.]), [0., 1.], "resamples without any pair do not count");
        assert_eq!(resamples.interval(&[0.; 4], &[0.; 4]), None);
    }

    #[test]
    fn very_many_groups_are_drawn_less_often() {
        assert_eq!([0, 173, 2000].map(|groups| Resamples::of_groups(groups).resamples), [RESAMPLES; 3]);
        assert_eq!(Resamples::of_groups(4000).resamples, 5000);
        assert_eq!([4000, 8000, 1_000_000].map(Resamples::count_for), [5000, 2500, 1000]);
    }

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(percentile_interval(&[]), None);
        let [low, high] = percentile_interval(&[3., 1., 2.]).unwrap();
        assert!((low - 1.05).abs() < 1e-12 && (high - 2.95).abs() < 1e-12);
    }

    #[test]
    fn p_values_have_two_sides_and_are_never_0() {
        assert_eq!(two_sided_p(&[0.; 99]), 1.);
        assert_eq!(two_sided_p(&[1.; 99]), 0.02);
        assert_eq!(two_sided_p(&[-1.; 99]), 0.02);
        assert_eq!([0, 1, 2, 5].map(smallest_p), [1., 1., 0.5, 0.0625]);
    }
}
