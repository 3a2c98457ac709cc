//! Drawing by weight.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;

/// The index of one of the weights, drawn in proportion to them; `None` if they are all 0.
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

/// One of the items, all alike; `None` if there are none.
pub(super) fn any<'a, T>(rng: &mut ChaCha12Rng, items: &'a [T]) -> Option<&'a T> {
    (!items.is_empty()).then(|| &items[rng.random_range(0..items.len())])
}
