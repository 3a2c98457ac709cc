//! What a system predicts about a pair of stories. Every system produces this; metrics read it beside the gold answers.

mod check;
mod file;
mod gold;
mod labelled;
mod line;
mod mean;
mod published;
mod readings;
mod soft;
mod story;

pub use file::{
    PredictionFile, PredictionFormat, distinct_lines, parse_predictions, prediction_bytes, read_predictions,
    write_lines, write_predictions,
};
pub use gold::{EntityGold, PairGold, StoryGold};
pub use labelled::{LabelledEntity, LabelledPair, LabelledStates, LabelledStory, without_states};
pub use mean::mean_predictions;
pub use readings::{all_readings, mean_of_readings};
pub use soft::set_soft_labels;
pub use story::StoryJudgement;

use crate::attribute::{ATTRIBUTES, Attribute, Side};
use serde::{Deserialize, Serialize};

/// What is predicted about a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct PairPrediction {
    /// Index of the plausible story.
    pub plausible: usize,
    /// Probability that story 0, and story 1, is the plausible one.
    pub story_probs: [f32; 2],
    /// Sentences in conflict over both stories, sorted, by the decoding in use.
    pub conflict: Vec<usize>,
    /// Both stories; indices of stories in this record count in this order.
    pub stories: [StoryPrediction; 2],
}

/// Predictions about one story of a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryPrediction {
    /// Of this story; [`LabelledPair::id`] is that of the implausible one.
    pub id: String,
    /// `[N]` in the order of the story.
    pub sentences: Vec<String>,
    /// `[N][N]` probability that the pair's conflict is in this story, between sentences i < j; empty if the system has
    /// no such distribution.
    pub sentence_pairs: Vec<Vec<f32>>,
    /// `[N][N]` the entity that a conflict in this sentence pair is most likely about, as an index into `entities`;
    /// empty if the system does not predict it.
    pub subjects: Vec<Vec<usize>>,
    /// Probability that the story has no conflict; only if the system can predict it from this story alone.
    pub no_conflict: Option<f32>,
    /// In the order in which `subjects` counts them.
    pub entities: Vec<EntityPrediction>,
}

/// Predictions about one entity of a story; `[N]` has one item for each sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityPrediction {
    /// The entity's name: "fridge".
    pub name: String,
    /// `[N]` probability that the sentence takes part in a conflict of this entity.
    pub conflict_probs: Vec<f32>,
    /// `[N]` states before each sentence.
    pub preconditions: PredictedStates,
    /// `[N]` states after each sentence.
    pub effects: PredictedStates,
}

/// What is predicted of one side of an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedStates {
    /// `[N][20]` classes in the order of attributes; in a file of predictions, the most likely ones.
    pub classes: Vec<[u8; ATTRIBUTES]>,
    /// The most likely nontrivial class of every label where its probability is at least [`CANDIDATE_FLOOR`]. Empty if
    /// the system gives no probabilities.
    pub candidates: Vec<StateCandidate>,
}

/// A sentence with at least this conflict probability takes part in a conflict (TRIP, section 4.2).
pub const CONFLICT_THRESHOLD: f32 = 0.5;

/// A state of at least this probability is recorded as a candidate. The most likely class always has more.
pub const CANDIDATE_FLOOR: f32 = 0.02;

/// The most likely nontrivial class of a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateCandidate {
    /// Counted from 0.
    pub sentence: usize,
    /// The attribute that the label is of.
    pub attribute: Attribute,
    /// From 0 to K - 1.
    pub class: u8,
    /// The probability of `class`, between 0 and 1.
    pub probability: f32,
    /// The most likely trivial class (0 or the default). It is predicted if the nontrivial one is not.
    pub otherwise: u8,
}

/// A predicted physical state: a nontrivial predicted class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredictedState {
    /// The entity's name.
    pub entity: String,
    /// Counted from 0.
    pub sentence: usize,
    /// Before or after the sentence.
    pub side: Side,
    /// The attribute whose class was predicted.
    pub attribute: Attribute,
    /// From 0 to K - 1; neither 0 nor the default.
    pub class: u8,
}

impl PredictedStates {
    /// No nontrivial state, before or after N sentences.
    pub fn nothing(sentences: usize) -> Self {
        PredictedStates { classes: vec![[0; ATTRIBUTES]; sentences], candidates: Vec::new() }
    }

    /// Whether every nontrivial prediction has its probability, so that states can be decoded again.
    fn has_probabilities(&self) -> bool {
        let is_candidate =
            |sentence, attribute| self.candidates.iter().any(|c| c.sentence == sentence && c.attribute == attribute);
        self.classes.iter().enumerate().all(|(sentence, classes)| {
            let mut nontrivial = Attribute::ALL.into_iter().filter(|a| a.is_nontrivial(classes[a.index()]));
            nontrivial.all(|attribute| is_candidate(sentence, attribute))
        })
    }
}

