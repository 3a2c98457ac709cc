//! Spellings of entity names: outer spaces, and names that may be slips for one another.

use super::check::{Code, Notes};

/// Names this short may differ by a letter without being a slip.
const SHORT: usize = 3;

/// The ways in which one entity's name is written in a file.
#[derive(Default)]
pub(super) struct Spellings(Vec<String>);

impl Spellings {
    /// Notes a spelling as it stands in the file, with the place where it first stands.
    pub fn add(&mut self, raw: &str, field: &str, notes: &mut Notes) {
        if self.0.iter().any(|known| known == raw) {
            return;
        }
        let name = raw.trim();
        if raw != name {
            notes.add(Code::PaddedName, field, format!("{raw:?} is read as {name:?}"));
        }
        if let Some(first) = self.0.first() {
            notes.add(Code::MergedNames, field, format!("{raw:?} and {first:?} are read as one entity, {name:?}"));
        }
        self.0.push(raw.to_owned());
    }
}

/// Warns of pairs of names that may be one entity written in two ways.
pub(super) fn note_similar(names: &[&str], notes: &mut Notes) {
    for (i, name) in names.iter().enumerate() {
        for earlier in names[..i].iter().filter(|earlier| are_similar(earlier, name)) {
            let message = format!("{earlier:?} and {name:?} are kept apart; if they are one entity, spell them alike");
            notes.add(Code::SimilarNames, "states", message);
        }
    }
}

/// Longer than [`SHORT`] letters, and one edit or only case apart.
fn are_similar(a: &str, b: &str) -> bool {
    let lengths = [a.chars().count(), b.chars().count()];
    lengths.iter().all(|&length| length > SHORT)
        && lengths[0].abs_diff(lengths[1]) <= 1
        && (a.to_lowercase() == b.to_lowercase() || strsim::levenshtein(a, b) <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

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
