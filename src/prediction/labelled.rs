//! Predictions beside the gold answers: what metrics read.

use super::{EntityGold, EntityPrediction, PairGold, PairPrediction, PredictedStates, StoryGold, StoryPrediction};
use crate::attribute::{ATTRIBUTES, Attribute, Side};
use crate::data::Pair;

/// The gold answers about a pair, and what is predicted: one line of `predictions.jsonl`.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledPair {
    /// Id of the implausible story.
    pub id: String,
    /// Number of the plausible story.
    pub group: i64,
    /// "cloze" or "order".
    pub kind: String,
    /// What is right.
    pub gold: PairGold,
    /// What is predicted.
    pub prediction: PairPrediction,
}

/// One story of a [`LabelledPair`].
#[derive(Debug, Clone, Copy)]
pub struct LabelledStory<'a> {
    /// What is right.
    pub gold: &'a StoryGold,
    /// What is predicted.
    pub prediction: &'a StoryPrediction,
}

/// One entity of a [`LabelledStory`].
#[derive(Debug, Clone, Copy)]
pub struct LabelledEntity<'a> {
    /// What is right.
    pub gold: &'a EntityGold,
    /// What is predicted.
    pub prediction: &'a EntityPrediction,
}

/// One side of a [`LabelledEntity`].
#[derive(Debug, Clone, Copy)]
pub struct LabelledStates<'a> {
    /// `[N][20]` gold classes; empty if the story has no state labels.
    pub gold: &'a [[u8; ATTRIBUTES]],
    /// What is predicted.
    pub predicted: &'a PredictedStates,
}

impl LabelledPair {
    /// A prediction about a labelled pair.
    pub fn new(pair: &Pair, prediction: PairPrediction) -> Self {
        LabelledPair {
            id: pair.id.clone(),
            group: pair.group,
            kind: pair.kind.name().to_owned(),
            gold: PairGold::of(pair),
            prediction,
        }
    }

    /// The same with the two stories in the other order.
    pub fn turned(mut self) -> Self {
        let LabelledPair { gold, prediction, .. } = &mut self;
        gold.plausible = 1 - gold.plausible;
        gold.stories.reverse();
        prediction.plausible = 1 - prediction.plausible;
        prediction.story_probs.reverse();
        prediction.stories.reverse();
        self
    }

    /// Both stories, in order.
    pub fn stories(&self) -> [LabelledStory<'_>; 2] {
        [0, 1].map(|s| LabelledStory { gold: &self.gold.stories[s], prediction: &self.prediction.stories[s] })
    }

    /// The story that is plausible by the gold label.
    pub fn plausible_story(&self) -> LabelledStory<'_> {
        self.stories()[self.gold.plausible]
    }

    /// The story that is implausible by the gold label.
    pub fn implausible_story(&self) -> LabelledStory<'_> {
        self.stories()[1 - self.gold.plausible]
    }

    /// Both sides of all entities of both stories.
    pub fn states(&self) -> impl Iterator<Item = LabelledStates<'_>> {
        self.stories().into_iter().flat_map(LabelledStory::states)
    }

    /// Whether the states can be decoded with a threshold ([`PairPrediction::has_state_probabilities`]).
    pub fn has_state_probabilities(&self) -> bool {
        self.prediction.has_state_probabilities()
    }

    /// Whether two answers to a pair can be compared: it has the same stories and the same gold conflict, and each entity
    /// that both answers name has the same gold states. Entities may differ, if one system found its own.
    pub fn asks_the_same(&self, other: &LabelledPair) -> bool {
        self.gold.conflict == other.gold.conflict
            && self.implausible_story().asks_the_same(other.implausible_story())
            && self.plausible_story().asks_the_same(other.plausible_story())
    }

    /// Whether the gold states of both stories are known. Verifiability is undefined without them.
    pub fn has_gold_states(&self) -> bool {
        self.states().all(LabelledStates::has_gold)
    }
}

impl<'a> LabelledStory<'a> {
    fn asks_the_same(self, other: LabelledStory) -> bool {
        let same_states = |entity: LabelledEntity| {
            let [these, those] = [self, other].map(|story| story.gold_states(&entity.prediction.name));
            those.is_empty() || these == those
        };
        self.prediction.sentences == other.prediction.sentences && self.entities().all(same_states)
    }

    /// Both sides of the gold states of all entities of this name, in any order: several may share it.
    fn gold_states(self, name: &str) -> Vec<[&'a [[u8; ATTRIBUTES]]; 2]> {
        let namesakes = self.entities().filter(|entity| entity.prediction.name == name);
        let mut states: Vec<_> = namesakes.map(|entity| Side::BOTH.map(|side| entity.gold.side(side))).collect();
        states.sort_unstable();
        states
    }

    /// The entities, in order.
    pub fn entities(self) -> impl Iterator<Item = LabelledEntity<'a>> {
        let entities = self.gold.entities.iter().zip(&self.prediction.entities);
        entities.map(|(gold, prediction)| LabelledEntity { gold, prediction })
    }

    /// Both sides of all entities.
    pub fn states(self) -> impl Iterator<Item = LabelledStates<'a>> {
        self.entities().flat_map(|entity| Side::BOTH.map(|side| entity.side(side)))
    }

    /// Whether the states explain the conflict: at least one nontrivial state is predicted among the effects of its
    /// first sentence and the preconditions of its second, and all predicted ones are correct.
    pub fn explains(self, [evidence, breakpoint]: [usize; 2]) -> bool {
        let at_conflict = |entity: LabelledEntity<'a>| {
            let effects = entity.side(Side::Effect).nontrivial(evidence);
            effects.chain(entity.side(Side::Precondition).nontrivial(breakpoint)).collect::<Vec<_>>()
        };
        let predicted: Vec<(Option<u8>, u8)> = self.entities().flat_map(at_conflict).collect();
        !predicted.is_empty() && predicted.into_iter().all(|(gold, predicted)| gold == Some(predicted))
    }
}

impl<'a> LabelledEntity<'a> {
    /// Its states before or after the sentences.
    pub fn side(self, side: Side) -> LabelledStates<'a> {
        LabelledStates { gold: self.gold.side(side), predicted: self.prediction.side(side) }
    }
}

impl<'a> LabelledStates<'a> {
    /// Whether the gold classes are known.
    fn has_gold(self) -> bool {
        self.gold.len() == self.predicted.classes.len()
    }

    /// (sentence, attribute, gold class, predicted class) of every label; empty if the gold classes are not known.
    pub fn cells(self) -> impl Iterator<Item = (usize, Attribute, u8, u8)> {
        let rows = self.gold.iter().zip(&self.predicted.classes).enumerate();
        rows.flat_map(|(sentence, (gold, predicted))| {
            Attribute::ALL.into_iter().map(move |a| (sentence, a, gold[a.index()], predicted[a.index()]))
        })
    }

    /// (gold class, predicted class) of the nontrivial predictions at a sentence; no gold class if it is not known.
    fn nontrivial(self, sentence: usize) -> impl Iterator<Item = (Option<u8>, u8)> {
        let predicted = move |a: Attribute| self.predicted.classes[sentence][a.index()];
        let nontrivial = Attribute::ALL.into_iter().filter(move |&a| a.is_nontrivial(predicted(a)));
        nontrivial.map(move |a| (self.gold.get(sentence).map(|gold| gold[a.index()]), predicted(a)))
    }
}

/// The number of pairs without gold states.
pub fn without_states(pairs: &[LabelledPair]) -> u64 {
    pairs.iter().filter(|pair| !pair.has_gold_states()).count() as u64
}
