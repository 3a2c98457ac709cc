//! What was said about one story by itself.

use super::StoryPrediction;

/// A story judged without the other one of its pair, and what is so.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryJudgement {
    /// "plausible", "cloze" or "order".
    pub kind: String,
    /// Gold: evidence and breakpoint; `None` for a plausible story.
    pub gold_conflict: Option<[usize; 2]>,
    /// The sentences said to conflict; none if the story was judged plausible.
    pub conflict: Vec<usize>,
    pub story: StoryPrediction,
}

impl StoryJudgement {
    /// Tier 1: judged plausible if it is, implausible if it is.
    pub fn is_accurate(&self) -> bool {
        self.conflict.is_empty() == self.gold_conflict.is_none()
    }

    /// Tier 2, of implausible stories: the sentences in conflict are exactly the gold ones.
    pub fn is_consistent(&self) -> bool {
        self.gold_conflict.is_some_and(|gold| self.conflict == gold)
    }

    /// Tier 3: consistent, and at least one nontrivial state is asserted at the conflict, all of them correct.
    pub fn is_verifiable(&self) -> bool {
        self.is_consistent() && self.gold_conflict.is_some_and(|gold| self.story.explains(gold))
    }
}
