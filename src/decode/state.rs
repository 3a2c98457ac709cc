//! Reads the predicted states from the probabilities of states.

use crate::attribute::Side;
use crate::prediction::{CANDIDATE_FLOOR, EntityPrediction, LabelledPair, PredictedStates, StoryPrediction};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which states are predicted. Written as `argmax`, `0.7`, `0.7+top1` or `single`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StateDecode {
    /// The most likely class of every head, as in the papers.
    #[default]
    Argmax,
    /// The most likely nontrivial class if it has at least this probability, else the most likely trivial one. A
    /// threshold below 0.5 also predicts states that are not the most likely class.
    Threshold(f32),
    /// Like `Threshold`, with the fallback top-1: if no state reaches the threshold among the effects of the first
    /// sentence in conflict and the preconditions of the second, the most probable of these states is predicted.
    ThresholdTop1(f32),
    /// One attribute of one entity at the conflict, and nothing else, as FCGLI-HAR answers (Zhang et al., From Heuristic to
    /// Analytic, EMNLP 2023): its most likely classes after the first and before the second sentence in conflict. It is
    /// the attribute with the largest sum of the probabilities of its most likely nontrivial class in the two places.
    Single,
}

impl StateDecode {
    /// Decodes the states of a prediction whose conflict is decoded. Its `predicted` classes must be those of argmax,
    /// as in recorded predictions.
    pub fn apply_to(self, mut pair: LabelledPair) -> LabelledPair {
        let prediction = &mut pair.prediction;
        let [plausible, implausible] = [prediction.plausible, 1 - prediction.plausible];
        self.apply_to_story(&mut prediction.stories[plausible], &[]);
        self.apply_to_story(&mut prediction.stories[implausible], &prediction.conflict);
        pair
    }

    /// Decodes the states of one story whose predicted sentences in conflict are `conflict`.
    pub fn apply_to_story(self, story: &mut StoryPrediction, conflict: &[usize]) {
        match self {
            StateDecode::Argmax => {}
            StateDecode::Threshold(threshold) => predict_all_from(story, threshold),
            StateDecode::ThresholdTop1(threshold) => {
                predict_all_from(story, threshold);
                if let &[first, second] = conflict {
                    predict_top1(story, first, second);
                }
            }
            StateDecode::Single => predict_single(story, conflict),
        }
    }

    /// Decodes copies of all pairs, each as [`StateDecode::apply_to`] does.
    pub fn apply(self, pairs: &[LabelledPair]) -> Vec<LabelledPair> {
        pairs.iter().map(|pair| self.apply_to(pair.clone())).collect()
    }
}

/// Predicts the most probable state among the effects of one sentence and the preconditions of another, if none is
/// predicted there.
fn predict_top1(story: &mut StoryPrediction, first: usize, second: usize) {
    let sides = [(Side::Effect, first), (Side::Precondition, second)];
    if second >= story.sentences.len() || !story.predicted_states(&sides).is_empty() {
        return;
    }
    let of_conflict = sides.iter().flat_map(|&(side, sentence)| {
        let of_entity = move |(e, entity): (usize, &EntityPrediction)| {
            let here = entity.side(side).candidates.iter().filter(move |c| c.sentence == sentence);
            here.map(|candidate| (e, side, candidate.clone())).collect::<Vec<_>>()
        };
        story.entities.iter().enumerate().flat_map(of_entity)
    });
    let all: Vec<_> = of_conflict.collect();
    let top = all.into_iter().rev().max_by(|(.., a), (.., b)| a.probability.total_cmp(&b.probability));
    if let Some((e, side, candidate)) = top {
        let states = story.entities[e].side_mut(side);
        states.classes[candidate.sentence][candidate.attribute.index()] = candidate.class;
    }
}

