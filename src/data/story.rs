//! Stories and pairs of stories: checked and complete.

use super::soft::SoftLabels;
use crate::attribute::{ATTRIBUTES, Attribute, AttributeSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The classes of one side, for the 20 attributes of an entity in a sentence.
pub type Classes = [u8; ATTRIBUTES];

/// How an implausible story was made from its plausible one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One sentence was replaced.
    Cloze,
    /// Two sentences were swapped.
    Order,
}

impl Kind {
    /// Both kinds, in the order of the variants.
    pub const ALL: [Kind; 2] = [Kind::Cloze, Kind::Order];

    /// The name used in data files.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Cloze => "cloze",
            Kind::Order => "order",
        }
    }

    /// The kind with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The two sentences in conflict: because of `evidence`, the story becomes impossible at `breakpoint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Conflict {
    /// 0-based, before `breakpoint`.
    pub evidence: usize,
    /// 0-based.
    pub breakpoint: usize,
}

/// An entity of a story with its physical states; every list has one item for each sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// As written in the file, spaces trimmed.
    pub name: String,
    /// `[N]` classes before each sentence; all 0 where the entity is not annotated.
    pub preconditions: Vec<Classes>,
    /// `[N]` classes after each sentence.
    pub effects: Vec<Classes>,
    /// `[N]` the attributes that are labelled in each sentence; none where the entity is not annotated.
    pub labelled: Vec<AttributeSet>,
}

/// One story. Every entity has states for every sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// The key in the file, which names the story ("13", "13-C0").
    pub id: String,
    /// Number of the plausible story. All stories of a group have it.
    pub group: i64,
    /// The person in the story, if the file names one.
    pub actor: String,
    /// The location of the story, such as the kitchen, if the file names one.
    pub location: String,
    /// N of them, in the order in which they are told; outer spaces are trimmed.
    pub sentences: Vec<String>,
    /// Never empty; sorted by first mention in the file.
    pub entities: Vec<Entity>,
    /// Whether the file labels states of the story. If other entities are found in it, perhaps none of them has any.
    pub has_states: bool,
    /// `None` for a plausible story.
    pub conflict: Option<Conflict>,
    /// `None` for a plausible story.
    pub kind: Option<Kind>,
}

/// A plausible and an implausible story, in the order in which they are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Id of the implausible story, which names the pair.
    pub id: String,
    /// Number of the plausible story: pairs with the same number form a story group.
    pub group: i64,
    /// How the implausible story was made.
    pub kind: Kind,
    /// Which of the two is plausible is in `plausible`.
    pub stories: [Story; 2],
    /// Index (0 or 1) of the plausible story: the gold answer of the story choice.
    pub plausible: usize,
    /// The gold conflict, in the implausible story.
    pub conflict: Conflict,
    /// What a teacher says of the pair: it is learned in place of the gold answers.
    pub soft: Option<Arc<SoftLabels>>,
}

impl Pair {
    /// A pair of two stories without labels. Its label, conflict and kind are arbitrary, because the fields must hold
    /// something. A prediction from such a pair must not be scored.
    pub fn unlabelled(stories: [Story; 2]) -> Self {
        let conflict = Conflict { evidence: 0, breakpoint: 0 };
        Pair { id: stories[1].id.clone(), group: 0, kind: Kind::Cloze, stories, plausible: 0, conflict, soft: None }
    }

    /// Whether both stories have state labels.
    pub fn has_states(&self) -> bool {
        self.stories.iter().all(|story| story.has_states)
    }

    /// The plausible story by the gold label.
    pub fn plausible_story(&self) -> &Story {
        &self.stories[self.plausible]
    }

    /// The implausible story by the gold label: the one with the conflict.
    pub fn implausible_story(&self) -> &Story {
        &self.stories[1 - self.plausible]
    }
}

