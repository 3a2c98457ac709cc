//! What a model says about one pair of stories or about one story, for a person to read.

use super::words;
use crate::attribute::{Attribute, Side};
use crate::decode::{Decode, THRESHOLD};
use crate::language::Language;
use crate::prediction::{AssertedState, PairPrediction, StoryPrediction};
use serde::Serialize;

/// Probability from which on one of two things is said flatly: below it there is little to choose.
const CLEARLY: f32 = 0.6;
/// Below this probability a state is less likely than not, and marked so.
const LIKELY: f32 = 0.5;

/// Stories and sentences are numbered from 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Two, or one alone.
    pub stories: Vec<StoryAnswer>,
    /// Which is plausible; `None` where there is nothing to choose from.
    pub plausible: Option<Choice>,
    /// What is said of one story alone, where its probability is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<Verdict>,
    /// How the sentences in conflict were read off the beliefs.
    pub decode: Decode,
    /// Whether a conflict is believed in: some belief reaches one half, or a story alone is said to be implausible.
    pub conflict_believed: bool,
    /// The sentences in conflict, by story and sentence.
    pub conflict: Vec<ConflictSentence>,
    /// The person or thing that the conflict is about, where the model tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What is asserted at the conflict: effects of its first sentence, preconditions of its second.
    pub states: Vec<StateAnswer>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoryAnswer {
    pub id: String,
    pub sentences: Vec<SentenceAnswer>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SentenceAnswer {
    pub text: String,
    /// That the sentence takes part in a conflict, whatever the entity.
    pub belief: f32,
}

/// The story that was chosen as plausible.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Choice {
    pub story: usize,
    pub probability: f32,
}

/// Of one story alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Verdict {
    pub plausible: bool,
    /// Of what is said.
    pub probability: f32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConflictSentence {
    pub story: usize,
    pub sentence: usize,
    pub text: String,
    pub belief: f32,
}

/// A state that explains the conflict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateAnswer {
    pub story: usize,
    pub sentence: usize,
    pub side: Side,
    pub entity: String,
    pub attribute: Attribute,
    pub class: u8,
    pub words: String,
    /// Where the model tells it.
    #[serde(skip)]
    pub probability: Option<f32>,
}

impl Answer {
    /// About both stories.
    pub fn of_pair(prediction: &PairPrediction, decode: Decode) -> Self {
        let story = prediction.plausible;
        let choice = Choice { story: story + 1, probability: prediction.story_probs[story] };
        let [first, second] = decode.by_story(prediction);
        let doubted = 1 - story;
        let stories: Vec<_> = prediction.stories.iter().collect();
        Self::new(&stories, &[first, second], doubted, Some(choice), decode)
    }

    /// About one story, which the prediction has as both, each as it is alone.
    pub fn of_story(prediction: &PairPrediction, decode: Decode) -> Self {
        let doubted = 1 - prediction.plausible;
        let conflict = std::mem::take(&mut decode.by_story(prediction)[doubted]);
        let story = &prediction.stories[doubted];
        let answer = Self::new(&[story], &[conflict], 0, None, decode);
        match story.no_conflict.map(Verdict::new) {
            Some(verdict) => Answer { conflict_believed: !verdict.plausible, alone: Some(verdict), ..answer },
            None => answer,
        }
    }

