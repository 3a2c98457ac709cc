//! Stories and pairs of stories, as the rest of the crate sees them: checked and complete.

use crate::attribute::ATTRIBUTES;
use serde::{Deserialize, Serialize};

/// The classes of one side for the 20 attributes of an entity in a sentence.
pub type Classes = [u8; ATTRIBUTES];

/// How an implausible story was made from its plausible one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One sentence replaced.
    Cloze,
    /// Two sentences swapped.
    Order,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Cloze, Kind::Order];

    /// The name used in data files.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Cloze => "cloze",
            Kind::Order => "order",
        }
    }

    /// The kind of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The two sentences that conflict: the story stops making sense at `breakpoint` because of `evidence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Conflict {
    /// 0-based, before `breakpoint`.
    pub evidence: usize,
    /// 0-based.
    pub breakpoint: usize,
}

/// An entity of a story with its physical states, one item a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// As written in the file, spaces trimmed.
    pub name: String,
    /// `[N]` classes before each sentence; all 0 where the entity is not annotated.
    pub preconditions: Vec<Classes>,
    /// `[N]` classes after each sentence.
    pub effects: Vec<Classes>,
    /// `[N]` whether the sentence annotates the entity at all.
    pub annotated: Vec<bool>,
}

/// One story. Every entity has as many states as there are sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// The key in the file, which names the story ("13", "13-C0").
    pub id: String,
    /// Number of the plausible story it belongs to: stories of one group share it.
    pub group: i64,
    /// The person in the story, where the file says.
    pub actor: String,
    /// The room, where the file says.
    pub location: String,
    pub sentences: Vec<String>,
    /// Never empty; sorted by first mention in the file.
    pub entities: Vec<Entity>,
    /// `None` for a plausible story.
    pub conflict: Option<Conflict>,
    /// `None` for a plausible story.
    pub kind: Option<Kind>,
}

/// A plausible and an implausible story, in the order they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Id of the implausible story, which names the pair.
    pub id: String,
    pub group: i64,
    pub kind: Kind,
    pub stories: [Story; 2],
    /// Index (0 or 1) of the plausible story: the label of the story choice.
    pub plausible: usize,
    /// The gold conflict, in the implausible story.
    pub conflict: Conflict,
}

impl Pair {
    /// Two stories of which nobody has said anything. The label, the conflict and the kind have to hold something;
    /// what they hold is arbitrary, and a prediction made from this pair must not be scored.
    pub fn unlabelled(stories: [Story; 2]) -> Self {
        let conflict = Conflict { evidence: 0, breakpoint: 0 };
        Pair { id: stories[1].id.clone(), group: 0, kind: Kind::Cloze, stories, plausible: 0, conflict }
    }

    /// Whether states of both stories are labelled.
    pub fn has_states(&self) -> bool {
        self.stories.iter().all(Story::has_states)
    }

    pub fn plausible_story(&self) -> &Story {
        &self.stories[self.plausible]
    }

    pub fn implausible_story(&self) -> &Story {
        &self.stories[1 - self.plausible]
    }
}

impl Entity {
    /// An entity of whose states nothing is said.
    pub(super) fn unlabelled(name: String, sentences: usize) -> Self {
        let nothing = vec![[0; ATTRIBUTES]; sentences];
        Entity { name, preconditions: nothing.clone(), effects: nothing, annotated: vec![false; sentences] }
    }
}

impl Story {
    /// Whether any state of it is labelled.
    pub fn has_states(&self) -> bool {
        self.entities.iter().any(|entity| entity.annotated.contains(&true))
    }

    /// A story of which nothing is known but its sentences and what is in it: no label, no conflict.
    pub fn unlabelled(id: impl Into<String>, sentences: Vec<String>, entities: Vec<String>) -> Self {
        Story {
            id: id.into(),
            group: 0,
            actor: String::new(),
            location: String::new(),
            entities: entities.into_iter().map(|name| Entity::unlabelled(name, sentences.len())).collect(),
            sentences,
            conflict: None,
            kind: None,
        }
    }

    /// The implausible story that has these sentences of this one, in this order.
    pub fn reordered(&self, order: &[usize], conflict: Conflict) -> Self {
        fn moved<T: Clone>(items: &[T], order: &[usize]) -> Vec<T> {
            order.iter().map(|&i| items[i].clone()).collect()
        }
        let entity = |entity: &Entity| Entity {
            name: entity.name.clone(),
            preconditions: moved(&entity.preconditions, order),
            effects: moved(&entity.effects, order),
            annotated: moved(&entity.annotated, order),
        };
        Story {
            sentences: moved(&self.sentences, order),
            entities: self.entities.iter().map(entity).collect(),
            conflict: Some(conflict),
            kind: Some(Kind::Order),
            ..self.clone()
        }
    }

    /// Bytes that the story takes, nearly.
    pub(super) fn memory(&self) -> usize {
        let states = 2 * size_of::<Classes>() + size_of::<bool>();
        let entity = |entity: &Entity| size_of::<Entity>() + entity.name.len() + states * self.sentences.len();
        let sentence = |sentence: &String| size_of::<String>() + sentence.len();
        size_of::<Story>()
            + self.sentences.iter().map(sentence).sum::<usize>()
            + self.entities.iter().map(entity).sum::<usize>()
    }

    /// The sentences at which the belief "this takes part in a conflict" should be 1, for one entity: both gold
    /// sentences if the entity is annotated in either of them with a class that differs from the default
    /// (`docs/model.md`, conflict target), else none. In the published reference any annotated entity qualifies,
    /// because an entity's untouched attributes of the other kind (people's for an object) count as 0.
    pub fn conflict_target(&self, entity: &Entity) -> Option<Conflict> {
        let conflict = self.conflict?;
        (entity.annotated[conflict.evidence] || entity.annotated[conflict.breakpoint]).then_some(conflict)
    }
}