impl EntityPrediction {
    /// An entity without a predicted state.
    pub fn without_states(name: &str, conflict_probs: Vec<f32>) -> Self {
        let nothing = || PredictedStates::nothing(conflict_probs.len());
        let (preconditions, effects) = (nothing(), nothing());
        EntityPrediction { name: name.to_owned(), conflict_probs, preconditions, effects }
    }

    /// Its states before or after the sentences.
    pub fn side(&self, side: Side) -> &PredictedStates {
        match side {
            Side::Precondition => &self.preconditions,
            Side::Effect => &self.effects,
        }
    }

    /// The same, to be changed.
    pub fn side_mut(&mut self, side: Side) -> &mut PredictedStates {
        match side {
            Side::Precondition => &mut self.preconditions,
            Side::Effect => &mut self.effects,
        }
    }
}

impl StoryPrediction {
    /// A story without a distribution over its sentence pairs.
    pub fn without_sentence_pairs(id: &str, sentences: Vec<String>, entities: Vec<EntityPrediction>) -> Self {
        let (sentence_pairs, subjects, no_conflict) = (Vec::new(), Vec::new(), None);
        StoryPrediction { id: id.to_owned(), sentences, sentence_pairs, subjects, no_conflict, entities }
    }

    /// The predictions about this story alone. A distribution over its sentence pairs then adds up to the probability
    /// that the story has a conflict; `None` if that is not known. Conflict probabilities of entities do not depend on
    /// the other story, so they stay.
    pub fn single_story(&self) -> Option<Self> {
        if self.sentence_pairs.is_empty() {
            return Some(self.clone());
        }
        let share = (1. - self.no_conflict?) / self.sentence_pairs.iter().flatten().sum::<f32>().max(f32::MIN_POSITIVE);
        let mut single = self.clone();
        let conflict_probs = single.entities.iter_mut().flat_map(|entity| &mut entity.conflict_probs);
        single.sentence_pairs.iter_mut().flatten().chain(conflict_probs).for_each(|probability| *probability *= share);
        Some(single)
    }

    /// The support for a conflict between sentences i < j: its probability if there is a distribution over sentence
    /// pairs, else the sum over entities of conflict_prob(i)·conflict_prob(j).
    pub fn support(&self, i: usize, j: usize) -> f32 {
        match self.sentence_pairs.is_empty() {
            true => self.entities.iter().map(|entity| entity.conflict_probs[i] * entity.conflict_probs[j]).sum(),
            false => self.sentence_pairs[i][j],
        }
    }

    /// The probability that a sentence takes part in a conflict: the sum over its sentence pairs if there is a
    /// distribution over them, which may be split among entities; else the largest conflict probability of an entity.
    pub fn conflict_prob(&self, sentence: usize) -> f32 {
        if self.sentence_pairs.is_empty() {
            let of_entities = self.entities.iter().filter_map(|entity| entity.conflict_probs.get(sentence));
            return of_entities.copied().fold(0., f32::max);
        }
        self.sentence_pairs[sentence].iter().chain(self.sentence_pairs.iter().map(|row| &row[sentence])).sum()
    }

    /// The probability of a predicted state, if the system gives it.
    pub fn probability(&self, state: &PredictedState) -> Option<f32> {
        let PredictedState { entity, sentence, side, attribute, class, .. } = state;
        let entity = self.entities.iter().find(|other| other.name == *entity)?;
        let mut candidates = entity.side(*side).candidates.iter();
        let is_of = |c: &&StateCandidate| (c.sentence, c.attribute, c.class) == (*sentence, *attribute, *class);
        candidates.find(is_of).map(|candidate| candidate.probability)
    }

    /// The nontrivial states predicted for these sides of these sentences, entity by entity.
    pub fn predicted_states(&self, sides: &[(Side, usize)]) -> Vec<PredictedState> {
        let mut predicted = Vec::new();
        for entity in &self.entities {
            for &(side, sentence) in sides {
                for attribute in Attribute::ALL {
                    let class = entity.side(side).classes[sentence][attribute.index()];
                    if attribute.is_nontrivial(class) {
                        let entity = entity.name.clone();
                        predicted.push(PredictedState { entity, sentence, side, attribute, class });
                    }
                }
            }
        }
        predicted
    }
}

impl PairPrediction {
    /// Whether the states can be decoded with a threshold: every predicted one has its probability.
    pub fn has_state_probabilities(&self) -> bool {
        let mut entities = self.stories.iter().flat_map(|story| &story.entities);
        entities.all(|entity| Side::BOTH.iter().all(|&side| entity.side(side).has_probabilities()))
    }
}

/// The sentence pairs i < j of a story that another story does not tell in this order. If the other story is plausible,
/// the conflict is among them, unless a sentence moved from between two sentences that keep their order.
pub fn differing_pairs(story: &[String], other: &[String]) -> Vec<[usize; 2]> {
    let is_told = |i: usize, j: usize| {
        let mut later = other.iter().skip_while(|&sentence| *sentence != story[i]).skip(1);
        later.any(|sentence| *sentence == story[j])
    };
    let sentence_pairs = (0..story.len()).flat_map(|j| (0..j).map(move |i| [i, j]));
    sentence_pairs.filter(|&[i, j]| !is_told(i, j)).collect()
}
