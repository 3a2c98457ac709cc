//! Changes: what the journal has of an edit. A change sets one field of a group of stories to a value.

use crate::attribute::Attribute;
use crate::data::Kind;
use serde::{Deserialize, Serialize};

/// Names a sentence of a group, wherever it stands. It is never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SentenceId(pub u32);

/// Names an entity of a group. It is never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntityId(pub u32);

/// What an entity is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityText {
    /// Without outer spaces.
    pub name: String,
    /// Whether it has the attributes of people, else those of things.
    pub person: bool,
}

/// The two sentences in conflict, as marked by an annotator. The evidence should stand before the breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedConflict {
    /// Because of this sentence the story becomes impossible ...
    pub evidence: SentenceId,
    /// ... at this one.
    pub breakpoint: SentenceId,
}

/// Sets one field of a group. `Label`, `Conflict` and `Done` are answers: each pass has its own. The other fields are the
/// text, which all passes share. `None` stands for what is not there, or not any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "set", rename_all = "snake_case")]
#[allow(missing_docs)] // the fields say it
pub enum Change {
    /// A story is made or removed. Its `kind` never changes.
    Story {
        story: String,
        kind: Option<Kind>,
        exists: bool,
    },
    /// The sentences of a story.
    Order {
        story: String,
        sentences: Vec<SentenceId>,
    },
    /// Whether the entity is one of the story's.
    Member {
        story: String,
        entity: EntityId,
        is: bool,
    },
    Text {
        sentence: SentenceId,
        text: Option<String>,
    },
    Entity {
        entity: EntityId,
        is: Option<EntityText>,
    },
    /// The person whom the stories are about.
    Actor {
        entity: Option<EntityId>,
    },
    /// Where the stories take place.
    Location {
        text: String,
    },
    Label {
        entity: EntityId,
        sentence: SentenceId,
        attribute: Attribute,
        label: Option<u8>,
    },
    Conflict {
        story: String,
        conflict: Option<MarkedConflict>,
    },
    /// Whether the annotator has finished the story.
    Done {
        story: String,
        done: bool,
    },
    /// An answer of another pass than that of the edit: a new sentence took the place of the one that it is about.
    InPass {
        pass: String,
        answer: Box<Change>,
    },
}

/// Which field a change sets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Field {
    Story(String),
    Order(String),
    Member(String, EntityId),
    Text(SentenceId),
    Entity(EntityId),
    Actor,
    Location,
    Label(EntityId, SentenceId, Attribute),
    Conflict(String),
    Done(String),
}

impl Change {
    pub(super) fn field(&self) -> Field {
        match self {
            Change::Story { story, .. } => Field::Story(story.clone()),
            Change::Order { story, .. } => Field::Order(story.clone()),
            Change::Member { story, entity, .. } => Field::Member(story.clone(), *entity),
            Change::Text { sentence, .. } => Field::Text(*sentence),
            Change::Entity { entity, .. } => Field::Entity(*entity),
            Change::Actor { .. } => Field::Actor,
            Change::Location { .. } => Field::Location,
            Change::Label { entity, sentence, attribute, .. } => Field::Label(*entity, *sentence, *attribute),
            Change::Conflict { story, .. } => Field::Conflict(story.clone()),
            Change::Done { story, .. } => Field::Done(story.clone()),
            Change::InPass { answer, .. } => answer.field(),
        }
    }

    /// The pass in which it is set, by an edit in `pass`, and what is set there.
    pub(super) fn within<'c>(&'c self, pass: &'c str) -> (&'c str, &'c Change) {
        match self {
            Change::InPass { pass, answer } => (pass, answer),
            change => (pass, change),
        }
    }

    /// Whether it is an answer, of which every pass has its own.
    pub fn is_answer(&self) -> bool {
        use Change::{Conflict, Done, InPass, Label};
        matches!(self, Label { .. } | Conflict { .. } | Done { .. } | InPass { .. })
    }
}
