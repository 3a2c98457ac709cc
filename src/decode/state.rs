//! From the probabilities of states to those that are asserted.

use crate::attribute::Side;
use crate::prediction::{CANDIDATE_FLOOR, EntityPrediction, PairPrediction, StateLabels, StoryPrediction};
use serde::{Deserialize, Serialize};

/// Which states are asserted. As text `argmax`, `0.7` or `0.7,surest`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StateDecode {
    /// The most likely class of every head: the paper's.
    #[default]
    Argmax,
    /// The likeliest nontrivial class where it has at least this probability, else the likeliest trivial one. Below
    /// one half it asserts states that are not the most likely class.
    Threshold(f32),
    /// The same, but a conflict is never left unexplained: where nothing would be asserted among the effects of its
    /// first sentence and the preconditions of its second, the likeliest state among them is.
    Surest(f32),
}

impl StateDecode {
    /// The prediction, whose conflict has been decoded, with its states decoded this way. Its `predicted` classes must
    /// be those of argmax, as predictions are recorded.
    pub fn apply_to(self, mut prediction: PairPrediction) -> PairPrediction {
        let [plausible, implausible] = [prediction.plausible, 1 - prediction.plausible];
        self.apply_to_story(&mut prediction.stories[plausible], &[]);
        self.apply_to_story(&mut prediction.stories[implausible], &prediction.conflict);
        prediction
    }

    /// Decodes the states of one story whose sentences `conflict` are said to conflict.
    pub fn apply_to_story(self, story: &mut StoryPrediction, conflict: &[usize]) {
        let (StateDecode::Threshold(threshold) | StateDecode::Surest(threshold)) = self else { return };
        for entity in &mut story.entities {
            assert_from(&mut entity.preconditions, threshold);
            assert_from(&mut entity.effects, threshold);
        }
        if let (StateDecode::Surest(_), &[first, second]) = (self, conflict) {
            explain(story, first, second);
        }
    }

    pub fn apply(self, predictions: &[PairPrediction]) -> Vec<PairPrediction> {
        predictions.iter().map(|prediction| self.apply_to(prediction.clone())).collect()
    }
}

/// Asserts the likeliest state among the effects of one sentence and the preconditions of another, if none is.
fn explain(story: &mut StoryPrediction, first: usize, second: usize) {
    let places = [(Side::Effect, first), (Side::Precondition, second)];
    if second >= story.sentences.len() || !story.asserted(&places).is_empty() {
        return;
    }
    let at_places = places.iter().flat_map(|&(side, sentence)| {
        let of_entity = move |(e, entity): (usize, &EntityPrediction)| {
            let here = entity.side(side).candidates.iter().filter(move |c| c.sentence == sentence);
            here.map(|candidate| (e, side, candidate.clone())).collect::<Vec<_>>()
        };
        story.entities.iter().enumerate().flat_map(of_entity)
    });
    let surest = at_places.max_by(|(.., a), (.., b)| a.probability.total_cmp(&b.probability));
    if let Some((e, side, candidate)) = surest {
        let labels = story.entities[e].side_mut(side);
        labels.predicted[candidate.sentence][candidate.attribute.index()] = candidate.class;
    }
}

/// A label without a candidate is trivial by argmax and by every threshold.
fn assert_from(labels: &mut StateLabels, threshold: f32) {
    for candidate in &labels.candidates {
        let class = if candidate.probability >= threshold { candidate.class } else { candidate.otherwise };
        labels.predicted[candidate.sentence][candidate.attribute.index()] = class;
    }
}

impl std::fmt::Display for StateDecode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StateDecode::Argmax => f.write_str("argmax"),
            StateDecode::Threshold(threshold) => write!(f, "{threshold}"),
            StateDecode::Surest(threshold) => write!(f, "{threshold},surest"),
        }
    }
}

impl std::str::FromStr for StateDecode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "argmax" {
            return Ok(StateDecode::Argmax);
        }
        let (number, kind): (_, fn(f32) -> StateDecode) = match text.strip_suffix(",surest") {
            Some(number) => (number, StateDecode::Surest),
            None => (text, StateDecode::Threshold),
        };
        let threshold = number.parse().ok().filter(|t| (CANDIDATE_FLOOR..=1.).contains(t));
        let wrong =
            || format!("{text:?}: must be argmax, P or P,surest with a probability P from {CANDIDATE_FLOOR} to 1");
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

    /// By argmax `open` is 2 and `exist` is 1, and `power` says nothing.
    fn labels() -> StateLabels {
        let mut predicted = [0; ATTRIBUTES];
        predicted[Attribute::Open.index()] = 2;
        predicted[Attribute::Exist.index()] = 1;
        let candidates = vec![
            candidate(Attribute::Open, 2, 0.8, 0),
            candidate(Attribute::Exist, 1, 0.45, 2),
            candidate(Attribute::Power, 1, 0.4, 0),
        ];
        StateLabels { gold: vec![[0; ATTRIBUTES]], predicted: vec![predicted], candidates }
    }

    #[test]
    fn a_state_is_asserted_from_the_threshold_on() {
        let classes = |threshold| {
            let mut labels = labels();
            assert_from(&mut labels, threshold);
            [Attribute::Open, Attribute::Exist, Attribute::Power].map(|a| labels.predicted[0][a.index()])
        };
        assert_eq!(classes(0.81), [0, 2, 0]);
        assert_eq!(classes(0.8), [2, 2, 0]);
        assert_eq!(classes(0.45), [2, 1, 0]);
        assert_eq!(classes(0.3), [2, 1, 1]);
    }

    #[test]
    fn names_are_read_back() {
        for decode in [StateDecode::Argmax, StateDecode::Threshold(0.55), StateDecode::Surest(0.9)] {
            assert_eq!(decode.to_string().parse(), Ok(decode));
        }
        assert!(["0.01", "1.1", "NaN", "max", "surest"].iter().all(|text| text.parse::<StateDecode>().is_err()));
    }
}
