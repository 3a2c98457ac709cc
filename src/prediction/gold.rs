//! The gold answers about a pair.

use crate::attribute::{ATTRIBUTES, Side};
use crate::data::{Entity, Pair, Story};

/// The gold answers about a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairGold {
    /// Index of the plausible story.
    pub plausible: usize,
    /// Evidence and breakpoint, 0-based.
    pub conflict: [usize; 2],
    /// In the order of [`super::PairPrediction::stories`].
    pub stories: [StoryGold; 2],
}

/// The gold labels of one story.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoryGold {
    /// In the order of [`super::StoryPrediction::entities`].
    pub entities: Vec<EntityGold>,
}

/// The gold labels of one entity; `[N]` has one item for each sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityGold {
    /// `[N]` 1 where the sentence takes part in a conflict of this entity.
    pub conflicts: Vec<u8>,
    /// `[N][20]` classes before each sentence, in the order of attributes; empty if the story has no state labels.
    pub preconditions: Vec<[u8; ATTRIBUTES]>,
    /// `[N][20]` classes after each sentence; empty if the story has no state labels.
    pub effects: Vec<[u8; ATTRIBUTES]>,
}

impl PairGold {
    /// The labels of a pair.
    pub fn of(pair: &Pair) -> Self {
        PairGold {
            plausible: pair.plausible,
            conflict: [pair.conflict.evidence, pair.conflict.breakpoint],
            stories: pair.stories.each_ref().map(StoryGold::of),
        }
    }
}

impl StoryGold {
    /// The labels of a story.
    pub fn of(story: &Story) -> Self {
        StoryGold { entities: story.entities.iter().map(|entity| EntityGold::of(story, entity)).collect() }
    }
}

impl EntityGold {
    fn of(story: &Story, entity: &Entity) -> Self {
        let target = story.conflict_target(entity);
        let in_conflict = |i: usize| target.is_some_and(|conflict| conflict.evidence == i || conflict.breakpoint == i);
        let labels = |rows: &[[u8; ATTRIBUTES]]| if story.has_states { rows.to_vec() } else { Vec::new() };
        EntityGold {
            conflicts: (0..story.sentences.len()).map(|i| in_conflict(i).into()).collect(),
            preconditions: labels(&entity.preconditions),
            effects: labels(&entity.effects),
        }
    }

    /// Its classes before or after the sentences.
    pub fn side(&self, side: Side) -> &[[u8; ATTRIBUTES]] {
        match side {
            Side::Precondition => &self.preconditions,
            Side::Effect => &self.effects,
        }
    }
}
