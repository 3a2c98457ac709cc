//! Predictions about a single story.

use super::StoryPrediction;

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
    pub story: StoryPrediction,
}

impl StoryJudgement {
    /// Tier 1: the story is judged plausible if it is plausible, and implausible if it is implausible.
    pub fn is_accurate(&self) -> bool {
        self.conflict.is_empty() == self.gold_conflict.is_none()
    }

    /// Tier 2, of implausible stories: the sentences in conflict are exactly the gold ones.
    pub fn is_consistent(&self) -> bool {
        self.gold_conflict.is_some_and(|gold| self.conflict == gold)
    }

    /// Tier 3: consistent, and at least one nontrivial state is predicted at the conflict, all of them correct.
    pub fn is_verifiable(&self) -> bool {
        self.is_consistent() && self.gold_conflict.is_some_and(|gold| self.story.explains(gold))
    }
}
