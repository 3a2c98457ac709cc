//! Takes a change of a story's sentences back, though somebody changed them since.

use super::change::SentenceId;

/// What `current` becomes if the step from `from` to `to` is made in it. Sentences that the step removes go, and those that
/// it adds come after the one that precedes them in `to`. `None` if the step only moves sentences, and `current` is not
/// `from`: then there is no telling what is meant.
pub(super) fn merged(from: &[SentenceId], to: &[SentenceId], current: &[SentenceId]) -> Option<Vec<SentenceId>> {
    if current == from {
        return Some(to.to_vec());
    }
    let gone: Vec<_> = from.iter().filter(|sentence| !to.contains(sentence)).collect();
    let come: Vec<_> = (0..to.len()).filter(|&i| !from.contains(&to[i]) && !current.contains(&to[i])).collect();
    if gone.is_empty() && come.is_empty() {
        return None;
    }
    let mut merged: Vec<_> = current.iter().filter(|sentence| !gone.contains(sentence)).copied().collect();
    for i in come {
        let before = to[..i].iter().rev().find_map(|before| merged.iter().position(|other| other == before));
        merged.insert(before.map_or(0, |before| before + 1), to[i]);
    }
    Some(merged)
}

/// The sentences of `current`, in the order that they have in `to`. One that is not in `to` stays after the one that it
/// follows now.
pub(super) fn ordered(to: &[SentenceId], current: &[SentenceId]) -> Vec<SentenceId> {
    let mut ordered: Vec<_> = to.iter().filter(|sentence| current.contains(sentence)).copied().collect();
    for (i, &sentence) in current.iter().enumerate().filter(|(_, sentence)| !to.contains(sentence)) {
        let before = current[..i].iter().rev().find_map(|before| ordered.iter().position(|other| other == before));
        ordered.insert(before.map_or(0, |before| before + 1), sentence);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(from: &[u32], to: &[u32], current: &[u32]) -> Option<Vec<u32>> {
        let ids = |numbers: &[u32]| numbers.iter().map(|&number| SentenceId(number)).collect::<Vec<_>>();
        merged(&ids(from), &ids(to), &ids(current)).map(|ids| ids.iter().map(|id| id.0).collect())
    }

    #[test]
    fn an_order_takes_no_sentence_away() {
        let ids = |numbers: &[u32]| numbers.iter().map(|&number| SentenceId(number)).collect::<Vec<_>>();
        let order = |to: &[u32], current: &[u32]| ordered(&ids(to), &ids(current));
        assert_eq!(order(&[2, 1, 3, 4], &[2, 5, 1, 4, 3]), ids(&[2, 5, 1, 3, 4]));
        assert_eq!(order(&[1, 2, 3], &[5, 3, 1]), ids(&[5, 1, 3]));
    }

    #[test]
    fn what_others_did_since_stays() {
        // An insertion of 9 is taken back after somebody inserted 8.
        assert_eq!(merge(&[1, 9, 2], &[1, 2], &[1, 9, 2, 8]), Some(vec![1, 2, 8]));
        // A removal of 2 is taken back.
        assert_eq!(merge(&[1, 3], &[1, 2, 3], &[8, 1, 3]), Some(vec![8, 1, 2, 3]));
        assert_eq!(merge(&[1, 3], &[1, 2, 3], &[3, 8]), Some(vec![2, 3, 8]));
        // 2 was replaced by 9.
        assert_eq!(merge(&[1, 9, 3], &[1, 2, 3], &[1, 9, 8, 3]), Some(vec![1, 2, 8, 3]));
        // A swap, alone and with a change since.
        assert_eq!(merge(&[2, 1], &[1, 2], &[2, 1]), Some(vec![1, 2]));
        assert_eq!(merge(&[2, 1], &[1, 2], &[2, 8, 1]), None);
    }
}
