//! The answer of a model about a pair of stories or a single story, as text or JSON.

mod found;
#[cfg(test)]
mod tests;
mod text;

use super::words;
use crate::attribute::{Attribute, Side};
use crate::decode::Decode;
use crate::language::Language;
use crate::prediction::{CONFLICT_THRESHOLD, PairPrediction, PredictedState, StoryPrediction};
use crate::schema;
use serde::Serialize;

/// Stories and sentences are counted from 0; text for a person counts from 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Two stories, or a single one.
    pub stories: Vec<StoryAnswer>,
    /// The plausible story; `None` for a single story.
    pub plausible: Option<StoryChoice>,
    /// The judgement of a single story, if the model gives its probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_story: Option<Verdict>,
    /// How the sentences in conflict were chosen from the conflict probabilities.
    pub decode: Decode,
    /// Whether some conflict probability reaches 0.5, or a single story is predicted implausible.
    pub conflict_detected: bool,
    /// The sentences in conflict, by story and sentence.
    pub conflict: Vec<ConflictSentence>,
    /// The entity that the conflict is about, if the model predicts one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The states predicted at the conflict: effects of its first sentence, preconditions of its second.
    pub states: Vec<StateAnswer>,
    /// The language of the words about states and names.
    #[serde(skip)]
    pub language: Language,
}

/// A story, sentence by sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoryAnswer {
    /// The story's id in the input.
    pub id: String,
    /// The people and things whose states were predicted.
    pub entities: Vec<String>,
    /// Whether they were found in the sentences, because nobody named them.
    pub entities_found: bool,
    /// In the order of the story.
    pub sentences: Vec<SentenceAnswer>,
}

/// A sentence, and how likely it takes part in a conflict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SentenceAnswer {
    /// The sentence as it was read.
    pub text: String,
    /// The conflict probability of the sentence, over all entities.
    pub conflict_prob: f32,
}

/// The story that was chosen as plausible.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StoryChoice {
    /// 0 or 1.
    pub story: usize,
    /// How likely this story is the plausible one.
    pub probability: f32,
}

/// The judgement of a single story.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether "no conflict" has probability 0.5 or more.
    pub plausible: bool,
    /// The probability of the predicted class.
    pub probability: f32,
}

/// One of the sentences in conflict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConflictSentence {
    /// 0 or 1; 0 for a single story.
    pub story: usize,
    /// Counted from 0.
    pub sentence: usize,
    /// The sentence as it was read.
    pub text: String,
    /// The conflict probability of the sentence, over all entities.
    pub conflict_prob: f32,
}

/// A state that explains the conflict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateAnswer {
    /// 0 or 1; 0 for a single story.
    pub story: usize,
    /// Counted from 0.
    pub sentence: usize,
    /// Before or after the sentence.
    pub side: Side,
    /// The entity's name.
    pub entity: String,
    /// The attribute whose class is predicted.
    pub attribute: Attribute,
    /// From 0 to K - 1.
    pub class: u8,
    /// "the fridge is closed". In languages other than English it is a label, "frigo: chiuso".
    pub words: String,
    /// `None` if the prediction has no probability.
    #[serde(skip)]
    pub probability: Option<f32>,
}

impl Answer {
    /// The answer about a pair. Its states are in `language`; `None`: in that of the function words of both stories.
    pub fn of_pair(prediction: &PairPrediction, decode: Decode, language: Option<Language>) -> Self {
        let story = prediction.plausible;
        let choice = StoryChoice { story, probability: prediction.story_probs[story] };
        let [first, second] = decode.by_story(prediction);
        let doubted = 1 - story;
        let stories: Vec<_> = prediction.stories.iter().collect();
        Self::new(&stories, &[first, second], doubted, Some(choice), decode, language)
    }

    /// The answer about a single story, which is both stories of the prediction; `language` as of a pair.
    pub fn of_story(prediction: &PairPrediction, decode: Decode, language: Option<Language>) -> Self {
        let doubted = 1 - prediction.plausible;
        let conflict = std::mem::take(&mut decode.by_story(prediction)[doubted]);
        let story = &prediction.stories[doubted];
        let answer = Self::new(&[story], &[conflict], 0, None, decode, language);
        match story.no_conflict.map(Verdict::new) {
            Some(verdict) => Answer { conflict_detected: !verdict.plausible, single_story: Some(verdict), ..answer },
            None => answer,
        }
    }

