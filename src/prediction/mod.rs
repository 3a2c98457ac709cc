//! What a system predicts about a pair of stories. Every system produces this; metrics read nothing else.

mod check;
mod file;
mod mean;
mod published;
mod story;

pub use file::{PredictionFile, PredictionFormat, parse_predictions, read_predictions, write_lines, write_predictions};
pub use mean::mean_predictions;
pub use story::StoryJudgement;

use crate::attribute::{ATTRIBUTES, Attribute, Side};
use crate::data::{Entity, Pair, Story};
use serde::{Deserialize, Serialize};

/// Gold answers and predictions for one pair: one line of `predictions.jsonl`.
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
    /// Predicted: sentences in conflict over both stories, sorted, by the decoding in use.
    pub conflict: Vec<usize>,
    /// Both stories; indices of stories in this record count in this order.
    pub stories: [StoryPrediction; 2],
}

/// Predictions about one story of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoryPrediction {
    /// Of this story; [`PairPrediction::id`] is that of the implausible one.
    pub id: String,
    /// `[N]` in the order of the story.
    pub sentences: Vec<String>,
    /// `[N][N]` probability that the pair's conflict is in this story, between sentences i < j; empty if the system has
    /// no such distribution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentence_pairs: Vec<Vec<f32>>,
    /// `[N][N]` the entity that a conflict in this sentence pair is most likely about, as an index into `entities`;
    /// empty if the system does not predict it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Vec<usize>>,
    /// Probability that the story has no conflict; only if the system can predict it from this story alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_conflict: Option<f32>,
    /// In the order in which `subjects` counts them.
    pub entities: Vec<EntityPrediction>,
}

/// Predictions about one entity of a story; `[N]` has one item for each sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityPrediction {
    /// The entity's name: "fridge".
    pub name: String,
    /// `[N]` probability that the sentence takes part in a conflict of this entity.
    pub conflict_probs: Vec<f32>,
    /// `[N]` gold: 1 where `conflict_probs` should be 1.
    pub gold_conflicts: Vec<u8>,
    /// `[N]` states before each sentence.
    pub preconditions: StateLabels,
    /// `[N]` states after each sentence.
    pub effects: StateLabels,
}

/// Gold and predicted classes of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateLabels {
    /// `[N][20]` gold classes in the order of attributes; empty if the story has no state labels.
    pub gold: Vec<[u8; ATTRIBUTES]>,
    /// `[N][20]` predicted classes; in a file of predictions, the most likely ones.
    pub predicted: Vec<[u8; ATTRIBUTES]>,
    /// The most likely nontrivial class of every label where its probability is at least [`CANDIDATE_FLOOR`]. Empty if
    /// the system gives no probabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Whether it equals the gold class.
    pub correct: bool,
}

/// What is predicted of one side of an entity: the class of every attribute in every sentence, and the candidates.
pub type PredictedStates = (Vec<[u8; ATTRIBUTES]>, Vec<StateCandidate>);

impl EntityPrediction {
    /// Predictions about an entity, beside its gold labels. `states`: before and after every sentence.
    pub fn of(story: &Story, entity: &Entity, conflict_probs: Vec<f32>, states: [PredictedStates; 2]) -> Self {
        let target = story.conflict_target(entity);
        let is_gold = |i: usize| target.is_some_and(|conflict| conflict.evidence == i || conflict.breakpoint == i);
        let labels = |gold: &[[u8; ATTRIBUTES]], (predicted, candidates): PredictedStates| StateLabels {
            gold: if story.has_states() { gold.to_vec() } else { Vec::new() },
            predicted,
            candidates,
        };
        let [preconditions, effects] = states;
        EntityPrediction {
            name: entity.name.clone(),
            gold_conflicts: (0..conflict_probs.len()).map(|i| is_gold(i).into()).collect(),
            conflict_probs,
            preconditions: labels(&entity.preconditions, preconditions),
            effects: labels(&entity.effects, effects),
        }
    }