/// Predicts one attribute of one entity: its effect in one sentence and its precondition in another. Without these two
/// sentences, or if both classes are trivial, it predicts nothing. Of attributes that are equally likely the first one counts.
fn predict_single(story: &mut StoryPrediction, conflict: &[usize]) {
    let argmax = story.clone();
    predict_all_from(story, f32::INFINITY);
    let &[first, second] = conflict else { return };
    if second >= story.sentences.len() {
        return;
    }
    let sides = [(Side::Effect, first), (Side::Precondition, second)];
    let mut sums: BTreeMap<(usize, usize), f32> = BTreeMap::new();
    for (e, entity) in argmax.entities.iter().enumerate() {
        for (side, sentence) in sides {
            for candidate in entity.side(side).candidates.iter().filter(|c| c.sentence == sentence) {
                *sums.entry((e, candidate.attribute.index())).or_default() += candidate.probability;
            }
        }
    }
    let Some((&(e, attribute), _)) = sums.iter().rev().max_by(|(_, a), (_, b)| a.total_cmp(b)) else { return };
    for (side, sentence) in sides {
        let class = argmax.entities[e].side(side).classes[sentence][attribute];
        story.entities[e].side_mut(side).classes[sentence][attribute] = class;
    }
}

fn predict_all_from(story: &mut StoryPrediction, threshold: f32) {
    for entity in &mut story.entities {
        predict_from(&mut entity.preconditions, threshold);
        predict_from(&mut entity.effects, threshold);
    }
}

/// Applies the threshold. A label without a candidate is trivial by argmax and by every threshold.
fn predict_from(states: &mut PredictedStates, threshold: f32) {
    for candidate in &states.candidates {
        let class = if candidate.probability >= threshold { candidate.class } else { candidate.otherwise };
        states.classes[candidate.sentence][candidate.attribute.index()] = class;
    }
}

impl std::fmt::Display for StateDecode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StateDecode::Argmax => f.write_str("argmax"),
            StateDecode::Threshold(threshold) => write!(f, "{threshold}"),
            StateDecode::ThresholdTop1(threshold) => write!(f, "{threshold}+top1"),
            StateDecode::Single => f.write_str("single"),
        }
    }
}

impl std::str::FromStr for StateDecode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "argmax" => return Ok(StateDecode::Argmax),
            "single" => return Ok(StateDecode::Single),
            _ => {}
        }
        let (number, kind): (_, fn(f32) -> StateDecode) = match text.strip_suffix("+top1") {
            Some(number) => (number, StateDecode::ThresholdTop1),
            None => (text, StateDecode::Threshold),
        };
        let threshold = number.parse().ok().filter(|t| (CANDIDATE_FLOOR..=1.).contains(t));
        let wrong = || {
            format!("{text:?}: must be argmax, single, P or P+top1 with a probability P from {CANDIDATE_FLOOR} to 1")
        };
        threshold.map(kind).ok_or_else(wrong)
    }
}

