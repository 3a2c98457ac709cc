//! What the stories of a split must know of each other.

use super::story::{Kind, Story};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Little, so that a split may have very many stories.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoryFacts {
    pub group: i64,
    pub kind: Option<Kind>,
    pub is_implausible: bool,
    /// [`Story::memory`]
    pub memory: usize,
    /// A hash of the sentences in their order.
    pub sentences: u64,
    /// A hash of the sentences in any order.
    pub sentence_set: u64,
}

impl StoryFacts {
    pub fn of(story: &Story) -> Self {
        let hash = |sentences: &[&String]| {
            let mut hash = DefaultHasher::new();
            sentences.hash(&mut hash);
            hash.finish()
        };
        let mut sentences: Vec<&String> = story.sentences.iter().collect();
        let in_order = hash(&sentences);
        sentences.sort_unstable();
        StoryFacts {
            group: story.group,
            kind: story.kind,
            is_implausible: story.conflict.is_some(),
            memory: story.memory(),
            sentences: in_order,
            sentence_set: hash(&sentences),
        }
    }
}
