//! The answer of a model about a pair of stories or a single story, as text or JSON.

mod found;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::{EntityPrediction, PredictedStates, StateCandidate};

    /// A fridge that is closed by sentence 1 and must be open for sentence 2.
    fn story(conflict_probs: [f32; 2]) -> StoryPrediction {
        let open = |classes: [u8; 2]| {
            let of_class = |class| Attribute::ALL.map(|a| if a == Attribute::Open { class } else { a.default_label() });
            PredictedStates { classes: classes.map(of_class).to_vec(), candidates: Vec::new() }
        };
        let fridge = EntityPrediction {
            name: "fridge".into(),
            conflict_probs: conflict_probs.to_vec(),
            preconditions: open([2, 2]),
            effects: open([1, 2]),
        };
        let sentences = vec!["Mia shut the fridge.".into(), "Mia took milk from the fridge.".into()];
        StoryPrediction::without_sentence_pairs("1", sentences, vec![fridge])
    }

    fn prediction(stories: [StoryPrediction; 2], story_probs: [f32; 2]) -> PairPrediction {
        PairPrediction {
            plausible: usize::from(story_probs[1] > story_probs[0]),
            story_probs,
            conflict: Vec::new(),
            stories,
        }
    }

    #[test]
    fn a_pair_in_words() {
        let prediction = prediction([story([0.9, 0.75]), story([0.1, 0.2])], [0.125, 0.875]);
        let expected = "\
Story 2 is plausible (probability 87.5%).

Sentences in conflict:
  story 1, sentence 1: \"Mia shut the fridge.\" (conflict probability 0.90)
  story 1, sentence 2: \"Mia took milk from the fridge.\" (conflict probability 0.75)

States that explain the conflict:
  after sentence 1: the fridge is closed
  before sentence 2: the fridge must be open
";
        for decode in Decode::ALL {
            assert_eq!(Answer::of_pair(&prediction, decode, None).to_text(), expected);
        }
    }

    #[test]
    fn all_words_are_in_one_language() {
        let other = StoryPrediction {
            sentences: vec!["Mia ha messo il latte nel frigo.".into(), "Mia lo ha preso.".into()],
            ..story([0.1, 0.2])
        };
        let prediction = prediction([story([0.9, 0.75]), other], [0.125, 0.875]);
        let words = |language| Answer::of_pair(&prediction, Decode::Pair, language).states[0].words.clone();
        assert_eq!(words(None), "fridge: chiuso", "it is that of both stories");
        assert_eq!(words(Some(Language::English)), "the fridge is closed");
    }

    #[test]
    fn what_is_a_guess_is_said_so() {
        let mut prediction = prediction([story([0.9, 0.75]), story([0.1, 0.2])], [0.45, 0.55]);
        let candidate = |sentence, class, probability| {
            vec![StateCandidate { sentence, attribute: Attribute::Open, class, probability, otherwise: 0 }]
        };
        prediction.stories[0].entities[0].effects.candidates = candidate(0, 1, 0.25);
        prediction.stories[0].entities[0].preconditions.candidates = candidate(1, 2, 0.5);
        let answer = Answer::of_pair(&prediction, Decode::Pair, None);
        let text = answer.to_text();
        let first = "Story 2 is only slightly more likely to be plausible than story 1 (probability 55.0%).\n";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("the fridge is closed (uncertain: probability 25.0%)\n"), "{text}");
        assert!(text.contains("the fridge must be open\n") && !answer.to_json().contains("0.25"), "{text}");
        let slightly = Verdict::new(0.45).to_text();
        let expected = "The story is only slightly more likely implausible than plausible (probability 55.0%).\n";
        assert_eq!(slightly, expected);
        assert_eq!(Verdict::new(0.6).to_text(), "The story is plausible (probability 60.0%).\n");
    }

    #[test]
    fn one_sentence_alone_is_not_explained() {
        let prediction = prediction([story([0.9, 0.2]), story([0.1, 0.7])], [0.25, 0.75]);
        let answer = Answer::of_pair(&prediction, Decode::Threshold, None);
        let sentence_pairs: Vec<_> =
            answer.conflict.iter().map(|sentence| (sentence.story, sentence.sentence)).collect();
        assert_eq!((sentence_pairs, answer.states.len()), (vec![(0, 0), (1, 1)], 0));
        assert!(answer.to_text().contains("No two sentences of the implausible story"), "{}", answer.to_text());
    }

    #[test]
    fn one_story_without_a_conflict() {
        let prediction = prediction([story([0.1, 0.2]), story([0.1, 0.2])], [0.5, 0.5]);
        let expected = "\
No conflict is detected.
No sentence reaches a conflict probability of 0.5; the largest is 0.20, at sentence 2 (--decode pair shows the most \
likely sentence pair).
";
        let answer = Answer::of_story(&prediction, Decode::Threshold, None);
        assert_eq!((answer.to_text().as_str(), answer.conflict_detected), (expected, false));
        let answer = Answer::of_story(&prediction, Decode::Pair, None);
        assert_eq!((answer.conflict.len(), answer.states.len(), answer.conflict_detected), (2, 2, false));
        assert!(answer.to_text().contains("(no conflict probability reaches 0.5)"));
        let near = self::prediction([story([0.1, 0.2]), story([0.1, 0.4999])], [0.5, 0.5]);
        assert!(Answer::of_story(&near, Decode::Threshold, None).to_text().contains("the largest is 0.49, at"));
        assert!(Answer::of_story(&near, Decode::Pair, None).to_text().contains("(conflict probability 0.49)"));
        let mut certain = self::prediction([story([0.; 2]), story([0.; 2])], [0.5, 0.5]);
        certain.stories.iter_mut().for_each(|story| story.no_conflict = Some(1.));
        let text = Answer::of_story(&certain, Decode::Pair, None).to_text();
        assert!(text.contains("the largest is 0.00") && !text.contains("--decode"), "{text}");
    }
}
