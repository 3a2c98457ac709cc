//! Spellings of entity names: outer spaces, accents, and names that may be misspellings of one another.

use super::check::{Code, Notes};
use crate::language::composed;
use crate::untrusted::MAX_NAME;
use std::collections::HashSet;

/// What stands between the names of a list: commas and semicolons, also wide ones.
pub(super) const BETWEEN_NAMES: [char; 5] = [',', ';', '，', '、', '；'];

/// Names of at most this length often differ by one letter without being misspelt.
const SHORT: usize = 3;

/// The spellings of one entity's name in a file.
#[derive(Default)]
pub(super) struct Spellings {
    first: Option<String>,
    all: HashSet<String>,
}

impl Spellings {
    /// Adds a spelling, with the position where it first occurs.
    pub fn add(&mut self, raw: &str, field: &str, notes: &mut Notes) {
        if !self.all.insert(raw.to_owned()) {
            return;
        }
        let name = composed(raw.trim());
        if raw != raw.trim() {
            notes.add(Code::PaddedName, field, format!("{raw:?} is read as {name:?}"));
        }
        match &self.first {
            // Every later spelling quotes it, and spaces may be many.
            None => self.first = Some(raw.chars().take(MAX_NAME).collect()),
            Some(first) => {
                notes.add(Code::MergedNames, field, format!("{raw:?} and {first:?} are read as one entity, {name:?}"));
            }
        }
    }
}

/// Warns about pairs of names that may be two spellings of one entity. `false`, after an error finding, if there are
/// too many pairs to compare.
pub(super) fn note_similar(names: &[&str], notes: &mut Notes) -> bool {
    if !notes.take_name_pairs(names.len() * names.len().saturating_sub(1) / 2) {
        return false;
    }
    let names: Vec<_> = names.iter().map(|name| Spelt::new(name)).collect();
    for (i, name) in names.iter().enumerate() {
        for earlier in names[..i].iter().filter(|earlier| earlier.is_similar(name)) {
            let message = format!(
                "{:?} and {:?} are read as two entities; if they are one, spell them alike",
                earlier.name, name.name
            );
            notes.add_quoting(&[earlier.name, name.name], Code::SimilarNames, "states", message);
        }
    }
    true
}

/// A name, prepared for comparison.
struct Spelt<'a> {
    name: &'a str,
    letters: Vec<char>,
    lower: String,
}

impl<'a> Spelt<'a> {
    fn new(name: &'a str) -> Self {
        Spelt { name, letters: name.chars().collect(), lower: name.to_lowercase() }
    }

    /// Whether both names are longer than [`SHORT`] and differ only by case or by one edit.
    fn is_similar(&self, other: &Self) -> bool {
        let (a, b) = (&self.letters, &other.letters);
        a.len().min(b.len()) > SHORT && a.len().abs_diff(b.len()) <= 1 && (self.lower == other.lower || one_edit(a, b))
    }
}

/// Whether at most one letter remains between the common beginning and the common end of two words. Their lengths
/// differ by at most one.
fn one_edit(a: &[char], b: &[char]) -> bool {
    let same = |(a, b): &(&char, &char)| a == b;
    let start = a.iter().zip(b).take_while(same).count();
    let end = a.iter().rev().zip(b.iter().rev()).take_while(same).count();
    start + end + 1 >= a.len().max(b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_similar(a: &str, b: &str) -> bool {
        Spelt::new(a).is_similar(&Spelt::new(b))
    }

    #[test]
    fn one_edit_is_a_distance_of_one() {
        let words = ["", "a", "b", "aa", "ab", "ba", "aab", "aba", "abab", "baba", "bbab", "abba", "aabab"];
        for (a, b) in words.iter().flat_map(|a| words.map(|b| (*a, b))) {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            let near = strsim::levenshtein(a, b) <= 1;
            let lengths = a.len().abs_diff(b.len()) <= 1;
            assert_eq!(lengths && one_edit(&letters(a), &letters(b)), near, "{a} {b}");
        }
    }

    #[test]
    fn similar_is_one_edit_or_case_and_never_short() {
        assert!(are_similar("pizza", "pizze"));
        assert!(are_similar("Pizza Box", "pizza box"));
        assert!(are_similar("cups", "cupss"));
        assert!(!are_similar("cup", "cups"));
        assert!(!are_similar("pan", "Pan"));
        assert!(!are_similar("plate", "plates of"));
    }
}