    /// `doubted` is the story whose states explain the conflict.
    fn new(
        stories: &[&StoryPrediction],
        conflict: &[Vec<usize>],
        doubted: usize,
        plausible: Option<Choice>,
        decode: Decode,
    ) -> Self {
        let places = stories.iter().zip(conflict).enumerate();
        let in_story = |(s, (story, sentences)): (usize, (&&StoryPrediction, &Vec<usize>))| {
            sentences.iter().map(|&n| ConflictSentence::new(s, story, n)).collect::<Vec<_>>()
        };
        let doubted_story = stories[doubted];
        let states = explaining(doubted_story, &conflict[doubted]);
        let language = Language::of(&doubted_story.sentences);
        let state = |state| StateAnswer::new(doubted, state, doubted_story.probability(state), language);
        let stories: Vec<_> = stories.iter().map(|story| StoryAnswer::of(story)).collect();
        Answer {
            plausible,
            alone: None,
            subject: subject_of(doubted_story, &conflict[doubted]),
            decode,
            conflict_believed: stories.iter().flat_map(|story| &story.sentences).any(|s| s.belief >= THRESHOLD),
            conflict: places.flat_map(in_story).collect(),
            states: states.iter().map(state).collect(),
            stories,
        }
    }

    /// With two spaces of indentation.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("an answer has string keys only") + "\n"
    }

    /// On one line, with the number of the line that asked.
    pub fn to_json_line(&self, line: usize) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            line: usize,
            #[serde(flatten)]
            answer: &'a Answer,
        }
        serde_json::to_string(&Line { line, answer: self }).expect("an answer has string keys only") + "\n"
    }

    pub fn to_text(&self) -> String {
        let mut text = match (self.plausible, self.alone) {
            (Some(choice), _) => choice.to_text(),
            (None, Some(verdict)) => verdict.to_text(),
            _ if self.conflict_believed => "A conflict is believed in.\n".to_owned(),
            _ => "No conflict is believed in.\n".to_owned(),
        };
        text += &self.conflict_text();
        text + &self.states_text()
    }

    fn conflict_text(&self) -> String {
        if self.conflict.is_empty() {
            return format!("No sentence reaches a belief of {THRESHOLD} in a conflict; {}.\n", self.most_believed());
        }
        let title = match (self.decode, self.conflict_believed) {
            (Decode::Threshold, _) | (_, true) => "Sentences in conflict:",
            _ => "The sentences most likely in conflict, though no belief reaches one half:",
        };
        let line = |sentence: &ConflictSentence| {
            let ConflictSentence { story, sentence, text, belief } = sentence;
            let story = if self.stories.len() > 1 { format!("story {story}, ") } else { String::new() };
            format!("  {story}sentence {sentence}: \"{text}\" (belief {belief:.2})\n")
        };
        let texts = self.stories.iter().flat_map(|story| &story.sentences).map(|sentence| &sentence.text);
        let language = Language::of(texts);
        let about = |name: &String| format!("It is about {}.\n", words::noun(name, language));
        let about = self.subject.as_ref().map_or(String::new(), about);
        format!("\n{title}\n{}{about}", self.conflict.iter().map(line).collect::<String>())
    }

    /// Where the largest belief is.
    fn most_believed(&self) -> String {
        let sentences = self.stories.iter().enumerate().flat_map(|(s, story)| {
            story.sentences.iter().enumerate().map(move |(n, sentence)| (s + 1, n + 1, sentence.belief))
        });
        let (story, sentence, belief) = sentences.max_by(|a, b| a.2.total_cmp(&b.2)).unwrap_or((1, 1, 0.));
        let story = if self.stories.len() > 1 { format!("story {story}, ") } else { String::new() };
        format!("the largest is {belief:.2}, at {story}sentence {sentence} (--decode pair names the likeliest two)")
    }

    fn states_text(&self) -> String {
        if self.conflict.is_empty() {
            return String::new();
        }
        let doubted = self.plausible.map_or(1, |choice| 3 - choice.story);
        if self.conflict.iter().filter(|sentence| sentence.story == doubted).count() < 2 {
            let story = if self.plausible.is_some() { "the implausible story" } else { "the story" };
            return format!(
                "\nNo two sentences of {story} conflict, so that no states explain it (--decode pair names the likeliest \
                 two).\n"
            );
        }
        if self.states.is_empty() {
            return "\nNo state is asserted that explains it.\n".to_owned();
        }
        let lines: String = self.states.iter().map(StateAnswer::line).collect();
        let title = if self.conflict_believed { "States that explain it" } else { "States asserted there" };
        format!("\n{title}:\n{lines}")
    }
}