impl Entity {
    /// An entity without state labels.
    pub(super) fn unlabelled(name: String, sentences: usize) -> Self {
        let nothing = vec![[0; ATTRIBUTES]; sentences];
        Entity {
            name,
            preconditions: nothing.clone(),
            effects: nothing,
            labelled: vec![AttributeSet::default(); sentences],
        }
    }

    /// Whether the entity has a label in any sentence.
    pub(super) fn has_states(&self) -> bool {
        self.labelled.iter().any(|labelled| !labelled.is_empty())
    }

    /// Whether the entity has a label in the sentence.
    pub fn is_annotated(&self, sentence: usize) -> bool {
        !self.labelled[sentence].is_empty()
    }

    /// The annotator's label; `None` where there is none.
    pub fn label(&self, sentence: usize, attribute: Attribute) -> Option<u8> {
        let class = |side: &[Classes]| side[sentence][attribute.index()];
        let is_labelled = self.labelled[sentence].contains(attribute);
        is_labelled.then(|| attribute.join(class(&self.preconditions), class(&self.effects)))
    }
}

impl Story {
    /// A story of which only the sentences and the entities are known: no labels, no conflict.
    pub fn unlabelled(id: impl Into<String>, sentences: Vec<String>, entities: Vec<String>) -> Self {
        Story {
            id: id.into(),
            group: 0,
            actor: String::new(),
            location: String::new(),
            entities: entities.into_iter().map(|name| Entity::unlabelled(name, sentences.len())).collect(),
            has_states: false,
            sentences,
            conflict: None,
            kind: None,
        }
    }

    /// The story without one of its sentences. It has no state labels and no conflict any more.
    pub fn without_sentence(&self, sentence: usize) -> Self {
        let mut sentences = self.sentences.clone();
        sentences.remove(sentence);
        let unlabelled = |entity: &Entity| Entity::unlabelled(entity.name.clone(), sentences.len());
        let entities = self.entities.iter().map(unlabelled).collect();
        Story { sentences, entities, has_states: false, conflict: None, kind: None, ..self.clone() }
    }

    /// The implausible story with the sentences of this one in this order.
    pub fn reordered(&self, order: &[usize], conflict: Conflict) -> Self {
        fn moved<T: Clone>(items: &[T], order: &[usize]) -> Vec<T> {
            order.iter().map(|&i| items[i].clone()).collect()
        }
        let entity = |entity: &Entity| Entity {
            name: entity.name.clone(),
            preconditions: moved(&entity.preconditions, order),
            effects: moved(&entity.effects, order),
            labelled: moved(&entity.labelled, order),
        };
        Story {
            sentences: moved(&self.sentences, order),
            entities: self.entities.iter().map(entity).collect(),
            conflict: Some(conflict),
            kind: Some(Kind::Order),
            ..self.clone()
        }
    }

    /// About how many bytes of memory the story takes.
    pub(super) fn memory(&self) -> usize {
        let states = 2 * size_of::<Classes>() + size_of::<AttributeSet>();
        let entity = |entity: &Entity| size_of::<Entity>() + entity.name.len() + states * self.sentences.len();
        let sentence = |sentence: &String| size_of::<String>() + sentence.len();
        size_of::<Story>()
            + self.sentences.iter().map(sentence).sum::<usize>()
            + self.entities.iter().map(entity).sum::<usize>()
    }

    /// The sentences in which the conflict probability should be 1 for one entity. These are both gold sentences if the
    /// entity is annotated in either of them with a class that differs from the default (`docs/model.md`, conflict
    /// target), else none. In TRIP's code any annotated entity qualifies, because there an entity's unannotated
    /// attributes of the other kind (people's for an object) count as 0.
    pub fn conflict_target(&self, entity: &Entity) -> Option<Conflict> {
        let conflict = self.conflict?;
        (entity.is_annotated(conflict.evidence) || entity.is_annotated(conflict.breakpoint)).then_some(conflict)
    }
}
