//! A group of stories: a plausible one and its versions. They share their sentences and entities.

use super::change::{Change, EntityId, EntityText, MarkedConflict, SentenceId};
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// The labels of an entity in a sentence; `None` where there is none.
pub type Labels = [Option<u8>; ATTRIBUTES];

/// A plausible story and its versions, with the answers of all passes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// By their keys: "3", "3-C0". Those that were removed stay, so that they can be brought back.
    pub(super) stories: BTreeMap<String, Draft>,
    pub(super) texts: BTreeMap<SentenceId, Option<String>>,
    pub(super) entities: BTreeMap<EntityId, Option<EntityText>>,
    pub(super) actor: Option<EntityId>,
    pub(super) location: String,
    /// By the name of the pass.
    pub(super) answers: BTreeMap<String, Answers>,
}

/// A story that is being written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Draft {
    pub kind: Option<Kind>,
    pub exists: bool,
    pub sentences: Vec<SentenceId>,
    pub entities: BTreeSet<EntityId>,
}

/// What a pass answers about the stories of a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Answers {
    pub labels: BTreeMap<(EntityId, SentenceId), Labels>,
    pub conflicts: BTreeMap<String, MarkedConflict>,
    pub done: BTreeSet<String>,
}

const NO_LABELS: Labels = [None; ATTRIBUTES];

static NO_ANSWERS: Answers = Answers { labels: BTreeMap::new(), conflicts: BTreeMap::new(), done: BTreeSet::new() };

impl Answers {
    pub fn labels(&self, entity: EntityId, sentence: SentenceId) -> &Labels {
        self.labels.get(&(entity, sentence)).unwrap_or(&NO_LABELS)
    }

    pub fn is_annotated(&self, entity: EntityId, sentence: SentenceId) -> bool {
        self.labels.contains_key(&(entity, sentence))
    }
}

impl Group {
    /// The answers of a pass; none if it has not begun here.
    pub(super) fn answers(&self, pass: &str) -> &Answers {
        self.answers.get(pass).unwrap_or(&NO_ANSWERS)
    }

    /// A story that was not removed. A version is there only with its plausible story.
    pub(super) fn story(&self, key: &str) -> Option<&Draft> {
        self.present().find(|(other, _)| *other == key).map(|(_, draft)| draft)
    }

    /// The stories that were not removed, the plausible one first; none without that one.
    pub(super) fn present(&self) -> impl Iterator<Item = (&str, &Draft)> {
        let is_there = |draft: &Draft| draft.exists;
        let has_plausible = self.stories.values().any(|draft| is_there(draft) && draft.kind.is_none());
        let stories = self.stories.iter().filter(move |(_, draft)| has_plausible && is_there(draft));
        stories.map(|(key, draft)| (key.as_str(), draft))
    }

    /// Empty if there is no such sentence.
    pub(super) fn text(&self, sentence: SentenceId) -> &str {
        self.texts.get(&sentence).and_then(Option::as_deref).unwrap_or_default()
    }

    pub(super) fn entity(&self, entity: EntityId) -> Option<&EntityText> {
        self.entities.get(&entity)?.as_ref()
    }