    /// `doubted` is the story whose states explain the conflict.
    fn new(
        stories: &[&StoryPrediction],
        conflict: &[Vec<usize>],
        doubted: usize,
        plausible: Option<StoryChoice>,
        decode: Decode,
        language: Option<Language>,
    ) -> Self {
        let sentence_pairs = stories.iter().zip(conflict).enumerate();
        let in_story = |(s, (story, sentences)): (usize, (&&StoryPrediction, &Vec<usize>))| {
            sentences.iter().map(|&n| ConflictSentence::new(s, story, n)).collect::<Vec<_>>()
        };
        let doubted_story = stories[doubted];
        let states = explaining(doubted_story, &conflict[doubted]);
        let told = || Language::of(stories.iter().flat_map(|story| &story.sentences));
        let language = language.unwrap_or_else(told);
        let state = |state| StateAnswer::new(doubted, state, doubted_story.probability(state), language);
        let stories: Vec<_> = stories.iter().map(|story| StoryAnswer::of(story)).collect();
        Answer {
            plausible,
            single_story: None,
            subject: subject_of(doubted_story, &conflict[doubted]),
            decode,
            conflict_detected: stories
                .iter()
                .flat_map(|story| &story.sentences)
                .any(|s| s.conflict_prob >= CONFLICT_THRESHOLD),
            conflict: sentence_pairs.flat_map(in_story).collect(),
            states: states.iter().map(state).collect(),
            stories,
            language,
        }
    }

    /// JSON with two spaces of indentation.
    pub fn to_json(&self) -> String {
        schema::document(self)
    }

    /// JSON on one line, with the number of the input line, from 0.
    pub fn to_json_line(&self, line: usize) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            line: usize,
            #[serde(flatten)]
            answer: &'a Answer,
        }
        schema::to_string(&Line { line, answer: self }).expect("an answer has string keys only") + "\n"
    }
}

impl Verdict {
    fn new(no_conflict: f32) -> Self {
        let plausible = no_conflict >= 0.5;
        Verdict { plausible, probability: if plausible { no_conflict } else { 1. - no_conflict } }
    }
}

impl StoryAnswer {
    fn of(story: &StoryPrediction) -> Self {
        let sentence =
            |(n, text): (usize, &String)| SentenceAnswer { text: text.clone(), conflict_prob: story.conflict_prob(n) };
        StoryAnswer {
            id: story.id.clone(),
            entities: story.entities.iter().map(|entity| entity.name.clone()).collect(),
            entities_found: false,
            sentences: story.sentences.iter().enumerate().map(sentence).collect(),
        }
    }
}

impl ConflictSentence {
    fn new(story: usize, of: &StoryPrediction, n: usize) -> Self {
        ConflictSentence { story, sentence: n, text: of.sentences[n].clone(), conflict_prob: of.conflict_prob(n) }
    }
}

impl StateAnswer {
    fn new(story: usize, state: &PredictedState, probability: Option<f32>, language: Language) -> Self {
        let PredictedState { entity, sentence, side, attribute, class } = state.clone();
        let words = words::phrase(state, language);
        StateAnswer { story, sentence, side, entity, attribute, class, words, probability }
    }
}

/// The most likely entity of a conflict between two sentences.
fn subject_of(story: &StoryPrediction, conflict: &[usize]) -> Option<String> {
    let &[first, second] = conflict else { return None };
    let entity = *story.subjects.get(first)?.get(second)?;
    Some(story.entities[entity].name.clone())
}

/// The sides and sentences whose states explain a conflict: after its first sentence and before its second. If more
/// than two sentences conflict, after all but the last and before all but the first.
pub fn explaining_cells(conflict: &[usize]) -> Vec<(Side, usize)> {
    let [earlier @ .., _] = conflict else { return Vec::new() };
    let effects = earlier.iter().map(|&n| (Side::Effect, n));
    effects.chain(conflict.iter().skip(1).map(|&n| (Side::Precondition, n))).collect()
}

/// The nontrivial states predicted at a conflict.
fn explaining(story: &StoryPrediction, conflict: &[usize]) -> Vec<PredictedState> {
    let mut states = story.predicted_states(&explaining_cells(conflict));
    states.sort_by_key(|state| (state.sentence, state.side));
    states
}
