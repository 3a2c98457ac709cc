//! What a system said about a pair of stories. Whatever predicts produces this; metrics consume only this.

mod check;
mod file;
mod published;

pub use file::{PredictionFile, PredictionFormat, read_predictions, write_predictions};

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
    /// `[N][20]` gold classes in attribute order.
    pub gold: Vec<[u8; ATTRIBUTES]>,
    /// `[N][20]` predicted classes.
    pub predicted: Vec<[u8; ATTRIBUTES]>,
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
}

impl StoryPrediction {
    /// How firmly the sentence is believed to take part in a conflict: the largest belief over the entities.
    pub fn belief(&self, sentence: usize) -> f32 {
        self.entities.iter().filter_map(|entity| entity.beliefs.get(sentence)).copied().fold(0., f32::max)
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
                            correct: labels.gold[sentence][attribute.index()] == class,
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

    /// The nontrivial states asserted where the gold conflict is: effects of its first sentence and
    /// preconditions of its second, in the implausible story (spec of *verifiable*).
    pub fn asserted_at_conflict(&self) -> Vec<AssertedState> {
        let [evidence, breakpoint] = self.gold_conflict;
        self.implausible_story().asserted(&[(Side::Effect, evidence), (Side::Precondition, breakpoint)])
    }

    /// Tier 1: the plausible story was chosen.
    pub fn is_accurate(&self) -> bool {
        self.plausible == self.gold_plausible
    }

    /// Tier 2: accurate, and the sentences in conflict are exactly the gold ones.
    pub fn is_consistent(&self) -> bool {
        self.is_accurate() && self.conflict == self.gold_conflict
    }

    /// Tier 3: consistent, and at least one nontrivial state is asserted at the conflict, all of them correct.
    pub fn is_verifiable(&self) -> bool {
        let asserted = self.asserted_at_conflict();
        self.is_consistent() && !asserted.is_empty() && asserted.iter().all(|state| state.correct)
    }
}
