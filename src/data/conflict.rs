//! Decides whether a story is plausible and where it conflicts, by comparing `breakpoint` and `confl_sents` with what
//! else the file says about it.
//!
//! A story with a breakpoint is implausible, whatever else the file says. A story without one is plausible, unless two
//! or more of these contradict it: a key with -C or -O, `type`, `plausible: false`, a non-empty `confl_sents`. Then its
//! breakpoint is missing, and it can't be used.

use super::check::{Code, Notes};
use super::fields::{Fields, wrong_type};
use super::key::Key;
use super::node::Node;
use super::story::{Conflict, Kind};

/// Conflict and kind of a story; both are `None` for a plausible one. The kind of an implausible story is `None` too if
/// neither key nor `type` gives it.
pub(super) struct LabelVerdict {
    pub conflict: Option<Conflict>,
    pub kind: Option<Kind>,
}

/// What the file says, field by field.
struct Claims {
    key: Key,
    /// Whether `type` is there, if only as null.
    has_type: bool,
    kind: Option<Kind>,
    plausible: Option<bool>,
    breakpoint: Option<usize>,
    /// Entries of `confl_sents`, flattened.
    conflicting: Vec<i64>,
}

/// `None` after an error finding.
pub(super) fn read(fields: &Fields, key: Key, sentences: usize, notes: &mut Notes) -> Option<LabelVerdict> {
    let errors = notes.errors();
    let claims = Claims {
        key,
        has_type: fields.get("type").is_some(),
        kind: read_type(fields, notes),
        plausible: read_plausible(fields, notes),
        breakpoint: read_breakpoint(fields, sentences, notes),
        conflicting: read_confl_sents(fields, notes),
    };
    if notes.errors() > errors {
        return None;
    }
    note_odd_pairs(fields, &claims, notes);
    match claims.breakpoint {
        Some(breakpoint) => claims.implausible(breakpoint, notes),
        None => claims.plausible(notes),
    }
}

impl Claims {
    fn implausible(&self, breakpoint: usize, notes: &mut Notes) -> Option<LabelVerdict> {
        let earlier = |entry: &&i64| (0..breakpoint as i64).contains(*entry);
        for entry in self.conflicting.iter().filter(|entry| !earlier(entry)) {
            let message = format!("{entry} is not before the breakpoint ({breakpoint}); it is ignored");
            notes.add(Code::IgnoredEvidence, "confl_sents", message);
        }
        let Some(evidence) = self.conflicting.iter().rfind(earlier) else {
            let message =
                format!("no sentence conflicts with the breakpoint ({breakpoint}); add an earlier sentence that does");
            notes.add(Code::NoEvidence, "confl_sents", message);
            return None;
        };
        if self.plausible == Some(true) {
            let message = "is true, but the story has a breakpoint; it is read as implausible";
            notes.add(Code::PlausibleContradicted, "plausible", message);
        }
        if self.key.kind.is_none() {
            notes.add(
                Code::KeyContradicted,
                "",
                "the key has no -C or -O, but the story has a breakpoint; it is read as implausible",
            );
        }
        self.note_kind(notes);
        let conflict = Conflict { evidence: *evidence as usize, breakpoint };
        Some(LabelVerdict { conflict: Some(conflict), kind: self.key.kind.or(self.kind) })
    }

    fn note_kind(&self, notes: &mut Notes) {
        match (self.key.kind, self.kind) {
            (Some(of_key), Some(of_type)) if of_key != of_type => {
                notes.add(
                    Code::TypeContradicted,
                    "type",
                    format!("is {of_type}, but the key says {of_key}; the key is used"),
                );
            }
            (_, None) if self.has_type => notes.add(
                Code::TypeContradicted,
                "type",
                "is null, but the story has a breakpoint; it is read as implausible",
            ),
            (of_key, None) => {
                let instead = if of_key.is_some() { "the key decides instead" } else { "the kind is not known" };
                notes.add(Code::AssumedField, "type", format!("`type` is missing; {instead}"));
            }
            _ => {}
        }
    }

