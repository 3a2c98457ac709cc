//! Draws items by weight.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;

/// The index of a weight, drawn with a probability proportional to it; `None` if all weights are 0.
pub(super) fn weighted(rng: &mut ChaCha12Rng, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
    let total: f64 = weights.clone().sum();
    if total <= 0.0 {
        return None;
    }
    let mut rest = rng.random_range(0.0..total);
    let mut last = None;
    for (i, weight) in weights.enumerate().filter(|&(_, weight)| weight > 0.0) {
        last = Some(i);
        rest -= weight;
        if rest < 0.0 {
            break;
        }
    }
    last
}

/// Weights from which many draws are made.
#[derive(Debug)]
pub(super) struct Lottery {
    /// Cumulative sums of the weights.
    sums: Vec<f64>,
}

impl Lottery {
    pub fn new(weights: impl Iterator<Item = f64>) -> Self {
        let add = |sum: &mut f64, weight: f64| {
            *sum += weight;
            Some(*sum)
        };
        Lottery { sums: weights.scan(0.0, add).collect() }
    }

    /// The index of a weight, drawn with a probability proportional to it; `None` if all weights are 0.
    pub fn draw(&self, rng: &mut ChaCha12Rng) -> Option<usize> {
        let total = self.sums.last().copied().filter(|&total| total > 0.0)?;
        let drawn = rng.random_range(0.0..total);
        Some(self.sums.partition_point(|&sum| sum <= drawn))
    }
}

/// One of the items, with equal probability; `None` if there are none.
pub(super) fn any<'a, T>(rng: &mut ChaCha12Rng, items: &'a [T]) -> Option<&'a T> {
    (!items.is_empty()).then(|| &items[rng.random_range(0..items.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed;

    #[test]
    fn what_weighs_nothing_is_never_drawn_and_the_rest_in_proportion() {
        let weights = [0.0, 1.0, 0.0, 3.0, 0.0];
        let lottery = Lottery::new(weights.into_iter());
        let mut rng = seed::rng(0, "test", 0);
        let (mut drawn, mut weighed) = ([0; 5], [0; 5]);
        for _ in 0..4000 {
            drawn[lottery.draw(&mut rng).unwrap()] += 1;
            weighed[weighted(&mut rng, weights.into_iter()).unwrap()] += 1;
        }
        for counts in [drawn, weighed] {
            assert_eq!((counts[0], counts[2], counts[4]), (0, 0, 0));
            assert!((850..1150).contains(&counts[1]), "{counts:?}");
        }
        assert_eq!(Lottery::new([0.0].into_iter()).draw(&mut rng), None);
        assert_eq!(weighted(&mut rng, [0.0].into_iter()), None);
        assert_eq!(any::<u8>(&mut rng, &[]), None);
    }
}