impl TryFrom<String> for StateDecode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<StateDecode> for String {
    fn from(decode: StateDecode) -> Self {
        decode.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::{ATTRIBUTES, Attribute};
    use crate::prediction::StateCandidate;

    fn candidate(attribute: Attribute, class: u8, probability: f32, otherwise: u8) -> StateCandidate {
        StateCandidate { sentence: 0, attribute, class, probability, otherwise }
    }

    /// A story of two sentences.
    fn story(entities: Vec<EntityPrediction>) -> StoryPrediction {
        StoryPrediction::without_sentence_pairs("", vec![String::new(); 2], entities)
    }

    /// By argmax, `open` is 2, `exist` is 1, and `power` has no candidate.
    fn states() -> PredictedStates {
        let mut classes = [0; ATTRIBUTES];
        classes[Attribute::Open.index()] = 2;
        classes[Attribute::Exist.index()] = 1;
        let candidates = vec![
            candidate(Attribute::Open, 2, 0.8, 0),
            candidate(Attribute::Exist, 1, 0.45, 2),
            candidate(Attribute::Power, 1, 0.4, 0),
        ];
        PredictedStates { classes: vec![classes], candidates }
    }

    #[test]
    fn a_state_is_predicted_from_the_threshold_on() {
        let classes = |threshold| {
            let mut states = states();
            predict_from(&mut states, threshold);
            [Attribute::Open, Attribute::Exist, Attribute::Power].map(|a| states.classes[0][a.index()])
        };
        assert_eq!(classes(0.81), [0, 2, 0]);
        assert_eq!(classes(0.8), [2, 2, 0]);
        assert_eq!(classes(0.45), [2, 1, 0]);
        assert_eq!(classes(0.3), [2, 1, 1]);
    }

    #[test]
    fn the_fallback_predicts_the_most_probable_state_at_the_conflict() {
        let nothing = || PredictedStates::nothing(2);
        let effects = PredictedStates { candidates: vec![candidate(Attribute::Power, 1, 0.4, 0)], ..nothing() };
        let entity = EntityPrediction { effects, ..EntityPrediction::without_states("lamp", vec![0.; 2]) };
        let mut story = story(vec![entity]);
        let power = |story: &StoryPrediction| story.entities[0].effects.classes[0][Attribute::Power.index()];
        StateDecode::ThresholdTop1(0.9).apply_to_story(&mut story, &[0, 2]);
        assert_eq!(power(&story), 0, "the story has no such sentence");
        StateDecode::ThresholdTop1(0.9).apply_to_story(&mut story, &[0, 1]);
        assert_eq!(power(&story), 1);
    }

    #[test]
    fn single_predicts_the_attribute_that_most_probably_changes_in_the_conflict() {
        let of = |candidates: &[(Attribute, u8, f32)], sentence| {
            let mut states = PredictedStates::nothing(2);
            for &(attribute, class, probability) in candidates {
                states.candidates.push(StateCandidate { sentence, ..candidate(attribute, class, probability, 0) });
                states.classes[sentence][attribute.index()] = if probability > 0.5 { class } else { 0 };
            }
            states
        };
        let entity = |name: &str, effects: &[_], preconditions: &[_]| EntityPrediction {
            effects: of(effects, 0),
            preconditions: of(preconditions, 1),
            ..EntityPrediction::without_states(name, vec![0.; 2])
        };
        let mut story = story(vec![
            entity("lamp", &[(Attribute::Power, 1, 0.9), (Attribute::Open, 1, 0.6)], &[(Attribute::Open, 2, 0.2)]),
            entity("cup", &[(Attribute::Open, 1, 0.6)], &[(Attribute::Open, 2, 0.55), (Attribute::Power, 2, 0.9)]),
        ]);
        let states = |story: &StoryPrediction| story.predicted_states(&[(Side::Effect, 0), (Side::Precondition, 1)]);
        let argmax = states(&story);
        StateDecode::Single.apply_to_story(&mut story, &[0, 1]);
        let single = states(&story);
        assert_eq!((argmax.len(), single.len()), (5, 2));
        assert!(single.iter().all(|state| state.entity == "cup" && state.attribute == Attribute::Open), "{single:?}");
        let unlikely = vec![entity("lamp", &[(Attribute::Power, 1, 0.4)], &[])];
        let mut unsure = self::story(unlikely);
        StateDecode::Single.apply_to_story(&mut unsure, &[0, 1]);
        assert!(states(&unsure).is_empty());
        for conflict in [&[0][..], &[0, 2]] {
            StateDecode::Single.apply_to_story(&mut story, conflict);
            assert!(states(&story).is_empty(), "{conflict:?}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for decode in
            [StateDecode::Argmax, StateDecode::Threshold(0.55), StateDecode::ThresholdTop1(0.9), StateDecode::Single]
        {
            assert_eq!(decode.to_string().parse(), Ok(decode));
        }
        assert!(["0.01", "1.1", "NaN", "max", "top1"].iter().all(|text| text.parse::<StateDecode>().is_err()));
    }
}
