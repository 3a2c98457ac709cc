//! What a system said about a pair of stories. Whatever predicts produces this; metrics consume only this.

mod check;
mod file;
mod mean;
mod published;
mod story;

pub use file::{PredictionFile, PredictionFormat, parse_predictions, read_predictions, write_lines, write_predictions};
pub use mean::mean_predictions;
pub use story::StoryJudgement;

use crate::attribute::{ATTRIBUTES, Attribute, Side};
use serde::{Deserialize, Serialize};

/// Gold answers and predictions for one pair. One line of a `predictions.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairPrediction {
    /// Id of the implausible story.
    pub id: String,
    /// Number of the plausible story.
    pub group: i64,
    /// "cloze" or "order".
    pub kind: String,
    /// Gold: index (0 or 1) of the plausible story.
    pub gold_plausible: usize,
    /// Gold: evidence and breakpoint, 0-based.
    pub gold_conflict: [usize; 2],
    /// Predicted: index of the plausible story.
    pub plausible: usize,
    /// Predicted: probability that story 0, and story 1, is the plausible one.
    pub story_probs: [f32; 2],
    /// Predicted: sentences in conflict, by the decoding in use, sorted, over both stories.
    pub conflict: Vec<usize>,
    pub stories: [StoryPrediction; 2],
}

/// What was said about one story of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoryPrediction {
    pub id: String,
    pub sentences: Vec<String>,
    /// `[N][N]` probability that the conflict of the pair is here, between sentences i < j; empty where the system
    /// has no such distribution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Vec<f32>>,
    /// `[N][N]` the entity that a conflict in that place would most likely be about, as an index into `entities`; empty
    /// where the system does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Vec<usize>>,
    /// Probability that the story has no conflict, where the system can tell that without the other story.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_conflict: Option<f32>,
    pub entities: Vec<EntityPrediction>,
}

/// What was said about one entity of a story; `[N]` is one item a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityPrediction {
    pub name: String,
    /// `[N]` belief that the sentence takes part in a conflict of this entity.
    pub beliefs: Vec<f32>,
    /// `[N]` gold: 1 where `beliefs` should be.
    pub gold_beliefs: Vec<u8>,
    pub preconditions: StateLabels,
    pub effects: StateLabels,
}

/// Gold and predicted classes of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateLabels {
    /// `[N][20]` gold classes in attribute order; empty where the story has no state labels.
    pub gold: Vec<[u8; ATTRIBUTES]>,
    /// `[N][20]` predicted classes; in a file of predictions the most likely ones.
    pub predicted: Vec<[u8; ATTRIBUTES]>,
    /// What nontrivial states have a probability of at least [`CANDIDATE_FLOOR`]; one a label. Empty where the system
    /// tells no probabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<StateCandidate>,
}

/// Probability from which on a state is recorded as a candidate: less than any most likely class can have.
pub const CANDIDATE_FLOOR: f32 = 0.02;

/// The likeliest nontrivial class of a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateCandidate {
    pub sentence: usize,
    pub attribute: Attribute,
    pub class: u8,
    pub probability: f32,
    /// The likeliest trivial class (0 or the default), which is said where this one is not.
    pub otherwise: u8,
}

/// A physical state that was said to hold: a nontrivial predicted class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssertedState {
    pub entity: String,
    pub sentence: usize,
    pub side: Side,
    pub attribute: Attribute,
    pub class: u8,
    /// Whether it equals the gold class.
    pub correct: bool,
}

impl EntityPrediction {
    pub fn side(&self, side: Side) -> &StateLabels {
        match side {
            Side::Precondition => &self.preconditions,
            Side::Effect => &self.effects,
        }
    }

    pub fn side_mut(&mut self, side: Side) -> &mut StateLabels {
        match side {
            Side::Precondition => &mut self.preconditions,
            Side::Effect => &mut self.effects,
        }
    }
}

impl StateLabels {
    /// Whether the gold classes are known.
    fn has_gold(&self) -> bool {
        self.gold.len() == self.predicted.len()
    }

    /// (sentence, attribute, gold class, predicted class) of every label; none where no gold class is known.
    pub fn slots(&self) -> impl Iterator<Item = (usize, Attribute, u8, u8)> {
        let rows = self.gold.iter().zip(&self.predicted).enumerate();
        rows.flat_map(|(sentence, (gold, predicted))| {
            Attribute::ALL.into_iter().map(move |a| (sentence, a, gold[a.index()], predicted[a.index()]))
        })
    }

    /// Whether every nontrivial prediction has its probability, so that it can be decoded anew.
    fn has_probabilities(&self) -> bool {
        let is_candidate =
            |sentence, attribute| self.candidates.iter().any(|c| c.sentence == sentence && c.attribute == attribute);
        self.predicted.iter().enumerate().all(|(sentence, classes)| {
            let mut asserted = Attribute::ALL.into_iter().filter(|a| a.is_nontrivial(classes[a.index()]));
            asserted.all(|attribute| is_candidate(sentence, attribute))
        })
    }
}

