//! The order in which an epoch reads the pairs.

use crate::seed;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::ops::Range;

/// The training pairs of one source, and the epochs that train on them.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureComponent {
    /// Indices of the pairs in the corpus.
    pub pairs: Range<usize>,
    /// How often each pair is seen in an epoch. With a fraction, each epoch continues where the last one stopped.
    pub weight: f64,
    /// Counted from 1; the end is excluded.
    pub epochs: Range<u64>,
}

impl MixtureComponent {
    /// All pairs, once in every epoch.
    pub fn all(pairs: usize) -> Self {
        MixtureComponent { pairs: 0..pairs, weight: 1., epochs: 1..u64::MAX }
    }

    /// The number of its pairs that an epoch takes.
    fn count(&self, epoch: u64) -> usize {
        match self.epochs.contains(&epoch) {
            true => self.taken_before(epoch + 1) - self.taken_before(epoch),
            false => 0,
        }
    }

    /// The number of its pairs that all epochs before this one take together. The fraction of a pair that an epoch leaves
    /// is carried over to the next.
    fn taken_before(&self, epoch: u64) -> usize {
        (self.weight * self.pairs.len() as f64 * (epoch - self.epochs.start) as f64).round() as usize
    }
}

/// The number of pairs of an epoch.
pub fn pairs_of_epoch(parts: &[MixtureComponent], epoch: u64) -> usize {
    parts.iter().fold(0, |so_far: usize, part| so_far.saturating_add(part.count(epoch)))
}

/// For each epoch, the number of steps up to its end.
pub fn cumulative_steps(parts: &[MixtureComponent], pairs_per_step: usize, epochs: u64) -> Vec<u64> {
    let steps = (1..=epochs).map(|epoch| pairs_of_epoch(parts, epoch));
    let steps = steps.map(|pairs| pairs.div_ceil(pairs_per_step) as u64);
    steps
        .scan(0, |so_far: &mut u64, steps| {
            *so_far = so_far.saturating_add(steps);
            Some(*so_far)
        })
        .collect()
}

/// The epoch of a step, counted from 1, and the number of the step in it. Steps are counted from 0; `ends` are the
/// [`cumulative_steps`].
pub fn place(ends: &[u64], step: u64) -> (u64, usize) {
    let over = ends.partition_point(|&end| end <= step);
    let start = over.checked_sub(1).map_or(0, |last| ends[last]);
    (over as u64 + 1, (step - start) as usize)
}

/// The steps of one epoch, each a list of pairs. `group` is the story group of a pair.
///
/// With one pair in a step, the pairs are shuffled. With more, the groups are shuffled, laid end to end and cut into
/// steps: a group shares its plausible story, so most of its inputs are encoded once only. Several sources are spread
/// evenly over the epoch.
pub fn steps(
    group: &dyn Fn(usize) -> i64,
    parts: &[MixtureComponent],
    pairs_per_step: usize,
    seed: u64,
    epoch: u64,
) -> Vec<Vec<usize>> {
    let mut rng = seed::rng(seed, "mixture", epoch);
    let mut mixed: Vec<(f64, usize, Range<usize>)> = Vec::new();
    let mut drawn: Vec<Pass> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let purpose = if number == 0 { "order".to_owned() } else { format!("order {number}") };
        let pass = |pass| Pass::new(group, part, pairs_per_step > 1, &mut seed::rng(seed, &purpose, pass));
        let of_part = draw(part, epoch, pass);
        let spacing = 1. / of_part.groups.len() as f64;
        let mut place = |i: usize| (i as f64 + rng.random::<f64>()) * spacing;
        mixed.extend(of_part.groups.iter().enumerate().map(|(i, group)| (place(i), number, group.clone())));
        drawn.push(of_part);
    }
    mixed.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let mixed: Vec<usize> = mixed.into_iter().flat_map(|(_, part, group)| &drawn[part].pairs[group]).copied().collect();
    mixed.chunks(pairs_per_step).map(<[usize]>::to_vec).collect()
}

/// Groups of pairs in some order.
#[derive(Default)]
struct Pass {
    pairs: Vec<usize>,
    /// Each group's place in `pairs`.
    groups: Vec<Range<usize>>,
}

