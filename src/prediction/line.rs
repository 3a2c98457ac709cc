//! A line of `predictions.jsonl`: gold answers and predictions side by side, as `docs/formats.md` describes them.

use super::{
    EntityGold, EntityPrediction, LabelledPair, PairGold, PairPrediction, PredictedStates, StateCandidate, StoryGold,
    StoryPrediction,
};
use crate::attribute::ATTRIBUTES;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A pair. The fields mean what those of [`LabelledPair`] mean.
#[derive(Serialize, Deserialize)]
struct PairLine {
    id: String,
    group: i64,
    kind: String,
    gold_plausible: usize,
    gold_conflict: [usize; 2],
    plausible: usize,
    story_probs: [f32; 2],
    conflict: Vec<usize>,
    stories: [StoryLine; 2],
}

#[derive(Serialize, Deserialize)]
struct StoryLine {
    id: String,
    sentences: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sentence_pairs: Vec<Vec<f32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    subjects: Vec<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    no_conflict: Option<f32>,
    entities: Vec<EntityLine>,
}

#[derive(Serialize, Deserialize)]
struct EntityLine {
    name: String,
    conflict_probs: Vec<f32>,
    gold_conflicts: Vec<u8>,
    preconditions: StatesLine,
    effects: StatesLine,
}

#[derive(Serialize, Deserialize)]
struct StatesLine {
    gold: Vec<[u8; ATTRIBUTES]>,
    predicted: Vec<[u8; ATTRIBUTES]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<StateCandidate>,
}

impl Serialize for LabelledPair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PairLine::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LabelledPair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PairLine::deserialize(deserializer).map(Self::from)
    }
}

impl From<LabelledPair> for PairLine {
    fn from(pair: LabelledPair) -> Self {
        let LabelledPair { id, group, kind, gold, prediction } = pair;
        let PairPrediction { plausible, story_probs, conflict, stories } = prediction;
        let ([gold_a, gold_b], [a, b]) = (gold.stories, stories);
        PairLine {
            id,
            group,
            kind,
            gold_plausible: gold.plausible,
            gold_conflict: gold.conflict,
            plausible,
            story_probs,
            conflict,
            stories: [StoryLine::new(gold_a, a), StoryLine::new(gold_b, b)],
        }
    }
}

impl From<PairLine> for LabelledPair {
    fn from(line: PairLine) -> Self {
        let PairLine { id, group, kind, gold_plausible, gold_conflict, plausible, story_probs, conflict, stories } =
            line;
        let [(gold_a, a), (gold_b, b)] = stories.map(StoryLine::split);
        let gold = PairGold { plausible: gold_plausible, conflict: gold_conflict, stories: [gold_a, gold_b] };
        let prediction = PairPrediction { plausible, story_probs, conflict, stories: [a, b] };
        LabelledPair { id, group, kind, gold, prediction }
    }
}

impl StoryLine {
    fn new(gold: StoryGold, story: StoryPrediction) -> Self {
        let StoryPrediction { id, sentences, sentence_pairs, subjects, no_conflict, entities } = story;
        let entities = gold.entities.into_iter().zip(entities).map(|(gold, entity)| EntityLine::new(gold, entity));
        StoryLine { id, sentences, sentence_pairs, subjects, no_conflict, entities: entities.collect() }
    }

    fn split(self) -> (StoryGold, StoryPrediction) {
        let StoryLine { id, sentences, sentence_pairs, subjects, no_conflict, entities } = self;
        let (gold, entities) = entities.into_iter().map(EntityLine::split).unzip();
        let story = StoryPrediction { id, sentences, sentence_pairs, subjects, no_conflict, entities };
        (StoryGold { entities: gold }, story)
    }
}

impl EntityLine {
    fn new(gold: EntityGold, entity: EntityPrediction) -> Self {
        EntityLine {
            name: entity.name,
            conflict_probs: entity.conflict_probs,
            gold_conflicts: gold.conflicts,
            preconditions: StatesLine::new(gold.preconditions, entity.preconditions),
            effects: StatesLine::new(gold.effects, entity.effects),
        }
    }

    fn split(self) -> (EntityGold, EntityPrediction) {
        let EntityLine { name, conflict_probs, gold_conflicts, preconditions, effects } = self;
        let [(gold_preconditions, preconditions), (gold_effects, effects)] =
            [preconditions, effects].map(StatesLine::split);
        let gold = EntityGold { conflicts: gold_conflicts, preconditions: gold_preconditions, effects: gold_effects };
        (gold, EntityPrediction { name, conflict_probs, preconditions, effects })
    }
}

impl StatesLine {
    fn new(gold: Vec<[u8; ATTRIBUTES]>, states: PredictedStates) -> Self {
        StatesLine { gold, predicted: states.classes, candidates: states.candidates }
    }

    fn split(self) -> (Vec<[u8; ATTRIBUTES]>, PredictedStates) {
        (self.gold, PredictedStates { classes: self.predicted, candidates: self.candidates })
    }
}
