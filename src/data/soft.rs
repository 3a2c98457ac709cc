//! Soft labels: a teacher's probabilities for a pair, which a model learns in place of the gold answers (Hinton et al., 2015).

use crate::attribute::SIDE_CLASSES;

/// A teacher's probabilities for a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftLabels {
    /// That each story is the plausible one.
    pub plausible: [f32; 2],
    /// Of each story, in the pair's order.
    pub stories: [SoftStory; 2],
}

/// A teacher's probabilities for one story.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftStory {
    /// `[N][N]` that the pair's conflict is in this story, between sentences i < j.
    pub sentence_pairs: Vec<Vec<f32>>,
    /// `[N][N]` the same for the story by itself; what is missing from 1 is the probability of no conflict. `None` if the
    /// teacher does not judge single stories.
    pub single_story: Option<Vec<Vec<f32>>>,
    /// `[E][N]` in the order of the story's entities.
    pub cells: Vec<Vec<SoftCell>>,
}

/// A teacher's probabilities for an entity and a sentence, by column of the 66.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftCell {
    /// Of each class before the sentence.
    pub preconditions: [f32; SIDE_CLASSES],
    /// Of each class after it.
    pub effects: [f32; SIDE_CLASSES],
}
