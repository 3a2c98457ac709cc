//! Pairs: a plausible and an implausible story.

use super::group::first_by_group;
use super::story::{Kind, Pair, Story};
use crate::seed;

/// Pairs every implausible story with the first plausible story of its group, in the order of the implausible stories.
/// A story whose group has no plausible one is in no pair; the reader adds an error finding for it.
///
/// A coin decides which story comes first. It depends on `seed` and the pair's id only, never on other pairs: it is the
/// lowest bit of [`seed::key`] for the purpose "pair order ID". If it is 1, the plausible story is the second.
pub fn pairs(stories: &[Story], seed: u64) -> Vec<Pair> {
    let plausible = stories.iter().filter(|story| story.conflict.is_none());
    let plausible = first_by_group(plausible.map(|story| (story.group, story)));
    let of_group = |story: &Story| {
        let &counterpart = plausible.get(&story.group)?;
        pair(counterpart.clone(), story.clone(), seed)
    };
    stories.iter().filter_map(of_group).collect()
}

/// The pair of two stories of a group; `None` if the second is not implausible.
pub(super) fn pair(plausible: Story, implausible: Story, seed: u64) -> Option<Pair> {
    let (conflict, kind) = (implausible.conflict?, implausible.kind?);
    let (id, group, first) = (implausible.id.clone(), implausible.group, coin(seed, &implausible.id));
    let stories = match first {
        0 => [plausible, implausible],
        _ => [implausible, plausible],
    };
    Some(Pair { id, group, kind, stories, plausible: first, conflict, soft: None })
}

/// The pairs of one kind, in their order.
pub fn of_kind(pairs: Vec<Pair>, kind: Kind) -> Vec<Pair> {
    pairs.into_iter().filter(|pair| pair.kind == kind).collect()
}

/// 0 or 1.
fn coin(seed: u64, id: &str) -> usize {
    (seed::key(seed, &format!("pair order {id}"), 0) & 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_are_fair_and_depend_on_seed_and_id() {
        let heads = |seed| (0..1000).map(|i| coin(seed, &format!("{i}-C0"))).collect::<Vec<_>>();
        assert_eq!(heads(7), heads(7));
        assert_ne!(heads(7), heads(8));
        let sum: usize = heads(7).iter().sum();
        assert!((440..=560).contains(&sum), "{sum} heads of 1000");
    }

    #[test]
    fn coins_are_the_same_in_every_version() {
        let coins: String = (0..16).map(|i| coin(0, &format!("{i}-C0")).to_string()).collect();
        assert_eq!(coins, "1010111101110111");
    }
}
