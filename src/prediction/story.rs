//! Predictions about a single story.

use super::{LabelledStory, StoryGold, StoryPrediction};

/// The judgement of a single story, with the gold answers.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryJudgement {
    /// Number of the plausible story of its pair.
    pub group: i64,
    /// "plausible", "cloze" or "order".
    pub kind: String,
    /// Gold: evidence and breakpoint; `None` for a plausible story.
    pub gold_conflict: Option<[usize; 2]>,
    /// The predicted sentences in conflict; none if the story is judged plausible.
    pub conflict: Vec<usize>,
    /// Gold: the labels of its entities.
    pub gold: StoryGold,
    /// What was predicted about this story alone.
    pub prediction: StoryPrediction,
}

impl StoryJudgement {
    /// The predictions beside the labels.
    pub fn story(&self) -> LabelledStory<'_> {
        LabelledStory { gold: &self.gold, prediction: &self.prediction }
    }
}
