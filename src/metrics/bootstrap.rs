//! The bootstrap over groups: pairs of one plausible story are alike, so that whole groups are drawn, with replacement
//! (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, sections 8.5 and 13.3).

use crate::seed;
use rand::RngExt;

/// How many resamples are drawn unless told otherwise.
pub const RESAMPLES: usize = 10_000;

/// Draws of `groups` groups from as many. Statistics that share them are compared pairwise.
pub struct Resamples {
    groups: usize,
    /// `[resamples, groups]` how often each group was drawn.
    drawn: Vec<u16>,
}

impl Resamples {
    /// The same draws for the same arguments, everywhere.
    pub fn new(groups: usize, resamples: usize, seed: u64) -> Self {
        let mut rng = seed::rng(seed, "bootstrap", groups as u64);
        let mut drawn = vec![0; resamples * groups];
        for row in drawn.chunks_exact_mut(groups.max(1)) {
            for _ in 0..groups {
                row[rng.random_range(0..groups)] += 1;
            }
        }
        Resamples { groups, drawn }
    }

    /// Of each resample, the sum of `parts` over the sum of `wholes`, both one value a group.
    ///
    /// # Panics
    /// If there are not as many values as groups.
    pub fn ratios(&self, parts: &[f64], wholes: &[f64]) -> Vec<f64> {
        assert!(parts.len() == self.groups && wholes.len() == self.groups, "one value a group");
        let ratio = |row: &[u16]| {
            let (mut part, mut whole) = (0., 0.);
            for ((&times, a), b) in row.iter().zip(parts).zip(wholes) {
                part += f64::from(times) * a;
                whole += f64::from(times) * b;
            }
            part / whole
        };
        self.drawn.chunks_exact(self.groups.max(1)).map(ratio).collect()
    }
}

/// The 2.5 % and the 97.5 % quantile of the resampled values; `None` if there are none.
pub fn percentile_interval(resampled: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = resampled.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| [0.025, 0.975].map(|share| quantile(&sorted, share)))
}

/// Linear between the two nearest values, as NumPy's default.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

/// The two-sided p-value of "the difference is 0": twice the share of resampled differences on the other side of 0, the
/// one observed counted among them, so that it is never 0.
pub fn two_sided_p(resampled: &[f64]) -> f64 {
    let not_above = resampled.iter().filter(|&&difference| difference <= 0.).count();
    let not_below = resampled.iter().filter(|&&difference| difference >= 0.).count();
    (2. * (1 + not_above.min(not_below)) as f64 / (1 + resampled.len()) as f64).min(1.)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resample_has_as_many_groups_as_there_are() {
        let resamples = Resamples::new(7, 100, 0);
        assert!(resamples.drawn.chunks(7).all(|row| row.iter().sum::<u16>() == 7));
        assert_eq!(resamples.drawn, Resamples::new(7, 100, 0).drawn);
        assert_ne!(resamples.drawn, Resamples::new(7, 100, 1).drawn);
    }

    /// Of two groups the bootstrap is known: both the first (1/4), both the second (1/4), one of each (1/2).
    #[test]
    fn two_groups_come_as_they_must() {
        let ratios = Resamples::new(2, 40_000, 0).ratios(&[0., 3.], &[1., 3.]);
        for (value, expected) in [(0., 0.25), (0.75, 0.5), (1., 0.25)] {
            let share = ratios.iter().filter(|&&ratio| ratio == value).count() as f64 / 40_000.;
            assert!((share - expected).abs() < 0.01, "{value}: {share}");
        }
        assert_eq!(percentile_interval(&ratios), Some([0., 1.]));
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
    }
}
