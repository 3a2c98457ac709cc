//! What the page shows: the project as a list, and one story with everything about it.

use super::change::{EntityId, MarkedConflict, SentenceId};
use super::group::{Draft, Group};
use super::hint::{Hint, count_hints, hints};
use super::mention::Mentions;
use super::message::InWords;
use super::op::Direction;
use super::project::Project;
use super::record::conflict;
use super::refusal::EditRefusal;
use crate::attribute::Attribute;
use crate::data::Kind;
use crate::entities::{find, normalized};
use crate::language::Language;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A project as a list of its stories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProjectView {
    /// [`Project::id`].
    pub project: String,
    /// The number of edits so far.
    pub revision: u64,
    /// The pass that is shown.
    pub pass: String,
    /// By group, the plausible story first.
    pub stories: Vec<StoryLine>,
}

/// A story in the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // their names say it
pub struct StoryLine {
    pub story: String,
    pub group: i64,
    pub kind: Option<Kind>,
    /// The first sentence.
    pub first: String,
    /// How many there are.
    pub sentences: usize,
    pub language: Language,
    /// Pairs of an entity and a sentence.
    pub cells: usize,
    /// Those that have a label in this pass.
    pub labelled: usize,
    pub has_conflict: bool,
    pub done: bool,
    /// How many there are.
    pub hints: usize,
}

/// A story with everything about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // their names say it
pub struct AnnotatedStory {
    pub revision: u64,
    pub story: String,
    pub group: i64,
    pub kind: Option<Kind>,
    /// The key of the plausible story.
    pub plausible: String,
    /// The keys of its versions.
    pub versions: Vec<String>,
    pub language: Language,
    pub actor: Option<EntityId>,
    pub location: String,
    pub sentences: Vec<AnnotatedSentence>,
    pub entities: Vec<EntityView>,
    /// Of this pass.
    pub labels: Vec<AnnotatedCell>,
    /// `None` too if a marked sentence is not in the story any more.
    pub conflict: Option<MarkedConflict>,
    pub done: bool,
    pub hints: Vec<Hint>,
    pub proposed: Proposed,
    /// What the annotator would undo next.
    pub undo: Option<String>,
    /// What the annotator would redo next.
    pub redo: Option<String>,
}

/// A sentence of a story.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // their names say it
pub struct AnnotatedSentence {
    pub id: SentenceId,
    pub text: String,
    /// The other stories of the group that have it.
    pub r#in: Vec<String>,
}

/// An entity of a story.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // their names say it
pub struct EntityView {
    pub id: EntityId,
    pub name: String,
    pub person: bool,
    /// The sentences that name it.
    pub mentioned: Vec<SentenceId>,
}

/// The labels of an entity in a sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // their names say it
pub struct AnnotatedCell {
    pub entity: EntityId,
    pub sentence: SentenceId,
    pub values: BTreeMap<Attribute, u8>,
}

/// What is found in the sentences and not yet in the story.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs)] // their names say it
pub struct Proposed {
    pub entities: Vec<ProposedEntity>,
    /// Who seems to be the actor, if nobody is yet.
    pub actor: Option<String>,
}

/// An entity that is found in the sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // their names say it
pub struct ProposedEntity {
    pub name: String,
    pub person: bool,
}

impl Project {
    /// The list of all stories.
    pub fn view(&self, pass: &str) -> ProjectView {
        let stories = self.stories.groups.iter().flat_map(|(&number, group)| {
            let lines = group.present().zip(self.hint_counts(number, group, pass));
            lines.map(move |((key, draft), hints)| line(group, number, key, draft, pass, hints))
        });
        ProjectView {
            project: self.id().to_owned(),
            revision: self.revision(),
            pass: pass.to_owned(),
            stories: stories.collect(),
        }
    }

    /// How many hints each story of a group has. They are counted anew if the group changed.
    fn hint_counts(&self, number: i64, group: &Group, pass: &str) -> Vec<usize> {
        let revision = self.history.last_of(number);
        let mut counted = self.counted.borrow_mut();
        let (counted_at, counts) = counted.entry((number, pass.to_owned())).or_default();
        if *counted_at != revision {
            (*counted_at, *counts) = (revision, count_hints(group, number, pass));
        }
        counts.clone()
    }

