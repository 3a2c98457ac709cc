//! Stories without state labels: other fields name their entities.

use super::check::{Code, Notes};
use super::encoding::note_garbled;
use super::fields::{Fields, last_values, wrong_type};
use super::names::{BETWEEN_NAMES, Spellings, note_similar};
use super::node::Node;
use super::states::note_row_count;
use crate::language::composed;
use crate::untrusted::MAX_ENTITIES;
use std::collections::{HashMap, HashSet};

/// The names of the entities of a story without state labels, after a warning. They come from its list `entities`, else
/// from its actor and its `objects` (TRIP's fields). `None` if the story has labels, or if no other field names
/// entities; then the reader of states reports what is wrong.
pub(super) fn entities(fields: &Fields, sentences: usize, notes: &mut Notes) -> Option<Vec<String>> {
    if has_labels(fields, sentences) {
        return None;
    }
    let errors = notes.errors();
    let (field, raw) = match (fields.get("entities"), fields.get("objects")) {
        (Some(Node::List(items)), _) if !items.is_empty() => ("entities", listed(items, notes)),
        (Some(Node::Null | Node::List(_)) | None, Some(Node::Text(objects))) => {
            ("objects", objects.split(BETWEEN_NAMES).collect())
        }
        (Some(Node::Null | Node::List(_)) | None, _) => return None,
        (Some(other), _) => {
            wrong_type("entities", "a list of names", other, notes);
            return None;
        }
    };
    let mut names = distinct(raw);
    if let (false, "objects", Some(Node::Text(actor))) = (names.is_empty(), field, fields.get("actor")) {
        names = distinct(std::iter::once(actor.as_str()).chain(names.iter().map(String::as_str)).collect());
    }
    let listed: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.is_empty() || notes.errors() > errors || !are_fair(&listed, field, notes) {
        return None;
    }
    if let Some(Node::List(rows)) = fields.get("states")
        && rows.len() > sentences
    {
        note_row_count(rows.len(), sentences, notes);
    }
    let from = if field == "entities" { "`entities`" } else { "`actor` and `objects`" };
    let message = format!(
        "no state is labelled; the story can be evaluated without verifiability, but trained on with soft labels only (its \
         entities are those of {from})"
    );
    notes.add(Code::NoStateLabels, "states", message);
    Some(names)
}

/// Whether the rows of the sentences contain anything that could be a label, valid or not. Further rows are dropped.
fn has_labels(fields: &Fields, sentences: usize) -> bool {
    let is_empty = |labels: &Node| matches!(labels, Node::List(labels) if labels.is_empty());
    let is_empty_row = |row: &Node| match row {
        Node::Object(attributes) => last_values(attributes).into_iter().all(|(_, labels)| is_empty(labels)),
        _ => false,
    };
    match fields.get("states") {
        None | Some(Node::Null) => false,
        Some(Node::List(rows)) => !rows.iter().take(sentences).all(is_empty_row),
        Some(_) => true,
    }
}

/// The names of a list as they are written; notes how they are read.
fn listed<'a>(items: &'a [Node], notes: &mut Notes) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut spellings: HashMap<String, Spellings> = HashMap::new();
    for (i, item) in items.iter().enumerate() {
        let field = format!("entities[{i}]");
        match item {
            Node::Text(name) if name.trim().is_empty() => {
                notes.add(Code::EmptyName, field, "the entity has no name; name it or remove it");
            }
            Node::Text(name) => {
                spellings.entry(composed(name.trim())).or_default().add(name, &field, notes);
                names.push(name.as_str());
            }
            other => wrong_type(&field, "a string", other, notes),
        }
    }
    names
}

/// The names without outer spaces and with accents as parts of their letters, each once, in their order.
fn distinct(names: Vec<&str>) -> Vec<String> {
    let mut known = HashSet::new();
    let names = names.into_iter().map(|name| composed(name.trim()));
    names.filter(|name| !name.is_empty() && known.insert(name.clone())).collect()
}

/// Whether the names are short and few enough; adds error findings if they are not.
fn are_fair(names: &[&str], field: &str, notes: &mut Notes) -> bool {
    if names.len() > MAX_ENTITIES {
        let message = format!("the story has too many entities; at most {MAX_ENTITIES} are allowed");
        notes.add(Code::TooLarge, field, message);
        return false;
    }
    let are_short = names.iter().all(|name| notes.has_fair_length(name, field));
    if are_short {
        names.iter().for_each(|name| note_garbled(name, field, notes));
    }
    are_short && note_similar(names, notes)
}
