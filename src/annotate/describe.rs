//! Changes in words, for undo, for the journal and for clashes.

use super::change::{Change, EntityId, SentenceId};
use super::group::Group;

/// "label open of "fridge" in sentence 2". `story` is the one in which sentences are counted, from 1.
pub(super) fn describe(change: &Change, group: &Group, story: &str) -> String {
    let entity = |id: &EntityId| match group.entity(*id) {
        Some(entity) => format!("{:?}", entity.name),
        None => "an entity".into(),
    };
    let sentence = |id: &SentenceId| {
        let position = group.stories.get(story).and_then(|draft| draft.sentences.iter().position(|other| other == id));
        position.map_or("a sentence".into(), |position| format!("sentence {}", position + 1))
    };
    match change {
        Change::Story { story, .. } => format!("story {story}"),
        Change::Order { story, .. } => format!("the sentences of story {story}"),
        Change::Member { entity: id, .. } | Change::Entity { entity: id, .. } => format!("entity {}", entity(id)),
        Change::Text { sentence: id, .. } => format!("the text of {}", sentence(id)),
        Change::Actor { .. } => "the actor".into(),
        Change::Location { .. } => "the location of the stories".into(),
        Change::Label { entity: of, sentence: id, attribute, .. } => {
            format!("label {attribute} of {} in {}", entity(of), sentence(id))
        }
        Change::Conflict { story, .. } => format!("the conflict of story {story}"),
        Change::Done { story, .. } => format!("whether story {story} is done"),
        Change::InPass { pass, .. } => format!("answers in the pass {pass:?}"),
    }
}

/// The first of the changes, and how many more there are. What moves in another pass is nobody's business in this one.
pub(super) fn describe_all(changes: &[Change], group: &Group, story: &str) -> String {
    let mut changes = changes.iter().filter(|change| !matches!(change, Change::InPass { .. }));
    let first = changes.next().map_or("nothing".into(), |first| describe(first, group, story));
    match changes.count() {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}