    /// The entities of a story that were not removed, in the order in which they were added.
    pub(super) fn entities_of<'g>(&'g self, draft: &'g Draft) -> impl Iterator<Item = (EntityId, &'g EntityText)> {
        draft.entities.iter().filter_map(|&entity| Some((entity, self.entity(entity)?)))
    }

    /// The entity that a change names, or takes into a story again, and its name.
    pub(super) fn named_by<'a>(&'a self, change: &'a Change) -> Option<(EntityId, &'a str)> {
        match change {
            Change::Entity { entity, is: Some(is) } => Some((*entity, &is.name)),
            Change::Member { entity, is: true, .. } => Some((*entity, &self.entities.get(entity)?.as_ref()?.name)),
            _ => None,
        }
    }

    /// Another entity of the stories with the name of the one that a change names or takes in.
    pub(super) fn namesake(&self, change: &Change) -> Option<Change> {
        let (entity, name) = self.named_by(change)?;
        let is_other = |(id, is): &(&EntityId, &Option<EntityText>)| {
            **id != entity && self.shows(**id) && is.as_ref().is_some_and(|is| is.name == *name)
        };
        self.entities.iter().find(is_other).map(|(&entity, is)| Change::Entity { entity, is: is.clone() })
    }

    /// Whether a story has the entity.
    pub(super) fn shows(&self, entity: EntityId) -> bool {
        self.present().any(|(_, draft)| draft.entities.contains(&entity))
    }

    pub(super) fn sentences_of(&self, draft: &Draft) -> Vec<String> {
        draft.sentences.iter().map(|&sentence| self.text(sentence).to_owned()).collect()
    }

    pub(super) fn next_sentence(&self) -> SentenceId {
        SentenceId(self.texts.last_key_value().map_or(1, |(last, _)| last.0 + 1))
    }

    pub(super) fn next_entity(&self) -> EntityId {
        EntityId(self.entities.last_key_value().map_or(1, |(last, _)| last.0 + 1))
    }

    /// The change that sets the field of `change` to what it has now.
    pub(super) fn current(&self, pass: &str, change: &Change) -> Change {
        let answers = self.answers(pass);
        match change.clone() {
            Change::Story { story, kind, .. } => {
                let exists = self.stories.get(&story).is_some_and(|draft| draft.exists);
                Change::Story { story, kind, exists }
            }
            Change::Order { story, .. } => {
                let sentences = self.stories.get(&story).map_or_else(Vec::new, |draft| draft.sentences.clone());
                Change::Order { story, sentences }
            }
            Change::Member { story, entity, .. } => {
                let is = self.stories.get(&story).is_some_and(|draft| draft.entities.contains(&entity));
                Change::Member { story, entity, is }
            }
            Change::Text { sentence, .. } => {
                Change::Text { sentence, text: self.texts.get(&sentence).cloned().flatten() }
            }
            Change::Entity { entity, .. } => Change::Entity { entity, is: self.entity(entity).cloned() },
            Change::Actor { .. } => Change::Actor { entity: self.actor },
            Change::Location { .. } => Change::Location { text: self.location.clone() },
            Change::Label { entity, sentence, attribute, .. } => {
                let label = answers.labels(entity, sentence)[attribute.index()];
                Change::Label { entity, sentence, attribute, label }
            }
            Change::Conflict { story, .. } => {
                let conflict = answers.conflicts.get(&story).copied();
                Change::Conflict { story, conflict }
            }
            Change::Done { story, .. } => {
                let done = answers.done.contains(&story);
                Change::Done { story, done }
            }
            Change::InPass { pass, answer } => {
                let answer = Box::new(self.current(&pass, &answer));
                Change::InPass { pass, answer }
            }
        }
    }

    /// Makes a change. Returns the one that takes it back.
    pub(super) fn apply(&mut self, pass: &str, change: &Change) -> Change {
        let before = self.current(pass, change);
        if change.is_answer() {
            let (pass, answer) = change.within(pass);
            self.answers.entry(pass.to_owned()).or_default().apply(answer);
            return before;
        }
        match change.clone() {
            Change::Story { story, kind, exists } => {
                let draft = self.stories.entry(story).or_default();
                (draft.kind, draft.exists) = (kind, exists);
            }
            Change::Order { story, sentences } => self.stories.entry(story).or_default().sentences = sentences,
            Change::Member { story, entity, is } => {
                put(&mut self.stories.entry(story).or_default().entities, entity, is);
            }
            Change::Text { sentence, text } => drop(self.texts.insert(sentence, text)),
            Change::Entity { entity, is } => drop(self.entities.insert(entity, is)),
            Change::Actor { entity } => self.actor = entity,
            Change::Location { text } => self.location = text,
            Change::Label { .. } | Change::Conflict { .. } | Change::Done { .. } | Change::InPass { .. } => {}
        }
        before
    }
}

impl Answers {
    fn apply(&mut self, change: &Change) {
        match change.clone() {
            Change::Label { entity, sentence, attribute, label } => self.label(entity, sentence, attribute, label),
            Change::Conflict { story, conflict: Some(conflict) } => drop(self.conflicts.insert(story, conflict)),
            Change::Conflict { story, conflict: None } => drop(self.conflicts.remove(&story)),
            Change::Done { story, done } => put(&mut self.done, story, done),
            _ => {}
        }
    }

    fn label(&mut self, entity: EntityId, sentence: SentenceId, attribute: Attribute, label: Option<u8>) {
        let labels = self.labels.entry((entity, sentence)).or_insert(NO_LABELS);
        labels[attribute.index()] = label;
        if *labels == NO_LABELS {
            self.labels.remove(&(entity, sentence));
        }
    }
}

fn put<T: Ord>(set: &mut BTreeSet<T>, item: T, is: bool) {
    if is {
        set.insert(item);
    } else {
        set.remove(&item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_can_be_taken_back() {
        let (story, entity, sentence) = ("1".to_owned(), EntityId(1), SentenceId(1));
        let is = Some(EntityText { name: "cup".into(), person: false });
        let conflict = Some(MarkedConflict { evidence: sentence, breakpoint: SentenceId(2) });
        let changes = [
            Change::Story { story: story.clone(), kind: None, exists: true },
            Change::Order { story: story.clone(), sentences: vec![sentence] },
            Change::Member { story: story.clone(), entity, is: true },
            Change::Text { sentence, text: Some("Rosa broke the cup.".into()) },
            Change::Entity { entity, is },
            Change::Actor { entity: Some(entity) },
            Change::Location { text: "kitchen".into() },
            Change::Label { entity, sentence, attribute: Attribute::Wet, label: Some(4) },
            Change::Conflict { story: story.clone(), conflict },
            Change::Done { story: story.clone(), done: true },
            Change::InPass { pass: "second".into(), answer: Box::new(Change::Done { story, done: true }) },
        ];
        let mut group = Group::default();
        let taken_back: Vec<_> = changes.iter().map(|change| group.apply("main", change)).collect();
        assert!(changes.iter().all(|change| group.current("main", change) == *change));
        let line = serde_json::to_string(&changes[7]).unwrap();
        assert_eq!(line, r#"{"set":"label","entity":1,"sentence":1,"attribute":"wet","label":4}"#);
        for (back, change) in taken_back.iter().zip(&changes).rev() {
            let again = serde_json::to_string(change).unwrap();
            assert_eq!(serde_json::from_str::<Change>(&again).unwrap(), *change);
            assert_eq!(group.apply("main", back), *change);
        }
        assert!(group.present().next().is_none());
        assert!(["main", "second"].iter().all(|pass| group.answers(pass) == &NO_ANSWERS));
        assert_eq!((group.next_sentence(), group.next_entity()), (SentenceId(2), EntityId(2)), "never given twice");
    }
}
