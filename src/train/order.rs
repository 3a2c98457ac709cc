//! The order in which an epoch reads the pairs.

use crate::data::Pair;
use crate::seed;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;
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
            true => (self.weight * self.pairs.len() as f64).round() as usize,
            false => 0,
        }
    }
}

/// For each epoch, the number of steps up to its end.
pub fn cumulative_steps(parts: &[MixtureComponent], pairs_per_step: usize, epochs: u64) -> Vec<u64> {
    let steps = (1..=epochs).map(|epoch| parts.iter().map(|part| part.count(epoch)).sum::<usize>());
    let steps = steps.map(|pairs| pairs.div_ceil(pairs_per_step) as u64);
    steps
        .scan(0, |so_far, steps| {
            *so_far += steps;
            Some(*so_far)
        })
        .collect()
}

/// The steps of one epoch, each a list of pairs.
///
/// With one pair in a step, the pairs are shuffled. With more, the groups are shuffled, laid end to end and cut into
/// steps: a group shares its plausible story, so most of its inputs are encoded once only. Several sources are spread
/// evenly over the epoch.
pub fn steps(
    pairs: &[Pair],
    parts: &[MixtureComponent],
    pairs_per_step: usize,
    seed: u64,
    epoch: u64,
) -> Vec<Vec<usize>> {
    let mut rng = seed::rng(seed, "mixture", epoch);
    let mut mixed: Vec<(f64, Vec<usize>)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let purpose = if number == 0 { "order".to_owned() } else { format!("order {number}") };
        let pass = |pass| groups(pairs, part, pairs_per_step > 1, &mut seed::rng(seed, &purpose, pass));
        let groups = draw(part, epoch, pass);
        let spacing = 1. / groups.len() as f64;
        let mut place = |i: usize| (i as f64 + rng.random::<f64>()) * spacing;
        mixed.extend(groups.into_iter().enumerate().map(|(i, group)| (place(i), group)));
    }
    mixed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mixed: Vec<usize> = mixed.into_iter().flat_map(|(_, group)| group).collect();
    mixed.chunks(pairs_per_step).map(<[usize]>::to_vec).collect()
}

/// The groups of a source that an epoch takes. Passes over the whole source follow each other, and the epochs divide
/// them.
fn draw(part: &MixtureComponent, epoch: u64, pass: impl Fn(u64) -> Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let (count, all) = (part.count(epoch), part.pairs.len());
    if count == 0 {
        return Vec::new();
    }
    let start = (epoch - part.epochs.start) as usize * count;
    let mut at = start / all * all;
    let mut drawn = Vec::new();
    for number in start / all..=(start + count - 1) / all {
        for mut group in pass(part.epochs.start + number as u64) {
            let end = at + group.len();
            group.truncate((start + count).saturating_sub(at));
            group.drain(..start.saturating_sub(at).min(group.len()));
            drawn.extend(Some(group).filter(|group| !group.is_empty()));
            at = end;
        }
    }
    drawn
}

/// All groups of a source once, in random order.
fn groups(pairs: &[Pair], part: &MixtureComponent, together: bool, rng: &mut impl rand::Rng) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(i64, usize), Vec<usize>> = BTreeMap::new();
    for i in part.pairs.clone() {
        groups.entry((pairs[i].group, if together { 0 } else { i })).or_default().push(i);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.iter_mut().for_each(|group| group.shuffle(rng));
    groups.shuffle(rng);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Story;

    /// Pairs in groups of two.
    fn pairs(count: usize) -> Vec<Pair> {
        let story = Story {
            id: String::new(),
            group: 0,
            actor: String::new(),
            location: String::new(),
            sentences: Vec::new(),
            entities: Vec::new(),
            conflict: None,
            kind: None,
        };
        let pair = Pair::unlabelled([story.clone(), story]);
        (0..count).map(|i| Pair { group: (i / 2) as i64, ..pair.clone() }).collect()
    }

    fn part(pairs: Range<usize>, weight: f64, epochs: Range<u64>) -> MixtureComponent {
        MixtureComponent { pairs, weight, epochs }
    }

    #[test]
    fn epochs_share_out_passes_over_a_part() {
        let (pairs, half) = (pairs(10), [part(0..10, 0.4, 2..9)]);
        assert_eq!(cumulative_steps(&half, 1, 4), [0, 4, 8, 12]);
        let mut seen: Vec<usize> = (2..7).flat_map(|epoch| steps(&pairs, &half, 1, 0, epoch).concat()).collect();
        assert_eq!(seen.len(), 20);
        seen.sort_unstable();
        assert_eq!(seen, (0..20).map(|i| i / 2).collect::<Vec<_>>());
        assert!(steps(&pairs, &half, 1, 0, 9).is_empty());
    }

    #[test]
    fn several_parts_are_mixed_and_groups_stay_together() {
        let (pairs, parts) = (pairs(400), [part(0..200, 1., 1..9), part(200..400, 2., 1..9)]);
        let order = steps(&pairs, &parts, 4, 0, 1).concat();
        assert_eq!(order.len(), 600);
        let early = order[..300].iter().filter(|&&pair| pair < 200).count();
        assert!((90..=110).contains(&early), "{early} of 100 in the first half");
        assert!(order.chunks(2).all(|pair| pair[0] / 2 == pair[1] / 2), "groups are split");
    }
}