impl StoryPrediction {
    /// What is said about the story whatever the other one is: where there is a distribution over places, they add up to
    /// the probability that the story has a conflict. `None` if that is not known. Beliefs that are no such distribution
    /// don't depend on the other story.
    pub fn alone(&self) -> Option<Self> {
        if self.places.is_empty() {
            return Some(self.clone());
        }
        let share = (1. - self.no_conflict?) / self.places.iter().flatten().sum::<f32>().max(f32::MIN_POSITIVE);
        let mut alone = self.clone();
        let beliefs = alone.entities.iter_mut().flat_map(|entity| &mut entity.beliefs);
        alone.places.iter_mut().flatten().chain(beliefs).for_each(|probability| *probability *= share);
        Some(alone)
    }

    /// How much speaks for a conflict of sentences i < j: its probability, where there is a distribution over places; else
    /// the sum over entities of belief(i)·belief(j).
    pub fn support(&self, i: usize, j: usize) -> f32 {
        match self.places.is_empty() {
            true => self.entities.iter().map(|entity| entity.beliefs[i] * entity.beliefs[j]).sum(),
            false => self.places[i][j],
        }
    }

    /// How firmly the sentence is believed to take part in a conflict: the largest belief over the entities.
    pub fn belief(&self, sentence: usize) -> f32 {
        self.entities.iter().filter_map(|entity| entity.beliefs.get(sentence)).copied().fold(0., f32::max)
    }

    /// Whether at least one nontrivial state is asserted among the effects of the first sentence of a conflict and the
    /// preconditions of its second, and all of them are correct.
    pub fn explains(&self, [evidence, breakpoint]: [usize; 2]) -> bool {
        let asserted = self.asserted(&[(Side::Effect, evidence), (Side::Precondition, breakpoint)]);
        !asserted.is_empty() && asserted.iter().all(|state| state.correct)
    }

    /// Of a state that is asserted, where the system tells it.
    pub fn probability(&self, state: &AssertedState) -> Option<f32> {
        let AssertedState { entity, sentence, side, attribute, class, .. } = state;
        let entity = self.entities.iter().find(|other| other.name == *entity)?;
        let mut candidates = entity.side(*side).candidates.iter();
        let is_of = |c: &&StateCandidate| (c.sentence, c.attribute, c.class) == (*sentence, *attribute, *class);
        candidates.find(is_of).map(|candidate| candidate.probability)
    }

    /// The nontrivial states asserted at these places, entity by entity.
    pub fn asserted(&self, places: &[(Side, usize)]) -> Vec<AssertedState> {
        let mut asserted = Vec::new();
        for entity in &self.entities {
            for &(side, sentence) in places {
                let labels = entity.side(side);
                for attribute in Attribute::ALL {
                    let class = labels.predicted[sentence][attribute.index()];
                    if attribute.is_nontrivial(class) {
                        asserted.push(AssertedState {
                            entity: entity.name.clone(),
                            sentence,
                            side,
                            attribute,
                            class,
                            correct: labels.gold.get(sentence).is_some_and(|gold| gold[attribute.index()] == class),
                        });
                    }
                }
            }
        }
        asserted
    }
}

impl PairPrediction {
    /// The story that is implausible by the gold label.
    pub fn implausible_story(&self) -> &StoryPrediction {
        &self.stories[1 - self.gold_plausible]
    }

    /// Whether the gold states of both stories are known. Without them nobody can tell whether the pair is verifiable.
    pub fn has_gold_states(&self) -> bool {
        let mut entities = self.stories.iter().flat_map(|story| &story.entities);
        entities.all(|entity| Side::BOTH.iter().all(|&side| entity.side(side).has_gold()))
    }

    /// Tier 1: the plausible story was chosen.
    pub fn is_accurate(&self) -> bool {
        self.plausible == self.gold_plausible
    }

    /// Tier 2: accurate, and the sentences in conflict are exactly the gold ones.
    pub fn is_consistent(&self) -> bool {
        self.is_accurate() && self.conflict == self.gold_conflict
    }

    /// Tier 3: consistent and explained.
    pub fn is_verifiable(&self) -> bool {
        self.is_consistent() && self.is_explained()
    }

    /// At least one nontrivial state is asserted at the gold conflict, and all of them are correct; whatever story and
    /// sentences were chosen.
    pub fn is_explained(&self) -> bool {
        self.implausible_story().explains(self.gold_conflict)
    }

    /// Whether the states can be decoded by a threshold: every asserted one has its probability.
    pub fn has_state_probabilities(&self) -> bool {
        let mut entities = self.stories.iter().flat_map(|story| &story.entities);
        entities.all(|entity| Side::BOTH.iter().all(|&side| entity.side(side).has_probabilities()))
    }
}

/// How many of the pairs have no gold states.
pub fn without_states(predictions: &[PairPrediction]) -> u64 {
    predictions.iter().filter(|prediction| !prediction.has_gold_states()).count() as u64
}

/// The pairs of sentences i < j of a story that another one doesn't tell in this order. If that one is plausible, the
/// conflict is among them, unless a sentence between two that are told in order has moved.
pub fn differing_places(story: &[String], other: &[String]) -> Vec<[usize; 2]> {
    let is_told = |i: usize, j: usize| {
        let mut later = other.iter().skip_while(|&sentence| *sentence != story[i]).skip(1);
        later.any(|sentence| *sentence == story[j])
    };
    let places = (0..story.len()).flat_map(|j| (0..j).map(move |i| [i, j]));
    places.filter(|&[i, j]| !is_told(i, j)).collect()
}
