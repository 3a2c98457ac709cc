//! Reads one story of a file into a [`Story`]; errors become findings.

use super::check::{Code, Notes};
use super::encoding::note_garbled;
use super::fields::{Fields, wrong_type};
use super::key::Key;
use super::node::Node;
use super::story::{Entity, Story};
use super::{conflict, states, unlabelled};
use crate::language::composed;
use crate::untrusted::MAX_SENTENCES;

/// Reads the story with this key. `notes.story` is the id that it gets. `None` after an error finding.
pub(super) fn story(key: &str, node: &Node, notes: &mut Notes) -> Option<Story> {
    let errors = notes.errors();
    let fields = Fields::of(node, notes)?;
    note_example_id(&fields, key, notes);
    let group = group(&fields, Key::parse(key), notes);
    let actor = fields.description("actor", notes);
    let location = fields.description("location", notes);
    let sentences = sentences(&fields, notes)?;
    let errors_before = notes.errors();
    let entities = match unlabelled::entities(&fields, sentences.len(), notes) {
        Some(names) => Some(names.into_iter().map(|name| Entity::unlabelled(name, sentences.len())).collect()),
        None if notes.errors() > errors_before => None,
        None => states::read(&fields, sentences.len(), notes),
    };
    let verdict = conflict::read(&fields, Key::parse(key), sentences.len(), notes);
    let (group, entities, verdict) = (group?, entities?, verdict?);
    let story = Story {
        id: notes.story.clone(),
        group,
        actor,
        location,
        sentences,
        has_states: entities.iter().any(Entity::has_states),
        entities,
        conflict: verdict.conflict,
        kind: verdict.kind,
    };
    (notes.errors() == errors && notes.take_memory(story.memory())).then_some(story)
}

fn sentences(fields: &Fields, notes: &mut Notes) -> Option<Vec<String>> {
    let nodes = fields.required_list("sentences", notes)?;
    if nodes.is_empty() {
        notes.add(Code::NoSentences, "sentences", "the list is empty; a story needs at least one sentence");
        return None;
    }
    if nodes.len() > MAX_SENTENCES {
        let message = format!("the story has {} sentences; shorten it to at most {MAX_SENTENCES}", nodes.len());
        notes.add(Code::TooLarge, "sentences", message);
        return None;
    }
    note_length(fields, nodes.len(), notes);
    let sentences: Vec<_> =
        nodes.iter().enumerate().filter_map(|(i, node)| sentence(node, &format!("sentences[{i}]"), notes)).collect();
    (sentences.len() == nodes.len()).then_some(sentences)
}

fn sentence(node: &Node, field: &str, notes: &mut Notes) -> Option<String> {
    let Node::Text(text) = node else {
        wrong_type(field, "a string", node, notes);
        return None;
    };
    let sentence = text.trim();
    if sentence.is_empty() {
        notes.add(Code::EmptySentence, field, "is blank; it is read as it is");
    } else if sentence != text {
        notes.add(Code::PaddedSentence, field, "has outer spaces; they are trimmed");
    }
    note_garbled(sentence, field, notes);
    Some(composed(sentence))
}

fn note_length(fields: &Fields, sentences: usize, notes: &mut Notes) {
    if let Some(length) = fields.get("length")
        && *length != Node::Integer(sentences as i64)
    {
        let message =
            format!("is {}, but the story has {sentences} sentences; the sentences are used", length.excerpt());
        notes.add(Code::LengthDiffers, "length", message);
    }
}

fn note_example_id(fields: &Fields, key: &str, notes: &mut Notes) {
    let example_id = fields.description("example_id", notes);
    if !example_id.is_empty() && example_id != key {
        let message = format!("is {example_id:?}, but the key is {key:?}; the key is used");
        notes.add(Code::ExampleIdDiffers, "example_id", message);
    }
}

/// `story_id`; if it is missing, the number in the key.
fn group(fields: &Fields, key: Key, notes: &mut Notes) -> Option<i64> {
    match (fields.get("story_id"), key.group) {
        (Some(Node::Integer(group)), number) => {
            if number.is_some_and(|number| number != *group) {
                let message = format!("is {group}, which is not the number in the key; {group} is used");
                notes.add(Code::GroupDiffers, "story_id", message);
            }
            Some(*group)
        }
        (Some(other), _) => {
            wrong_type("story_id", "an integer", other, notes);
            None
        }
        (None, Some(number)) => {
            notes.add(
                Code::AssumedField,
                "story_id",
                format!("`story_id` is missing; it is read as {number}, from the key"),
            );
            Some(number)
        }
        (None, None) => {
            notes.add(Code::MissingField, "story_id", "`story_id` is missing; add the number of the plausible story");
            None
        }
    }
}
