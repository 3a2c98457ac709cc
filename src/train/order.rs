//! In which order an epoch goes through the pairs.

use crate::data::Pair;
use crate::seed;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;

/// The steps of one epoch, each a list of pairs.
///
/// With one pair a step the pairs are shuffled. With more, the groups are (a group shares its plausible story, so
/// that most of its inputs are encoded once), and laid end to end before they are cut into steps.
pub fn steps(pairs: &[Pair], pairs_per_step: usize, seed: u64, epoch: u64) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(i64, usize), Vec<usize>> = BTreeMap::new();
    for (i, pair) in pairs.iter().enumerate() {
        let apart = if pairs_per_step == 1 { i } else { 0 };
        groups.entry((pair.group, apart)).or_default().push(i);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    let mut rng = seed::rng(seed, "order", epoch);
    groups.iter_mut().for_each(|group| group.shuffle(&mut rng));
    groups.shuffle(&mut rng);
    groups.concat().chunks(pairs_per_step).map(<[usize]>::to_vec).collect()
}
