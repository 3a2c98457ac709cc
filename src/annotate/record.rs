//! A story of a project as an object of a story file.

use super::change::{EntityId, EntityText};
use super::group::{Answers, Draft, Group, Labels};
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::Kind;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// Whose habits a story file follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoryFormat {
    /// A sentence has the entities that are annotated in it.
    #[default]
    Trip,
    /// A sentence has all entities of the story; those that are not annotated in it have 0 throughout.
    Gita,
}

/// The fields of a story file.
#[derive(Serialize)]
pub(super) struct Record<'a> {
    story_id: i64,
    worker_id: &'static str,
    r#type: Option<Kind>,
    idx: Option<u64>,
    aug: bool,
    actor: &'a str,
    location: &'a str,
    objects: String,
    sentences: Vec<String>,
    length: usize,
    example_id: &'a str,
    plausible: bool,
    breakpoint: i64,
    confl_sents: Vec<usize>,
    confl_pairs: Vec<[usize; 2]>,
    /// The names of the entities; only of a story without labels, which has them nowhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    entities: Option<Vec<&'a str>>,
    states: Vec<Row<'a>>,
}

/// The labels of a sentence.
struct Row<'a>(Vec<(&'a str, Labels)>);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for attribute in Attribute::ALL {
            let labelled = self.0.iter().filter_map(|(name, labels)| Some((name, labels[attribute.index()]?)));
            let entities: Vec<_> = labelled.collect();
            if !entities.is_empty() {
                map.serialize_entry(attribute.name(), &entities)?;
            }
        }
        map.end()
    }
}

/// The labels of an annotated cell as they are exported: an attribute of the entity's kind that has none has its default.
pub(super) fn filled(labels: &Labels, person: bool) -> Labels {
    Attribute::ALL.map(|attribute| {
        let default = (attribute.is_human() == person).then(|| attribute.default_label());
        labels[attribute.index()].or(default)
    })
}

/// What an entity has in a sentence in which it is not annotated, in the format of GITA.
fn zeros(person: bool) -> Labels {
    Attribute::ALL.map(|attribute| (attribute.is_human() == person).then_some(0))
}

/// The positions of the evidence and the breakpoint, if both sentences are in the story.
pub(super) fn conflict(draft: &Draft, answers: &Answers, key: &str) -> Option<(usize, usize)> {
    let marked = answers.conflicts.get(key)?;
    let position = |id| draft.sentences.iter().position(|&sentence| sentence == id);
    Some((position(marked.evidence)?, position(marked.breakpoint)?))
}

/// The story as it is, complete or not.
pub(super) fn record<'a>(
    group: &'a Group,
    number: i64,
    key: &'a str,
    draft: &'a Draft,
    pass: &str,
    format: StoryFormat,
) -> Record<'a> {
    let answers = group.answers(pass);
    let entities: Vec<_> = group.entities_of(draft).collect();
    let is_annotated = |&sentence| entities.iter().any(|&(entity, _)| answers.is_annotated(entity, sentence));
    let has_labels = draft.sentences.iter().any(is_annotated);
    let row = |&sentence| {
        let labels = |&(entity, is): &(EntityId, &'a EntityText)| {
            let labels = answers.labels(entity, sentence);
            let labels = match labels == &[None; ATTRIBUTES] {
                false => Some(filled(labels, is.person)),
                true => (has_labels && format == StoryFormat::Gita).then(|| zeros(is.person)),
            };
            Some((is.name.as_str(), labels?))
        };
        Row(entities.iter().filter_map(labels).collect())
    };
    let name = |id| group.entity(id).map_or("", |is| is.name.as_str());
    let objects = entities.iter().filter(|&&(id, _)| Some(id) != group.actor).map(|(_, is)| is.name.as_str());
    let actor = group.actor.filter(|actor| draft.entities.contains(actor));
    let conflict = conflict(draft, answers, key).filter(|_| draft.kind.is_some());
    Record {
        story_id: number,
        worker_id: "",
        r#type: draft.kind,
        idx: None,
        aug: false,
        actor: actor.map_or("", name),
        location: &group.location,
        objects: objects.collect::<Vec<_>>().join(", "),
        sentences: group.sentences_of(draft),
        length: draft.sentences.len(),
        example_id: key,
        plausible: draft.kind.is_none(),
        breakpoint: conflict.map_or(-1, |(_, breakpoint)| breakpoint as i64),
        confl_sents: conflict.map(|(evidence, _)| evidence).into_iter().collect(),
        confl_pairs: conflict.map(|(evidence, breakpoint)| [evidence, breakpoint]).into_iter().collect(),
        entities: (!has_labels).then(|| entities.iter().map(|(_, is)| is.name.as_str()).collect()),
        states: draft.sentences.iter().map(row).collect(),
    }
}
