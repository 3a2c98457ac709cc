//! Reads the `states` of a story: rows of (attribute, entity, label) -> entities with classes for every sentence.

use super::check::{Code, Notes};
use super::encoding::note_garbled;
use super::fields::{Fields, last_values, note_repeated, wrong_type};
use super::names::{Spellings, note_similar};
use super::node::Node;
use super::story::{Classes, Entity};
use crate::attribute::{ATTRIBUTES, Attribute, AttributeSet, Side};
use crate::language::composed;
use crate::untrusted::MAX_ENTITIES;

/// The remedy for a story without labels.
const REMEDY: &str = "label the states of an entity, or name the entities in a list `entities`";

/// The labels of one entity in one sentence; `None` where there is none.
type Labels = [Option<u8>; ATTRIBUTES];

/// The entities of a story in the order of their first mention. A sentence without a row has no annotations. A row
/// without a sentence is dropped, with any entities that only this row names. `None` after an error finding.
pub(super) fn read(fields: &Fields, sentences: usize, notes: &mut Notes) -> Option<Vec<Entity>> {
    let lacking = match fields.get("states") {
        None => Some((Code::MissingField, "is missing")),
        Some(Node::Null) => Some((Code::WrongType, "must be a list, not null")),
        Some(_) => None,
    };
    if let Some((code, problem)) = lacking {
        notes.add(code, "states", format!("`states` {problem}; {REMEDY}"));
        return None;
    }
    let rows = fields.required_list("states", notes)?;
    note_row_count(rows.len(), sentences, notes);
    let mut table = Table { sentences, entities: Vec::new() };
    for (sentence, row) in rows.iter().take(sentences).enumerate() {
        table.read_row(sentence, row, notes);
    }
    if table.entities.is_empty() {
        notes.add(Code::NoEntities, "states", format!("no entity is named; {REMEDY}"));
        return None;
    }
    table.note_unannotated(rows.len().min(sentences), notes);
    if !note_similar(&table.entities.iter().map(|entity| entity.name.as_str()).collect::<Vec<_>>(), notes) {
        return None;
    }
    Some(table.entities.into_iter().map(Draft::finish).collect())
}

pub(super) fn note_row_count(rows: usize, sentences: usize, notes: &mut Notes) {
    if rows < sentences {
        let message =
            format!("there are {rows} rows for {sentences} sentences; the last sentences are read as not annotated");
        notes.add(Code::MissingStateRows, "states", message);
    }
    if rows > sentences {
        let message = format!("there are {rows} rows for {sentences} sentences; the last rows are dropped");
        notes.add(Code::ExtraStateRows, "states", message);
    }
}

/// An entity whose labels are being collected.
struct Draft {
    name: String,
    spellings: Spellings,
    /// `[N]`
    labels: Vec<Labels>,
}

impl Draft {
    fn finish(self) -> Entity {
        let side = |side| self.labels.iter().map(|labels| classes(labels, side)).collect();
        Entity {
            preconditions: side(Side::Precondition),
            effects: side(Side::Effect),
            labelled: self.labels.iter().map(labelled).collect(),
            name: self.name,
        }
    }
}

fn labelled(labels: &Labels) -> AttributeSet {
    Attribute::ALL.into_iter().filter(|attribute| labels[attribute.index()].is_some()).collect()
}

/// One side of the labels; 0 where there is no label.
fn classes(labels: &Labels, side: Side) -> Classes {
    let mut classes = [0; ATTRIBUTES];
    for attribute in Attribute::ALL {
        if let Some(label) = labels[attribute.index()] {
            let (precondition, effect) = attribute.split(label);
            classes[attribute.index()] = if side == Side::Precondition { precondition } else { effect };
        }
    }
    classes
}

struct Table {
    sentences: usize,
    entities: Vec<Draft>,
}

impl Table {
    fn read_row(&mut self, sentence: usize, row: &Node, notes: &mut Notes) {
        let Node::Object(attributes) = row else {
            return wrong_type(&format!("states[{sentence}]"), "an object of attributes", row, notes);
        };
        note_repeated(attributes, &format!("states[{sentence}]."), notes);
        for (name, labels) in last_values(attributes) {
            let field = format!("states[{sentence}].{name}");
            match (Attribute::from_name(name), labels) {
                (None, _) => {
                    notes.add(Code::UnknownAttribute, field, "is not one of the 20 attributes; remove or rename it")
                }
                (Some(attribute), Node::List(labels)) => {
                    for (i, label) in labels.iter().enumerate() {
                        if notes.is_full() {
                            return;
                        }
                        self.read_label(sentence, attribute, label, &format!("{field}[{i}]"), notes);
                    }
                }
                (Some(_), other) => wrong_type(&field, "a list of [entity, label]", other, notes),
            }
        }
    }

    fn read_label(&mut self, sentence: usize, attribute: Attribute, node: &Node, field: &str, notes: &mut Notes) {
        let Some((raw, label)) = as_label(node) else {
            let message = format!("must be [entity, label], a string and a whole number, not {}", node.excerpt());
            return notes.add(Code::WrongType, field, message);
        };
        let max = attribute.max_label();
        let Some(label) = u8::try_from(label).ok().filter(|&label| label <= max) else {
            return notes.add(
                Code::LabelOutOfRange,
                field,
                format!("{label} is not a label of {attribute}; it must be from 0 to {max}"),
            );
        };
        if raw.trim().is_empty() {
            return notes.add(Code::EmptyName, field, "the entity has no name; name it or remove the label");
        }
        let Some(entity) = self.entity(raw, field, notes) else { return };
        let entry = &mut entity.labels[sentence][attribute.index()];
        if entry.is_some_and(|earlier| earlier != label) {
            let message =
                format!("is a second label for {:?} in this sentence; the last one, {label}, is used", entity.name);
            notes.add(Code::RepeatedLabel, field, message);
        }
        *entry = Some(label);
    }

    /// The entity with this name, created at its first mention. `None`, after an error finding, if the name is too long
    /// or there are too many entities.
    fn entity(&mut self, raw: &str, field: &str, notes: &mut Notes) -> Option<&mut Draft> {
        let name = &*composed(raw.trim());
        let known = self.entities.iter().position(|entity| entity.name == name);
        let index = match known {
            Some(index) => index,
            None if !notes.has_fair_length(name, field) => return None,
            None if self.entities.len() == MAX_ENTITIES => {
                let message = format!("the story has too many entities; at most {MAX_ENTITIES} are allowed");
                notes.add(Code::TooLarge, field, message);
                return None;
            }
            None => {
                note_garbled(name, field, notes);
                let labels = vec![[None; ATTRIBUTES]; self.sentences];
                self.entities.push(Draft { name: name.to_owned(), spellings: Spellings::default(), labels });
                self.entities.len() - 1
            }
        };
        let entity = &mut self.entities[index];
        entity.spellings.add(raw, field, notes);
        Some(entity)
    }

    /// Adds a finding for each sentence whose row labels no entity.
    fn note_unannotated(&self, rows: usize, notes: &mut Notes) {
        for sentence in 0..rows {
            if !self.entities.iter().any(|entity| !labelled(&entity.labels[sentence]).is_empty()) {
                notes.add(Code::UnannotatedSentence, format!("states[{sentence}]"), "no entity is annotated here");
            }
        }
    }
}

fn as_label(node: &Node) -> Option<(&str, i64)> {
    match node {
        Node::List(items) => match items.as_slice() {
            [Node::Text(name), Node::Integer(label)] => Some((name, *label)),
            _ => None,
        },
        _ => None,
    }
}