    /// A story as `who` sees it in a pass; what is said about it is in a language.
    ///
    /// # Errors
    /// `gone` if there is no such story.
    pub fn story(&self, key: &str, pass: &str, who: &str, language: Language) -> Result<AnnotatedStory, EditRefusal> {
        let number = self.stories.number_of(key)?;
        let group = &self.stories.groups[&number];
        let draft = &group.stories[key];
        let keys = |is_plausible: bool| {
            let wanted = move |(_, draft): &(&str, &Draft)| draft.kind.is_none() == is_plausible;
            group.present().filter(wanted).map(|(key, _)| key.to_owned())
        };
        let next = |direction| self.history.next(who, pass, direction).map(|edit| edit.deed.words(language));
        let answers = group.answers(pass);
        Ok(AnnotatedStory {
            revision: self.revision(),
            story: key.to_owned(),
            group: number,
            kind: draft.kind,
            plausible: keys(true).next().unwrap_or_default(),
            versions: keys(false).collect(),
            language: Language::of(group.sentences_of(draft)),
            actor: group.actor.filter(|actor| draft.entities.contains(actor)),
            location: group.location.clone(),
            sentences: sentences(group, key, draft),
            entities: entities(group, draft),
            labels: labels(group, draft, pass),
            conflict: conflict(draft, answers, key).and_then(|_| answers.conflicts.get(key).copied()),
            done: answers.done.contains(key),
            hints: hints(group, number, key, pass, language),
            proposed: proposed(group, draft),
            undo: next(Direction::Undo),
            redo: next(Direction::Redo),
        })
    }
}

fn line(group: &Group, number: i64, key: &str, draft: &Draft, pass: &str, hints: usize) -> StoryLine {
    let answers = group.answers(pass);
    let sentences = group.sentences_of(draft);
    let entities: Vec<_> = group.entities_of(draft).map(|(entity, _)| entity).collect();
    let cells = draft.sentences.iter().flat_map(|&sentence| entities.iter().map(move |&entity| (entity, sentence)));
    StoryLine {
        story: key.to_owned(),
        group: number,
        kind: draft.kind,
        first: sentences.first().cloned().unwrap_or_default(),
        sentences: sentences.len(),
        language: Language::of(&sentences),
        cells: entities.len() * sentences.len(),
        labelled: cells.filter(|&(entity, sentence)| answers.is_annotated(entity, sentence)).count(),
        has_conflict: conflict(draft, answers, key).is_some(),
        done: answers.done.contains(key),
        hints,
    }
}

fn sentences(group: &Group, key: &str, draft: &Draft) -> Vec<AnnotatedSentence> {
    let others = |id| {
        let has = |(other, draft): &(&str, &Draft)| *other != key && draft.sentences.contains(&id);
        group.present().filter(has).map(|(key, _)| key.to_owned()).collect()
    };
    let view = |&id| AnnotatedSentence { id, text: group.text(id).to_owned(), r#in: others(id) };
    draft.sentences.iter().map(view).collect()
}

fn entities(group: &Group, draft: &Draft) -> Vec<EntityView> {
    let mentions = Mentions::of(group, draft);
    let named = |entity| {
        let names = |&(position, _): &(usize, &SentenceId)| mentions.contains(position, entity);
        draft.sentences.iter().enumerate().filter(names).map(|(_, &sentence)| sentence).collect()
    };
    let view = |(id, is): (EntityId, &super::change::EntityText)| EntityView {
        id,
        name: is.name.clone(),
        person: is.person,
        mentioned: named(id),
    };
    group.entities_of(draft).map(view).collect()
}

fn labels(group: &Group, draft: &Draft, pass: &str) -> Vec<AnnotatedCell> {
    let answers = group.answers(pass);
    let mut cells = Vec::new();
    for &sentence in &draft.sentences {
        for (entity, _) in group.entities_of(draft).filter(|&(entity, _)| answers.is_annotated(entity, sentence)) {
            let labels = answers.labels(entity, sentence);
            let values =
                Attribute::ALL.into_iter().filter_map(|attribute| Some((attribute, labels[attribute.index()]?)));
            cells.push(AnnotatedCell { entity, sentence, values: values.collect() });
        }
    }
    cells
}

fn proposed(group: &Group, draft: &Draft) -> Proposed {
    let sentences = group.sentences_of(draft);
    let found = find(&sentences, Language::of(&sentences));
    let actor = found.iter().find(|name| name.chars().next().is_some_and(char::is_uppercase)).cloned();
    let known: BTreeSet<_> = group.entities_of(draft).map(|(_, is)| normalized(&is.name)).collect();
    let entities = found.into_iter().filter(|name| !known.contains(&normalized(name)));
    let entities = entities.map(|name| ProposedEntity { person: Some(&name) == actor.as_ref(), name }).collect();
    Proposed { entities, actor: actor.filter(|_| group.actor.is_none()) }
}
