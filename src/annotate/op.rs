//! What an annotator does: the operations of an edit, as the page sends them, undo and redo.

use super::change::{EntityId, SentenceId};
use crate::attribute::Attribute;
use crate::data::Kind;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An operation on the story of an edit.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// Makes a plausible story, in a group of its own.
    AddStory {
        /// May be blank as long as the story is being written.
        sentences: Vec<String>,
    },
    /// Makes a cloze version (`sentence` gets a new `text`) or an order version (the two sentences of `swap` change
    /// places) of the plausible story.
    Version {
        /// Which of the two.
        kind: Kind,
        /// Of a cloze version: the sentence that is replaced.
        sentence: Option<SentenceId>,
        /// Of a cloze version: what stands in its place.
        text: Option<String>,
        /// Of an order version.
        swap: Option<[SentenceId; 2]>,
    },
    /// Removes the story; a plausible one with its versions.
    RemoveStory,
    /// Corrects a sentence in all stories that have it. Its labels stay.
    Text {
        /// Which one.
        sentence: SentenceId,
        /// The new text.
        text: String,
    },
    /// Puts a new sentence without labels into the place of another, in a version.
    Replace {
        /// The one that goes.
        sentence: SentenceId,
        /// The text of the new one.
        text: String,
    },
    /// Inserts a new sentence; in a plausible story, into its versions too.
    Insert {
        /// The sentence before it; `None` for the beginning.
        after: Option<SentenceId>,
        /// Its text.
        text: String,
    },
    /// Removes a sentence; from a plausible story, from its versions too.
    Remove {
        /// Which one.
        sentence: SentenceId,
    },
    /// Moves a sentence, in this story only.
    Move {
        /// Which one.
        sentence: SentenceId,
        /// The sentence before its new place; `None` for the beginning.
        after: Option<SentenceId>,
    },
    /// Lets two sentences change places, in this story only.
    Swap {
        /// Which ones.
        sentences: [SentenceId; 2],
    },
    /// Gives a version a copy of its own of a sentence that it shares, with its labels in every pass.
    Own {
        /// Which one.
        sentence: SentenceId,
    },
    /// Adds an entity to the story; to a plausible story, also to its versions.
    Entity {
        /// As it is to stand in the story file.
        name: String,
        /// Whether it is a person; a thing if it is not said.
        #[serde(default)]
        person: bool,
    },
    /// Renames an entity in all stories of the group.
    Rename {
        /// Which one.
        entity: EntityId,
        /// Its new name.
        name: String,
    },
    /// Says whether an entity is a person or a thing.
    Kind {
        /// Which one.
        entity: EntityId,
        /// Whether it is a person.
        person: bool,
    },
    /// Takes an entity out of the story; out of a plausible story, and of its versions too. Its labels come back with it.
    Drop {
        /// Which one.
        entity: EntityId,
    },
    /// Says who the actor is, by id or by name; neither: nobody.
    Actor {
        /// An entity of the story.
        entity: Option<EntityId>,
        /// The name of one.
        name: Option<String>,
    },
    /// Says where the stories of the group take place.
    Location {
        /// Such as the kitchen.
        text: String,
    },
    /// Labels an entity in a sentence.
    Labels {
        /// Which entity.
        entity: EntityId,
        /// In which sentence.
        sentence: SentenceId,
        /// Attribute -> label; `None` removes a label.
        values: BTreeMap<Attribute, Option<u8>>,
    },
    /// Marks the two sentences in conflict, or takes the mark away. Which of them is the breakpoint is decided by their
    /// order in the story.
    Conflict {
        /// One of them.
        evidence: Option<SentenceId>,
        /// The other one.
        breakpoint: Option<SentenceId>,
    },
    /// Says whether the annotator has finished the story.
    Done {
        /// Whether it is so.
        done: bool,
    },
}

/// Back or forth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Takes an edit back.
    Undo,
    /// Makes an edit again that was taken back.
    Redo,
}

impl Direction {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Undo => "undo",
            Direction::Redo => "redo",
        }
    }
}