impl Choice {
    fn to_text(self) -> String {
        let Choice { story, probability } = self;
        let said = match probability < CLEARLY {
            true => format!("Story {story} is hardly more likely than story {} to be the plausible one", 3 - story),
            false => format!("Story {story} is plausible"),
        };
        format!("{said} (probability {:.1}%).\n", 100. * probability)
    }
}

impl Verdict {
    fn to_text(self) -> String {
        let Verdict { plausible, probability } = self;
        let what = if plausible { "plausible" } else { "implausible" };
        let hardly = if probability < CLEARLY { "hardly more likely than not " } else { "" };
        format!("The story is {hardly}{what} (probability {:.1}%).\n", 100. * probability)
    }

    fn new(no_conflict: f32) -> Self {
        let plausible = no_conflict >= 0.5;
        Verdict { plausible, probability: if plausible { no_conflict } else { 1. - no_conflict } }
    }
}

impl StoryAnswer {
    fn of(story: &StoryPrediction) -> Self {
        let sentence = |(n, text): (usize, &String)| SentenceAnswer { text: text.clone(), belief: story.belief(n) };
        StoryAnswer { id: story.id.clone(), sentences: story.sentences.iter().enumerate().map(sentence).collect() }
    }
}

impl ConflictSentence {
    fn new(story: usize, of: &StoryPrediction, n: usize) -> Self {
        ConflictSentence { story: story + 1, sentence: n + 1, text: of.sentences[n].clone(), belief: of.belief(n) }
    }
}

impl StateAnswer {
    fn new(story: usize, state: &AssertedState, probability: Option<f32>, language: Language) -> Self {
        let AssertedState { entity, sentence, side, attribute, class, correct: _ } = state.clone();
        let words = words::phrase(state, language);
        StateAnswer { story: story + 1, sentence: sentence + 1, side, entity, attribute, class, words, probability }
    }

    fn line(&self) -> String {
        let unlikely = self.probability.filter(|&probability| probability < LIKELY);
        let mark = unlikely.map_or(String::new(), |p| format!(" (a guess: probability {:.1}%)", 100. * p));
        format!("  {}{mark}\n", self.words)
    }
}

/// The likeliest entity for a conflict between two sentences.
fn subject_of(story: &StoryPrediction, conflict: &[usize]) -> Option<String> {
    let &[first, second] = conflict else { return None };
    let entity = *story.subjects.get(first)?.get(second)?;
    Some(story.entities[entity].name.clone())
}

/// Where states explain a conflict: after its first sentence and before its second; where more than two conflict, after
/// all but the last and before all but the first.
pub fn explaining_places(conflict: &[usize]) -> Vec<(Side, usize)> {
    let [earlier @ .., _] = conflict else { return Vec::new() };
    let effects = earlier.iter().map(|&n| (Side::Effect, n));
    effects.chain(conflict.iter().skip(1).map(|&n| (Side::Precondition, n))).collect()
}

