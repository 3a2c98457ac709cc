//! Stories of a story file, taken into a project.

use super::change::{Change, EntityId, EntityText, MarkedConflict, SentenceId};
use super::edit::MAX_WANTED;
use super::export::LeftOutStory;
use super::group::Labels;
use super::message::Lack;
use super::project::Project;
use super::refusal::EditRefusal;
use super::sender::Sender;
use crate::attribute::Attribute;
use crate::data::{Finding, Kind, Story, StoryFile};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What was taken from a story file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The stories, in their order.
    pub stories: Vec<ImportedStory>,
    /// Those that were not taken.
    pub left_out: Vec<LeftOutStory>,
    /// What was found in the file.
    pub findings: Vec<Finding>,
}

/// A story that was taken from a story file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedStory {
    /// Its key in the project.
    pub story: String,
    /// Its name in the file.
    pub was: String,
}

impl Project {
    /// Takes the stories of one split, or of all, with their labels as answers of the sender's pass. A group whose number
    /// is taken gets another one. Each group is an edit. An import that is sent again goes on where it was interrupted.
    ///
    /// # Errors
    /// `Data` if there is no such split; `Io`. Groups before the error were taken.
    pub fn import(&mut self, sender: Sender, file: &StoryFile, split: Option<&str>) -> Result<Imported, EditRefusal> {
        sender.check()?;
        // Its edits have numbers of their own.
        let window = format!("{}-{}", sender.window, sender.n);
        let splits: Vec<&[Story]> = match split {
            Some(split) => vec![file.split(split)?],
            None => file.splits.iter().map(|(_, stories)| stories.as_slice()).collect(),
        };
        let mut imported = Imported { findings: file.findings.clone(), ..Imported::default() };
        // Groups that give way don't take the numbers of others.
        let above = splits.iter().copied().flatten().map(|story| story.group).filter(|&group| group < MAX_WANTED);
        let above = above.max().map_or(1, |last| last + 1);
        let groups: Vec<_> = splits.iter().flat_map(|split| groups(split, &mut imported.left_out)).collect();
        for (n, members) in (1..).zip(groups) {
            let mut reader = GroupReader::default();
            match self.history.sent(&window, n).and_then(|revision| self.history.edit(revision)) {
                Some(made) => drop(reader.read(made.entry.group, &members)),
                None => {
                    let sender = Sender { window: &window, n, ..sender };
                    self.add_group(sender, members[0].group, above, |number| reader.read(number, &members))?;
                }
            }
            imported.stories.extend(
                reader
                    .keys
                    .into_iter()
                    .zip(members)
                    .map(|(story, member)| ImportedStory { story, was: member.id.clone() }),
            );
        }
        Ok(imported)
    }
}

/// The stories of a split by their groups, each with its plausible story first. Further plausible stories are groups of their
/// own.
fn groups<'s>(stories: &'s [Story], left_out: &mut Vec<LeftOutStory>) -> Vec<Vec<&'s Story>> {
    let mut groups: Vec<Vec<&Story>> = Vec::new();
    let mut places: HashMap<i64, usize> = HashMap::new();
    for story in stories.iter().filter(|story| story.kind.is_none()) {
        places.entry(story.group).or_insert(groups.len());
        groups.push(vec![story]);
    }
    for story in stories.iter().filter(|story| story.kind.is_some()) {
        match places.get(&story.group) {
            Some(&place) => groups[place].push(story),
            None => {
                left_out.push(LeftOutStory { story: story.id.clone(), why: Lack::PlausibleNotInFile });
            }
        }
    }
    groups
}

/// Turns the stories of a group into changes. Stories share a sentence if its text and all labels are the same.
#[derive(Default)]
struct GroupReader {
    changes: Vec<Change>,
    entities: BTreeMap<String, EntityId>,
    people: BTreeSet<String>,
    sentences: Vec<Known>,
    keys: Vec<String>,
}

/// A sentence, with the labels of every entity of the stories that have it.
struct Known {
    text: String,
    labels: BTreeMap<EntityId, Labels>,
}

