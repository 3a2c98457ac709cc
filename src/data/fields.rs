//! Typed access to the fields of a story. A missing field, or one of the wrong type, becomes a finding.

use super::check::{Code, Notes};
use super::node::Node;
use crate::language::composed;
use std::collections::HashSet;

/// The fields that are read or checked (`docs/data.md`).
const KNOWN: [&str; 14] = [
    "sentences",
    "states",
    "story_id",
    "breakpoint",
    "confl_sents",
    "plausible",
    "type",
    "actor",
    "location",
    "length",
    "example_id",
    "confl_pairs",
    "entities",
    "objects",
];

/// From this similarity (Jaro-Winkler, at most 1), a name may be a misspelling of a known one. Longer names are not
/// compared.
const SIMILAR: f64 = 0.85;
const LONGEST_SLIP: usize = 30;

/// The fields of one JSON object. If a name is repeated, the last value is used.
pub(super) struct Fields<'a>(&'a [(String, Node)]);

impl<'a> Fields<'a> {
    /// The fields of a story; an error finding and `None` if it is not an object.
    pub fn of(story: &'a Node, notes: &mut Notes) -> Option<Self> {
        let Node::Object(entries) = story else {
            notes.add(Code::WrongType, "", format!("a story must be an object, not {}", story.type_name()));
            return None;
        };
        note_repeated(entries, "", notes);
        note_misspelt(entries, notes);
        Some(Fields(entries))
    }

    pub fn get(&self, name: &str) -> Option<&'a Node> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// A list without which the story can't be read.
    pub fn required_list(&self, name: &str, notes: &mut Notes) -> Option<&'a [Node]> {
        match self.get(name) {
            Some(Node::List(items)) => Some(items),
            Some(other) => {
                wrong_type(name, "a list", other, notes);
                None
            }
            None => {
                notes.add(Code::MissingField, name, format!("`{name}` is missing; add it"));
                None
            }
        }
    }

    /// A field that can be inferred from the rest of the story; a warning if it is missing.
    pub fn assumable(&self, name: &str, how: &str, notes: &mut Notes) -> Option<&'a Node> {
        let value = self.get(name);
        if value.is_none() {
            notes.add(Code::AssumedField, name, format!("`{name}` is missing; {how}"));
        }
        value
    }

    /// A text that only describes the story. Empty if absent or null; empty, with a warning, if it is not a string.
    pub fn description(&self, name: &str, notes: &mut Notes) -> String {
        match self.get(name) {
            Some(Node::Text(text)) => composed(text.trim()),
            None | Some(Node::Null) => String::new(),
            Some(other) => {
                let message = format!("`{name}` should be a string, not {}; it is read as empty", other.type_name());
                notes.add(Code::IgnoredField, name, message);
                String::new()
            }
        }
    }
}

/// Adds the finding that a field has the wrong type.
pub(super) fn wrong_type(field: &str, expected: &str, found: &Node, notes: &mut Notes) {
    notes.add(Code::WrongType, field, format!("must be {expected}, not {}", found.type_name()));
}

/// Each field with its last value, in the order of these.
pub(super) fn last_values(entries: &[(String, Node)]) -> Vec<&(String, Node)> {
    let mut names = HashSet::new();
    let mut last: Vec<_> = entries.iter().rev().filter(|(name, _)| names.insert(name)).collect();
    last.reverse();
    last
}

/// Warns about names that are repeated in one object.
pub(super) fn note_repeated(entries: &[(String, Node)], prefix: &str, notes: &mut Notes) {
    let mut names = HashSet::new();
    for (name, _) in entries {
        if !names.insert(name) {
            notes.add(
                Code::RepeatedField,
                format!("{prefix}{name}"),
                "is repeated in the same object; the last value is used",
            );
        }
    }
}

/// Warns about fields that are ignored, but whose names are close to that of a missing field.
fn note_misspelt(entries: &[(String, Node)], notes: &mut Notes) {
    let is_there = |known: &&str| entries.iter().any(|(name, _)| name == known);
    let missing: Vec<&str> = KNOWN.into_iter().filter(|known| !is_there(known)).collect();
    let unknown = entries.iter().map(|(name, _)| name).filter(|name| !KNOWN.contains(&name.as_str()));
    for name in unknown.filter(|name| name.len() <= LONGEST_SLIP) {
        let is_near = |known: &&&str| strsim::jaro_winkler(&name.to_lowercase(), known) >= SIMILAR;
        if let Some(meant) = missing.iter().find(is_near) {
            notes.add(Code::MisspeltField, name, format!("is not a field of a story; did you mean `{meant}`?"));
        }
    }
}