/// The nontrivial states predicted there.
fn explaining(story: &StoryPrediction, conflict: &[usize]) -> Vec<AssertedState> {
    let mut states = story.asserted(&explaining_places(conflict));
    states.sort_by_key(|state| (state.sentence, state.side));
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::ATTRIBUTES;
    use crate::prediction::{EntityPrediction, StateCandidate, StateLabels};

    /// A fridge that is closed by sentence 1 and must be open for sentence 2.
    fn story(beliefs: [f32; 2]) -> StoryPrediction {
        let open = |classes: [u8; 2]| {
            let of_class = |class| Attribute::ALL.map(|a| if a == Attribute::Open { class } else { a.default_label() });
            StateLabels {
                gold: vec![[0; ATTRIBUTES]; 2],
                predicted: classes.map(of_class).to_vec(),
                candidates: Vec::new(),
            }
        };
        let fridge = EntityPrediction {
            name: "fridge".into(),
            beliefs: beliefs.to_vec(),
            gold_beliefs: vec![0; 2],
            preconditions: open([2, 2]),
            effects: open([1, 2]),
        };
        let sentences = vec!["Mia shut the fridge.".into(), "Mia took milk from the fridge.".into()];
        StoryPrediction {
            id: "1".into(),
            sentences,
            places: Vec::new(),
            subjects: Vec::new(),
            no_conflict: None,
            entities: vec![fridge],
        }
    }

    fn prediction(stories: [StoryPrediction; 2], story_probs: [f32; 2]) -> PairPrediction {
        PairPrediction {
            id: "2".into(),
            group: 0,
            kind: "cloze".into(),
            gold_plausible: 0,
            gold_conflict: [0, 0],
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
  story 1, sentence 1: \"Mia shut the fridge.\" (belief 0.90)
  story 1, sentence 2: \"Mia took milk from the fridge.\" (belief 0.75)

States that explain it:
  after sentence 1: the fridge is closed
  before sentence 2: the fridge must be open
";
        for decode in Decode::ALL {
            assert_eq!(Answer::of_pair(&prediction, decode).to_text(), expected);
        }
    }

    #[test]
    fn what_is_a_guess_is_said_so() {
        let mut told = prediction([story([0.9, 0.75]), story([0.1, 0.2])], [0.45, 0.55]);
        let candidate = |sentence, class, probability| {
            vec![StateCandidate { sentence, attribute: Attribute::Open, class, probability, otherwise: 0 }]
        };
        told.stories[0].entities[0].effects.candidates = candidate(0, 1, 0.25);
        told.stories[0].entities[0].preconditions.candidates = candidate(1, 2, 0.5);
        let answer = Answer::of_pair(&told, Decode::Pair);
        let text = answer.to_text();
        let first = "Story 2 is hardly more likely than story 1 to be the plausible one (probability 55.0%).\n";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("the fridge is closed (a guess: probability 25.0%)\n"), "{text}");
        assert!(text.contains("the fridge must be open\n") && !answer.to_json().contains("0.25"), "{text}");
        let hardly = Verdict::new(0.45).to_text();
        assert_eq!(hardly, "The story is hardly more likely than not implausible (probability 55.0%).\n");
        assert_eq!(Verdict::new(0.6).to_text(), "The story is plausible (probability 60.0%).\n");
    }

    #[test]
    fn one_sentence_alone_is_not_explained() {
        let prediction = prediction([story([0.9, 0.2]), story([0.1, 0.7])], [0.25, 0.75]);
        let answer = Answer::of_pair(&prediction, Decode::Threshold);
        let places: Vec<_> = answer.conflict.iter().map(|sentence| (sentence.story, sentence.sentence)).collect();
        assert_eq!((places, answer.states.len()), (vec![(1, 1), (2, 2)], 0));
        assert!(answer.to_text().contains("No two sentences of the implausible story"), "{}", answer.to_text());
    }

    #[test]
    fn one_story_without_a_conflict() {
        let prediction = prediction([story([0.1, 0.2]), story([0.1, 0.2])], [0.5, 0.5]);
        let expected = "\
No conflict is believed in.
No sentence reaches a belief of 0.5 in a conflict; the largest is 0.20, at sentence 2 (--decode pair names the likeliest two).
";
        let answer = Answer::of_story(&prediction, Decode::Threshold);
        assert_eq!((answer.to_text().as_str(), answer.conflict_believed), (expected, false));
        let answer = Answer::of_story(&prediction, Decode::Pair);
        assert_eq!((answer.conflict.len(), answer.states.len(), answer.conflict_believed), (2, 2, false));
        assert!(answer.to_text().contains("though no belief reaches one half"));
    }
}
