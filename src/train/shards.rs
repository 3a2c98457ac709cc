//! Cuts a step into shards, and adds up what they compute. Both depend on the number of shards only, so that any power
//! of two processes computes the same bits.

use std::ops::Range;
use tch::Tensor;

/// Cuts the pairs of a step into shards of about equal size; returns the positions in `groups`, ascending in each shard.
/// Some shards may be empty.
///
/// The pairs of a group share inputs that a shard encodes once, so a group is divided only where there are fewer groups
/// than shards. `groups` has the group of each pair, and `size` estimates what a list of positions costs.
pub fn cut(groups: &[i64], shards: usize, size: impl Fn(&[usize]) -> usize) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    for (position, group) in groups.iter().enumerate() {
        match units.last_mut().filter(|unit| groups[unit[0]] == *group) {
            Some(unit) => unit.push(position),
            None => units.push(vec![position]),
        }
    }
    while units.len() < shards.min(groups.len()) {
        let largest = (0..units.len()).max_by_key(|&unit| (units[unit].len(), units.len() - unit));
        let Some(largest) = largest else { break };
        let half = units[largest].len().div_ceil(2);
        let rest = units[largest].split_off(half);
        units.insert(largest + 1, rest);
    }
    // The largest first, each to the shard that has the least so far.
    let mut sized: Vec<(usize, Vec<usize>)> = units.into_iter().map(|unit| (size(&unit), unit)).collect();
    sized.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let mut parts: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); shards];
    for (size, unit) in sized {
        let least = (0..shards).min_by_key(|&shard| (parts[shard].0, parts[shard].1.len())).unwrap_or(0);
        parts[least].0 += size;
        parts[least].1.extend(unit);
    }
    parts.into_iter().map(|(_, mut part)| (part.sort_unstable(), part).1).collect()
}

/// The shards of one of `ranks` processes: neighbours, at least one if there are not more processes than shards. A
/// power of two processes divides them as [`tree_sum`] does.
pub fn of_rank(rank: usize, ranks: usize, shards: usize) -> Range<usize> {
    if !ranks.is_power_of_two() {
        return shards * rank / ranks..shards * (rank + 1) / ranks;
    }
    let (mut own, mut half) = (0..shards, ranks / 2);
    while half > 0 {
        let middle = own.start.midpoint(own.end);
        own = if rank & half == 0 { own.start..middle } else { middle..own.end };
        half /= 2;
    }
    own
}

/// Adds up tensors as a binary tree: the sum of the first half plus that of the second.
///
/// # Errors
/// Those of `of`.
pub fn tree_sum<E>(shards: Range<usize>, of: &mut impl FnMut(usize) -> Result<Tensor, E>) -> Result<Tensor, E> {
    if shards.len() <= 1 {
        return of(shards.start);
    }
    let middle = shards.start.midpoint(shards.end);
    let mut sum = tree_sum(shards.start..middle, of)?;
    let second = tree_sum(middle..shards.end, of)?;
    let _ = tch::no_grad(|| sum.g_add_(&second));
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_count(groups: &[i64], shards: usize) -> Vec<Vec<usize>> {
        cut(groups, shards, <[usize]>::len)
    }

    #[test]
    fn groups_stay_together_where_there_are_enough() {
        assert_eq!(by_count(&[1, 1, 2, 2, 3, 3, 4, 4], 4), [[0, 1], [2, 3], [4, 5], [6, 7]]);
        assert_eq!(by_count(&[1, 1, 1, 1, 1, 2, 3, 4], 2), [vec![0, 1, 2, 3, 4], vec![5, 6, 7]]);
        assert_eq!(by_count(&[1, 1, 1, 1], 4), [[0], [1], [2], [3]]);
        assert_eq!(by_count(&[1, 1, 1, 2], 3), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(by_count(&[7, 8], 4), [vec![0], vec![1], vec![], vec![]]);
        assert_eq!(by_count(&[7, 8, 9], 1), [[0, 1, 2]]);
    }

    #[test]
    fn every_pair_is_in_one_shard() {
        for pairs in 1..20 {
            let groups: Vec<i64> = (0..pairs).map(|i| i / 3).collect();
            for shards in 1..9 {
                let parts = by_count(&groups, shards);
                let mut all = parts.concat();
                all.sort_unstable();
                assert_eq!(parts.len(), shards);
                assert_eq!(all, (0..pairs as usize).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn ranks_divide_the_shards() {
        for shards in 1..20 {
            for ranks in 1..=shards {
                let all: Vec<usize> = (0..ranks).flat_map(|rank| of_rank(rank, ranks, shards)).collect();
                assert_eq!(all, (0..shards).collect::<Vec<_>>());
                assert!((0..ranks).all(|rank| !of_rank(rank, ranks, shards).is_empty()));
            }
        }
    }

    /// The order of a sum in floating point, as text.
    fn order(shards: Range<usize>) -> String {
        let middle = shards.start.midpoint(shards.end);
        match shards.len() {
            1 => shards.start.to_string(),
            _ => format!("({} {})", order(shards.start..middle), order(middle..shards.end)),
        }
    }

    #[test]
    fn a_power_of_two_ranks_adds_in_one_order() {
        for shards in 1..20 {
            for ranks in [1, 2, 4, 8, 16].into_iter().filter(|&ranks| ranks <= shards) {
                let mut sums: Vec<String> = (0..ranks).map(|rank| order(of_rank(rank, ranks, shards))).collect();
                while sums.len() > 1 {
                    sums = sums.chunks(2).map(|two| format!("({} {})", two[0], two[1])).collect();
                }
                assert_eq!(sums[0], order(0..shards), "{ranks} ranks");
            }
        }
    }
}