    /// The same without a predicted state.
    pub fn without_states(story: &Story, entity: &Entity, conflict_probs: Vec<f32>) -> Self {
        let nothing = || (vec![[0; ATTRIBUTES]; story.sentences.len()], Vec::new());
        Self::of(story, entity, conflict_probs, [nothing(), nothing()])
    }

    /// Its states before or after the sentences.
    pub fn side(&self, side: Side) -> &StateLabels {
        match side {
            Side::Precondition => &self.preconditions,
            Side::Effect => &self.effects,
        }
    }

    /// The same, to be changed.
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

    /// (sentence, attribute, gold class, predicted class) of every label; empty if the gold classes are not known.
    pub fn cells(&self) -> impl Iterator<Item = (usize, Attribute, u8, u8)> {
        let rows = self.gold.iter().zip(&self.predicted).enumerate();
        rows.flat_map(|(sentence, (gold, predicted))| {
            Attribute::ALL.into_iter().map(move |a| (sentence, a, gold[a.index()], predicted[a.index()]))
        })
    }

    /// Whether every nontrivial prediction has its probability, so that states can be decoded again.
    fn has_probabilities(&self) -> bool {
        let is_candidate =
            |sentence, attribute| self.candidates.iter().any(|c| c.sentence == sentence && c.attribute == attribute);
        self.predicted.iter().enumerate().all(|(sentence, classes)| {
            let mut nontrivial = Attribute::ALL.into_iter().filter(|a| a.is_nontrivial(classes[a.index()]));
            nontrivial.all(|attribute| is_candidate(sentence, attribute))
        })
    }
}

impl StoryPrediction {
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

    /// The conflict probability of a sentence: the largest one over the entities.
    pub fn conflict_prob(&self, sentence: usize) -> f32 {
        self.entities.iter().filter_map(|entity| entity.conflict_probs.get(sentence)).copied().fold(0., f32::max)
    }

    /// Whether the states explain the conflict: at least one nontrivial state is predicted among the effects of its
    /// first sentence and the preconditions of its second, and all predicted ones are correct.
    pub fn explains(&self, [evidence, breakpoint]: [usize; 2]) -> bool {
        let predicted = self.predicted_states(&[(Side::Effect, evidence), (Side::Precondition, breakpoint)]);
        !predicted.is_empty() && predicted.iter().all(|state| state.correct)
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
                let labels = entity.side(side);
                for attribute in Attribute::ALL {
                    let class = labels.predicted[sentence][attribute.index()];
                    if attribute.is_nontrivial(class) {
                        predicted.push(PredictedState {
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
        predicted
    }
}

impl PairPrediction {
    /// Predictions about a pair, beside its gold answers.
    pub fn of(
        pair: &Pair,
        plausible: usize,
        story_probs: [f32; 2],
        conflict: Vec<usize>,
        stories: [StoryPrediction; 2],
    ) -> Self {
        PairPrediction {
            id: pair.id.clone(),
            group: pair.group,
            kind: pair.kind.name().to_owned(),
            gold_plausible: pair.plausible,
            gold_conflict: [pair.conflict.evidence, pair.conflict.breakpoint],
            plausible,
            story_probs,
            conflict,
            stories,
        }
    }

    /// The story that is implausible by the gold label.
    pub fn implausible_story(&self) -> &StoryPrediction {
        &self.stories[1 - self.gold_plausible]
    }

    /// Whether the gold states of both stories are known. Verifiability is undefined without them.
    pub fn has_gold_states(&self) -> bool {
        let mut entities = self.stories.iter().flat_map(|story| &story.entities);
        entities.all(|entity| Side::BOTH.iter().all(|&side| entity.side(side).has_gold()))
    }

    /// Whether the states can be decoded with a threshold: every predicted one has its probability.
    pub fn has_state_probabilities(&self) -> bool {
        let mut entities = self.stories.iter().flat_map(|story| &story.entities);
        entities.all(|entity| Side::BOTH.iter().all(|&side| entity.side(side).has_probabilities()))
    }
}

/// The number of pairs without gold states.
pub fn without_states(predictions: &[PairPrediction]) -> u64 {
    predictions.iter().filter(|prediction| !prediction.has_gold_states()).count() as u64
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