impl GroupReader {
    fn read(&mut self, number: i64, stories: &[&Story]) -> Vec<Change> {
        self.people = stories.iter().flat_map(|story| people(story)).collect();
        for story in stories {
            let key = self.free_key(number, story.kind);
            self.keys.push(key.clone());
            self.read_story(&key, story);
        }
        // The plausible story, which is the first, may name the actor otherwise than its entity.
        let actor = stories.iter().find_map(|story| self.entities.get(&story.actor)).copied();
        if actor.is_some() {
            self.changes.push(Change::Actor { entity: actor });
        }
        self.changes.push(Change::Location { text: stories[0].location.clone() });
        for (i, Known { labels, .. }) in self.sentences.iter().enumerate() {
            for (&entity, labels) in labels {
                let labelled = Attribute::ALL.into_iter().filter(|attribute| labels[attribute.index()].is_some());
                self.changes.extend(labelled.map(|attribute| {
                    let label = labels[attribute.index()];
                    Change::Label { entity, sentence: sentence_id(i), attribute, label }
                }));
            }
        }
        std::mem::take(&mut self.changes)
    }

    fn free_key(&self, number: i64, kind: Option<Kind>) -> String {
        let letter = match kind {
            None => return number.to_string(),
            Some(Kind::Cloze) => 'C',
            Some(Kind::Order) => 'O',
        };
        let key = |i| format!("{number}-{letter}{i}");
        let used = (0..).map(key).take_while(|key| self.keys.contains(key)).count();
        key(used)
    }

    fn read_story(&mut self, key: &str, story: &Story) {
        let key = key.to_owned();
        let entities: Vec<EntityId> = story.entities.iter().map(|entity| self.entity(&entity.name)).collect();
        let mut used = BTreeSet::new();
        let mut sentences = Vec::new();
        for (n, text) in story.sentences.iter().enumerate() {
            let labels = |entity: &crate::data::Entity| Attribute::ALL.map(|attribute| entity.label(n, attribute));
            let labels = entities.iter().copied().zip(story.entities.iter().map(labels)).collect();
            let known = self.sentence(text, labels, &used);
            used.insert(known);
            sentences.push(known);
        }
        self.changes.push(Change::Story { story: key.clone(), kind: story.kind, exists: true });
        self.changes.push(Change::Order { story: key.clone(), sentences: sentences.clone() });
        let is_member = |&entity: &EntityId| Change::Member { story: key.clone(), entity, is: true };
        self.changes.extend(entities.iter().map(is_member));
        if let Some(conflict) = story.conflict {
            let (evidence, breakpoint) = (sentences[conflict.evidence], sentences[conflict.breakpoint]);
            let conflict = Some(MarkedConflict { evidence, breakpoint });
            self.changes.push(Change::Conflict { story: key, conflict });
        }
    }

    fn entity(&mut self, name: &str) -> EntityId {
        if let Some(&entity) = self.entities.get(name) {
            return entity;
        }
        let entity = EntityId(self.entities.len() as u32 + 1);
        let person = self.people.contains(name);
        self.changes.push(Change::Entity { entity, is: Some(EntityText { name: name.to_owned(), person }) });
        self.entities.insert(name.to_owned(), entity);
        entity
    }

    /// The sentence with this text whose labels are the same, for the entities of both stories; else a new one.
    fn sentence(&mut self, text: &str, labels: BTreeMap<EntityId, Labels>, used: &BTreeSet<SentenceId>) -> SentenceId {
        let is_same = |known: &Known| {
            let alike = |(entity, labels)| known.labels.get(entity).is_none_or(|known| known == labels);
            known.text == text && labels.iter().all(alike)
        };
        let known = (0..self.sentences.len()).find(|&i| !used.contains(&sentence_id(i)) && is_same(&self.sentences[i]));
        match known {
            Some(i) => {
                self.sentences[i].labels.extend(labels);
                sentence_id(i)
            }
            None => {
                let sentence = sentence_id(self.sentences.len());
                self.changes.push(Change::Text { sentence, text: Some(text.to_owned()) });
                self.sentences.push(Known { text: text.to_owned(), labels });
                sentence
            }
        }
    }
}

/// The actor, and whoever has a label that only people have.
fn people(story: &Story) -> impl Iterator<Item = String> {
    let is_human = |attribute: &Attribute| attribute.is_human();
    let labelled = story.entities.iter().filter(move |entity| {
        entity.labelled.iter().any(|labelled| Attribute::ALL.into_iter().filter(is_human).any(|a| labelled.contains(a)))
    });
    labelled.map(|entity| entity.name.clone()).chain([story.actor.clone()])
}

fn sentence_id(index: usize) -> SentenceId {
    SentenceId(index as u32 + 1)
}