impl Pass {
    /// All groups of a source once, in random order. With `together` false, each pair is a group of its own.
    fn new(group: &dyn Fn(usize) -> i64, part: &MixtureComponent, together: bool, rng: &mut impl rand::Rng) -> Self {
        let mut pairs: Vec<usize> = part.pairs.clone().collect();
        pairs.sort_by_key(|&pair| group(pair)); // stable: the pairs of a group stay in their order
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut start = 0;
        for same in pairs.chunk_by_mut(|&a, &b| together && group(a) == group(b)) {
            same.shuffle(rng);
            groups.push(start..start + same.len());
            start += same.len();
        }
        groups.shuffle(rng);
        Pass { pairs, groups }
    }

    fn push(&mut self, group: &[usize]) {
        self.groups.push(self.pairs.len()..self.pairs.len() + group.len());
        self.pairs.extend(group);
    }
}

/// The groups of a source that an epoch takes. Passes over the whole source follow each other, and the epochs divide
/// them.
fn draw(part: &MixtureComponent, epoch: u64, pass: impl Fn(u64) -> Pass) -> Pass {
    let (count, all) = (part.count(epoch), part.pairs.len());
    let mut drawn = Pass::default();
    if count == 0 {
        return drawn;
    }
    let start = part.taken_before(epoch);
    let mut at = start / all * all;
    for number in start / all..=(start + count - 1) / all {
        let Pass { pairs, groups } = pass(part.epochs.start + number as u64);
        for group in groups {
            let (from, to) = (start.saturating_sub(at), (start + count).saturating_sub(at));
            let group = &pairs[group];
            at += group.len();
            if from < group.len() && to > 0 {
                drawn.push(&group[from..to.min(group.len())]);
            }
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Pairs in groups of two.
    fn group(pair: usize) -> i64 {
        pair as i64 / 2
    }

    #[test]
    fn a_step_has_a_place_in_an_epoch() {
        let places = [0, 1, 2, 4].map(|step| place(&[2, 2, 5], step));
        assert_eq!(places, [(1, 0), (1, 1), (3, 0), (3, 2)], "epoch 2 has no steps");
    }

    #[test]
    fn the_order_is_the_same_in_every_version() {
        let parts = [part(0..6, 1., 1..9), part(6..10, 0.75, 2..9)];
        assert_eq!(steps(&group, &parts, 1, 7, 1).concat(), [1, 2, 5, 3, 4, 0]);
    }

    fn part(pairs: Range<usize>, weight: f64, epochs: Range<u64>) -> MixtureComponent {
        MixtureComponent { pairs, weight, epochs }
    }

    #[test]
    fn epochs_share_out_passes_over_a_part() {
        let half = [part(0..10, 0.4, 2..9)];
        assert_eq!(cumulative_steps(&half, 1, 4), [0, 4, 8, 12]);
        let mut seen: Vec<usize> = (2..7).flat_map(|epoch| steps(&group, &half, 1, 0, epoch).concat()).collect();
        assert_eq!(seen.len(), 20);
        seen.sort_unstable();
        assert_eq!(seen, (0..20).map(|i| i / 2).collect::<Vec<_>>());
        assert!(steps(&group, &half, 1, 0, 9).is_empty());
    }

    #[test]
    fn a_fraction_of_a_pair_is_carried_over_to_the_next_epoch() {
        for (pairs, weight, expected) in [(4, 0.1, 8), (10, 0.25, 50), (6, 0.25, 30), (3, 1.5, 90)] {
            let parts = [part(0..pairs, weight, 1..99)];
            let seen: Vec<usize> = (1..=20).flat_map(|epoch| steps(&group, &parts, 1, 0, epoch).concat()).collect();
            assert_eq!(seen.len(), expected, "{pairs} pairs of weight {weight}");
            let times = (0..pairs).map(|pair| seen.iter().filter(|&&other| other == pair).count());
            let (least, most) = (times.clone().min().unwrap(), times.max().unwrap());
            assert!(most - least <= 1, "{pairs} pairs of weight {weight}: {least} to {most} times");
        }
    }

    #[test]
    fn several_parts_are_mixed_and_groups_stay_together() {
        let parts = [part(0..200, 1., 1..9), part(200..400, 2., 1..9)];
        let order = steps(&group, &parts, 4, 0, 1).concat();
        assert_eq!(order.len(), 600);
        let early = order[..300].iter().filter(|&&pair| pair < 200).count();
        assert!((90..=110).contains(&early), "{early} of 100 in the first half");
        assert!(order.chunks(2).all(|pair| pair[0] / 2 == pair[1] / 2), "groups are split");
    }
}