    fn plausible(&self, notes: &mut Notes) -> Option<LabelVerdict> {
        let doubts = [
            (self.key.kind.is_some(), Code::KeyContradicted, "", "the key has -C or -O"),
            (self.kind.is_some(), Code::TypeContradicted, "type", "is not null"),
            (self.plausible == Some(false), Code::PlausibleContradicted, "plausible", "is false"),
            (!self.conflicting.is_empty(), Code::IgnoredEvidence, "confl_sents", "is not empty"),
        ];
        if doubts.iter().filter(|(doubt, ..)| *doubt).count() > 1 {
            notes.add(
                Code::NoBreakpoint,
                "breakpoint",
                "is missing, but the story claims to be implausible; add its breakpoint",
            );
            return None;
        }
        for (_, code, field, claim) in doubts.into_iter().filter(|(doubt, ..)| *doubt) {
            notes.add(code, field, format!("{claim}, but the story has no breakpoint; it is read as plausible"));
        }
        Some(LabelVerdict { conflict: None, kind: None })
    }
}

/// `None` if the file says nothing; adds an error finding if the type is unknown.
fn read_type(fields: &Fields, notes: &mut Notes) -> Option<Kind> {
    match fields.get("type")? {
        Node::Null => None,
        Node::Text(text) => {
            let kind = Kind::from_name(text);
            if kind.is_none() {
                notes.add(Code::UnknownKind, "type", format!("is {text:?}; it must be null, \"cloze\" or \"order\""));
            }
            kind
        }
        other => {
            wrong_type("type", "null, \"cloze\" or \"order\"", other, notes);
            None
        }
    }
}

fn read_plausible(fields: &Fields, notes: &mut Notes) -> Option<bool> {
    match fields.assumable("plausible", "the breakpoint decides instead", notes)? {
        Node::Bool(plausible) => Some(*plausible),
        other => {
            wrong_type("plausible", "true or false", other, notes);
            None
        }
    }
}

fn read_breakpoint(fields: &Fields, sentences: usize, notes: &mut Notes) -> Option<usize> {
    match fields.assumable("breakpoint", "it is read as -1 (none)", notes)? {
        Node::Integer(-1) => None,
        Node::Integer(index) => {
            let index = usize::try_from(*index).ok().filter(|&index| index < sentences);
            if index.is_none() {
                let message =
                    format!("must be -1, or the index of a sentence from 0 to {}", sentences.saturating_sub(1));
                notes.add(Code::BreakpointOutOfRange, "breakpoint", message);
            }
            index
        }
        other => {
            wrong_type("breakpoint", "an integer", other, notes);
            None
        }
    }
}

/// Reads `[3]`, `[[3]]`, `[[]]` and `[]`.
fn read_confl_sents(fields: &Fields, notes: &mut Notes) -> Vec<i64> {
    let mut entries = Vec::new();
    match fields.assumable("confl_sents", "it is read as []", notes) {
        Some(list @ Node::List(items)) => {
            let nested = items.iter().any(|item| matches!(item, Node::List(_)));
            flatten(list, &mut entries, notes);
            if nested {
                notes.add(Code::NestedConflSents, "confl_sents", format!("{} is read as {entries:?}", list.excerpt()));
            }
        }
        Some(other) => wrong_type("confl_sents", "a list of integers", other, notes),
        None => {}
    }
    entries
}

fn flatten(node: &Node, into: &mut Vec<i64>, notes: &mut Notes) {
    match node {
        Node::Integer(value) => into.push(*value),
        Node::List(items) => items.iter().for_each(|item| flatten(item, into, notes)),
        other => wrong_type("confl_sents", "a list of integers", other, notes),
    }
}

/// Adds a finding if `confl_pairs` are not `[[entry, breakpoint], ...]`.
fn note_odd_pairs(fields: &Fields, claims: &Claims, notes: &mut Notes) {
    let Some(found) = fields.get("confl_pairs") else { return };
    let pair = |entry, breakpoint| Node::List(vec![Node::Integer(entry), Node::Integer(breakpoint)]);
    let expected = Node::List(match claims.breakpoint {
        Some(breakpoint) => claims.conflicting.iter().map(|&entry| pair(entry, breakpoint as i64)).collect(),
        None => Vec::new(),
    });
    if *found != expected {
        let message = format!("is {}, but {expected} was expected; it is not used", found.excerpt());
        notes.add(Code::OddConflPairs, "confl_pairs", message);
    }
}
