//! What a change sets and what an edit did, as values that can be put into words: for undo, for the journal and for
//! clashes.

use super::change::{Change, EntityId, SentenceId};
use super::group::Group;
use super::history::History;
use super::journal::EditEntry;
use super::message::{Deed, InWords, Made, NamedField};
use super::op::Direction;

/// `story` is the one in which sentences are counted.
pub(super) fn describe(change: &Change, group: &Group, story: &str) -> NamedField {
    let entity = |id: &EntityId| group.entity(*id).map(|entity| entity.name.clone());
    let sentence = |id: &SentenceId| {
        let position = group.stories.get(story).and_then(|draft| draft.sentences.iter().position(|other| other == id));
        position.map(|position| position + 1)
    };
    match change {
        Change::Story { story, .. } => NamedField::Story(story.clone()),
        Change::Order { story, .. } => NamedField::Sentences(story.clone()),
        Change::Member { entity: id, .. } | Change::Entity { entity: id, .. } => NamedField::Entity(entity(id)),
        Change::Text { sentence: id, .. } => NamedField::Text(sentence(id)),
        Change::Actor { .. } => NamedField::Actor,
        Change::Location { .. } => NamedField::Location,
        Change::Label { entity: of, sentence: id, attribute, .. } => {
            NamedField::Label { attribute: *attribute, entity: entity(of), sentence: sentence(id) }
        }
        Change::Conflict { story, .. } => NamedField::Conflict(story.clone()),
        Change::Done { story, .. } => NamedField::Done(story.clone()),
        Change::InPass { pass, .. } => NamedField::Pass(pass.clone()),
    }
}

/// What moves in another pass is nobody's business in this one.
pub(super) fn describe_all(changes: &[Change], group: &Group, story: &str) -> Deed {
    let mut changes = changes.iter().filter(|change| !matches!(change, Change::InPass { .. }));
    let first = changes.next().map(|first| describe(first, group, story));
    Deed { direction: None, made: Made::Changes { first, more: changes.count() } }
}

/// What an edit of the journal did. The group is as the edit left it.
pub(super) fn deed(entry: &EditEntry, group: &Group, history: &History) -> Deed {
    let of = |direction, revision| {
        let made = history.edit(revision)?.deed.made.clone();
        Some(Deed { direction: Some(direction), made })
    };
    let undone = entry.undoes.and_then(|revision| of(Direction::Undo, revision));
    let redone = || entry.redoes.and_then(|revision| of(Direction::Redo, revision));
    let imported = || {
        let made = Made::Import { story: entry.story.clone() };
        // The journal says it nowhere else.
        (entry.what == made.english()).then_some(Deed { direction: None, made })
    };
    let told = undone.or_else(redone).or_else(imported);
    told.unwrap_or_else(|| describe_all(&entry.changes, group, &entry.story))
}
