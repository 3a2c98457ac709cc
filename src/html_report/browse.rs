//! Every pair with its gold labels and predictions (TRIP, figure 6). The predictions of several runs are side by side.

use super::difference::differences;
use super::listing::{ListedPair, RunAnswer};
use super::names::{distinct, letter};
use super::read::ReportedRun;
use super::reasons::ReasonsView;
use super::said::{SaidView, said};
use super::story::{StoryView, confidence};
use crate::analysis::TierReached;
use crate::attribute::Attribute;
use crate::language::Language;
use crate::metrics::Tiered;
use crate::prediction::{LabelledPair, PairPrediction};

/// One pair.
pub struct PairView {
    /// The sets that contain it, by their numbers in the filter.
    pub sets: Vec<usize>,
    pub id: String,
    pub kind: String,
    /// The language of its stories and states, as an HTML language code.
    pub language: &'static str,
    /// The attributes with a gold or predicted state at its conflict.
    pub attributes: Vec<Attribute>,
    /// One for each run that was evaluated on it. The stories of the first are shown.
    pub answers: Vec<AnswerView>,
}

/// The prediction of one run for a pair.
pub struct AnswerView {
    pub run: usize,
    pub tier: &'static str,
    /// The story that was chosen as plausible: 1 or 2.
    pub chosen: usize,
    /// Whether that story is the plausible one.
    pub is_right: bool,
    /// Its probability in percent, uncalibrated.
    pub confidence: String,
    /// Whether at least two sentences of the other story are predicted to conflict.
    pub has_reasons: bool,
    pub stories: [StoryView; 2],
    /// Whether predicted states are about entities.
    pub names_entities: bool,
    /// What a language model was asked about the pair, and said.
    pub said: Vec<SaidView>,
}

impl PairView {
    /// `sets` are the names in the filter.
    pub fn new(pair: &ListedPair, sets: &[String], runs: &[ReportedRun]) -> Self {
        let first = pair.answers[0].pair;
        let answers = pair.answers.iter().map(|answer| AnswerView::new(answer, first.gold.plausible));
        let answers: Vec<AnswerView> = answers.collect();
        let names = |answer: &RunAnswer| answer.sets.iter().map(|&set| &runs[answer.run].sets[set].name).collect();
        let names: Vec<&String> = pair.answers.iter().flat_map(|answer| -> Vec<_> { names(answer) }).collect();
        let reasons = answers.iter().filter(|answer| answer.names_entities).flat_map(AnswerView::reasons);
        let attributes = reasons.flat_map(|(_, _, reasons)| &reasons.rows).map(|row| row.attribute);
        PairView {
            sets: (0..sets.len()).filter(|&set| names.contains(&&sets[set])).collect(),
            id: first.id.clone(),
            kind: first.kind.clone(),
            language: language(&first.prediction).code(),
            attributes: distinct(attributes),
            answers,
        }
    }

    pub fn first(&self) -> &AnswerView {
        &self.answers[0]
    }

    /// Whether answers have cards of their own: those of several runs, and those of a language model.
    pub fn has_cards(&self) -> bool {
        self.answers.len() > 1 || !self.first().said.is_empty()
    }

    /// Whether runs reach different tiers.
    pub fn differs(&self) -> bool {
        self.answers.iter().any(|answer| answer.tier != self.first().tier)
    }

    /// The letters of the runs that predict a conflict at a sentence. Both numbers are from 1.
    pub fn predicted_by(&self, story: &usize, sentence: &usize) -> Vec<String> {
        let predicts = |answer: &&AnswerView| answer.stories[story - 1].sentences[sentence - 1].is_predicted;
        self.answers.iter().filter(predicts).map(|answer| letter(answer.run)).collect()
    }
}

impl AnswerView {
    /// The stories are put into the order in which story `plausible` is the plausible one.
    fn new(answer: &RunAnswer, plausible: usize) -> Self {
        let pair = &in_order(answer.pair, plausible);
        let prediction = &pair.prediction;
        let predicted = answer.set.conflict_by_story(prediction);
        // A set in which some pairs have no state labels has no verifiability. The order is from the best tier down.
        let highest = match answer.set.verifiability_by_argmax.total {
            0 => TierReached::Consistent,
            _ => TierReached::Verifiable,
        };
        AnswerView {
            run: answer.run,
            tier: TierReached::of(pair).max(highest).name(),
            chosen: prediction.plausible + 1,
            is_right: pair.is_accurate(),
            confidence: confidence(prediction.story_probs[prediction.plausible]),
            has_reasons: predicted[1 - prediction.plausible].len() > 1,
            stories: stories(pair, &predicted),
            names_entities: answer.set.names_entities,
            said: said(&answer.set.said, prediction),
        }
    }

    /// The states that explain a conflict, with the numbers of their story and sentence.
    pub fn reasons(&self) -> Vec<(usize, usize, &ReasonsView)> {
        let sentences = self.stories.iter().flat_map(|story| story.sentences.iter().map(move |s| (story.number, s)));
        let numbered = sentences.flat_map(|(story, sentence)| {
            sentence.reasons.iter().map(move |reasons| (story, sentence.number, reasons))
        });
        numbered.collect()
    }

    pub fn has_grid(&self) -> bool {
        self.stories.iter().any(|story| !story.grid.is_empty())
    }

    /// "story 2: 1, 4": the sentences that are predicted to conflict, by story.
    pub fn conflict(&self) -> String {
        let named = |story: &StoryView| {
            let numbers = story.sentences.iter().filter(|sentence| sentence.is_predicted);
            let numbers: Vec<String> = numbers.map(|sentence| sentence.number.to_string()).collect();
            (!numbers.is_empty()).then(|| format!("story {}: {}", story.number, numbers.join(", ")))
        };
        let named: Vec<String> = self.stories.iter().filter_map(named).collect();
        if named.is_empty() { "none".to_owned() } else { named.join("; ") }
    }
}

/// The same pair, with the stories in the order in which story `plausible` is the plausible one.
fn in_order(pair: &LabelledPair, plausible: usize) -> LabelledPair {
    let turned = pair.gold.plausible != plausible;
    if turned { pair.clone().turned() } else { pair.clone() }
}

fn language(prediction: &PairPrediction) -> Language {
    Language::of(prediction.stories.iter().flat_map(|story| &story.sentences))
}

fn stories(pair: &LabelledPair, predicted: &[Vec<usize>; 2]) -> [StoryView; 2] {
    let language = language(&pair.prediction);
    let [first, second] = differences(pair.prediction.stories.each_ref().map(|story| story.sentences.as_slice()));
    [(0, first), (1, second)].map(|(s, parts)| StoryView::new(s, pair, &predicted[s], parts, language))
}
