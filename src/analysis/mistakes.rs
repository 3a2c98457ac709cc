//! The mistakes of highest confidence.

use crate::metrics::Tiered;
use crate::prediction::LabelledPair;
use serde::Serialize;

/// How many mistakes are listed.
pub const MISTAKES: usize = 10;

/// A pair whose story was chosen wrongly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mistake {
    /// Id of the pair: that of its implausible story.
    pub id: String,
    /// "cloze" or "order".
    pub kind: String,
    /// Probability of the wrong story, uncalibrated.
    pub confidence: f32,
    /// Sentences of the predicted conflict, from 0.
    pub conflict: Vec<usize>,
    /// Evidence and breakpoint, from 0.
    pub gold_conflict: [usize; 2],
}

/// At most [`MISTAKES`], those of highest confidence first.
pub(super) fn mistakes(predictions: &[LabelledPair]) -> Vec<Mistake> {
    let mut wrong: Vec<_> = predictions.iter().filter(|prediction| !prediction.is_accurate()).collect();
    let confidence = |pair: &LabelledPair| pair.prediction.story_probs[pair.prediction.plausible];
    wrong.sort_by(|a, b| confidence(b).total_cmp(&confidence(a)));
    let mistake = |pair: &&LabelledPair| Mistake {
        id: pair.id.clone(),
        kind: pair.kind.clone(),
        confidence: confidence(pair),
        conflict: pair.prediction.conflict.clone(),
        gold_conflict: pair.gold.conflict,
    };
    wrong.iter().take(MISTAKES).map(mistake).collect()
}
