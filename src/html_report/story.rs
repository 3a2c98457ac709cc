//! One story of a pair, as the page shows it.

use super::difference::TextPart;
use super::reasons::{ReasonsView, StateRow, reasons, rows};
use crate::language::Language;
use crate::prediction::{LabelledPair, StoryPrediction};

pub struct StoryView {
    /// 1 or 2.
    pub number: usize,
    pub is_plausible: bool,
    pub is_chosen: bool,
    pub sentences: Vec<SentenceView>,
    /// By sentence and entity.
    pub states: Vec<StateRow>,
    /// Conflict probabilities of sentence pairs: rows are the first sentence, columns the second, from sentence 2.
    /// Empty if the system has no such probabilities.
    pub grid: Vec<Vec<Option<CellView>>>,
}

pub struct SentenceView {
    /// From 1.
    pub number: usize,
    pub parts: Vec<TextPart>,
    /// Whether it is in the gold conflict.
    pub is_gold: bool,
    /// Whether it is in the predicted conflict.
    pub is_predicted: bool,
    /// Percent.
    pub conflict_prob: String,
    pub reasons: Vec<ReasonsView>,
}

pub struct CellView {
    pub percent: String,
    pub is_gold: bool,
    pub is_predicted: bool,
}

impl SentenceView {
    pub fn differs(&self) -> bool {
        self.parts.iter().any(|part| part.differs)
    }
}

impl StoryView {
    /// `predicted` are the sentences of this story in the predicted conflict.
    pub fn new(
        s: usize,
        pair: &LabelledPair,
        predicted: &[usize],
        parts: Vec<Vec<TextPart>>,
        language: Language,
    ) -> Self {
        let labelled = pair.stories()[s];
        let story = labelled.prediction;
        let is_plausible = s == pair.gold.plausible;
        let is_chosen = s == pair.prediction.plausible;
        let gold: &[usize] = if is_plausible { &[] } else { &pair.gold.conflict };
        let explained: &[usize] = if is_chosen { &[] } else { predicted };
        let sentence = |(n, parts): (usize, Vec<TextPart>)| SentenceView {
            number: n + 1,
            parts,
            is_gold: gold.contains(&n),
            is_predicted: predicted.contains(&n),
            conflict_prob: percent(story.conflict_prob(n)),
            reasons: reasons(labelled, n, gold, explained, language),
        };
        StoryView {
            number: s + 1,
            is_plausible,
            is_chosen,
            sentences: parts.into_iter().enumerate().map(sentence).collect(),
            states: rows(labelled, language),
            grid: grid(story, gold, predicted),
        }
    }
}

fn grid(story: &StoryPrediction, gold: &[usize], predicted: &[usize]) -> Vec<Vec<Option<CellView>>> {
    let last = story.sentence_pairs.len().saturating_sub(1);
    let cell = |i: usize, j: usize| {
        (i < j).then(|| CellView {
            percent: percent(story.sentence_pairs[i][j]),
            is_gold: *gold == [i, j],
            is_predicted: *predicted == [i, j],
        })
    };
    (0..last).map(|i| (1..=last).map(|j| cell(i, j)).collect()).collect()
}

pub fn percent(share: f32) -> String {
    format!("{:.0}", 100. * share)
}

/// In percent. What is not certain is never shown as 100.
pub fn confidence(share: f32) -> String {
    let percent = 100. * f64::from(share);
    let is_almost = (99.5..100.).contains(&percent);
    if is_almost { format!("{:.1}", (10. * percent).floor() / 10.) } else { format!("{percent:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certainty_is_100_percent() {
        assert_eq!([0.5, 0.994, 0.9951, 0.9999, 1.].map(confidence), ["50", "99", "99.5", "99.9", "100"]);
    }
}
