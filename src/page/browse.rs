//! Every pair with what was predicted of it and what is gold (TRIP, figure 6).

use super::difference::differences;
use super::listing::Listed;
use super::story::{StoryView, percent};
use crate::analysis::Tier;
use crate::attribute::Attribute;
use crate::language::Language;
use crate::prediction::PairPrediction;

/// One pair.
pub struct PairView {
    /// The run it is of, and the sets, as the filters number them.
    pub run: usize,
    pub sets: Vec<usize>,
    pub id: String,
    pub kind: String,
    pub tier: &'static str,
    /// Those with a state at its conflict, gold or predicted.
    pub attributes: Vec<Attribute>,
    /// What its stories and their states are written in, as HTML names it.
    pub language: &'static str,
    /// The story that was chosen as plausible: 1 or 2.
    pub chosen: usize,
    /// Its probability in percent, as the model gives it.
    pub confidence: String,
    /// Whether the model names two sentences that conflict in the other one.
    pub has_reasons: bool,
    pub stories: [StoryView; 2],
}

impl PairView {
    /// `sets` are the names in the filter.
    pub fn new(pair: &Listed, sets: &[String], names: impl Fn(usize) -> String) -> Self {
        let prediction = pair.prediction;
        let predicted = pair.set.conflicts.by_story(prediction);
        let has_reasons = predicted[1 - prediction.plausible].len() > 1;
        let stories = stories(prediction, &predicted);
        let names: Vec<String> = pair.sets.iter().map(|&set| names(set)).collect();
        let mut attributes: Vec<_> =
            stories.iter().flat_map(|story| &story.sentences).flat_map(|s| &s.reasons).collect();
        let mut attributes: Vec<_> = attributes.drain(..).flat_map(|r| &r.rows).map(|row| row.attribute).collect();
        attributes.sort_unstable();
        attributes.dedup();
        PairView {
            run: pair.run,
            sets: (0..sets.len()).filter(|&set| names.contains(&sets[set])).collect(),
            id: prediction.id.clone(),
            kind: prediction.kind.clone(),
            tier: Tier::of(prediction).name(),
            attributes,
            language: language(prediction).code(),
            chosen: prediction.plausible + 1,
            confidence: percent(prediction.story_probs[prediction.plausible]),
            has_reasons,
            stories,
        }
    }
}

fn language(prediction: &PairPrediction) -> Language {
    Language::of(prediction.stories.iter().flat_map(|story| &story.sentences))
}

fn stories(prediction: &PairPrediction, predicted: &[Vec<usize>; 2]) -> [StoryView; 2] {
    let language = language(prediction);
    let [first, second] = differences(prediction.stories.each_ref().map(|story| story.sentences.as_slice()));
    [(0, first), (1, second)].map(|(s, parts)| StoryView::new(s, prediction, &predicted[s], parts, language))
}
