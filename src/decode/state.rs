//! From the probabilities of states to those that are asserted.

use crate::prediction::{CANDIDATE_FLOOR, PairPrediction, StateLabels};

/// Which states are asserted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StateDecode {
    /// The most likely class of every head: the paper's.
    Argmax,
    /// The likeliest nontrivial class where it has at least this probability, else the likeliest trivial one. Below
    /// one half it asserts states that are not the most likely class.
    Threshold(f32),
}

impl StateDecode {
    /// `None` is argmax, as in files.
    pub fn new(threshold: Option<f32>) -> Self {
        threshold.map_or(StateDecode::Argmax, StateDecode::Threshold)
    }

    pub fn threshold(self) -> Option<f32> {
        match self {
            StateDecode::Argmax => None,
            StateDecode::Threshold(threshold) => Some(threshold),
        }
    }

    /// The prediction with its states decoded this way. Its `predicted` classes must be those of argmax, as
    /// predictions are recorded.
    pub fn apply_to(self, mut prediction: PairPrediction) -> PairPrediction {
        if let StateDecode::Threshold(threshold) = self {
            for entity in prediction.stories.iter_mut().flat_map(|story| &mut story.entities) {
                assert_from(&mut entity.preconditions, threshold);
                assert_from(&mut entity.effects, threshold);
            }
        }
        prediction
    }

    pub fn apply(self, predictions: &[PairPrediction]) -> Vec<PairPrediction> {
        predictions.iter().map(|prediction| self.apply_to(prediction.clone())).collect()
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
        }
    }
}

impl std::str::FromStr for StateDecode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "argmax" {
            return Ok(StateDecode::Argmax);
        }
        let threshold = text.parse().ok().filter(|t| (CANDIDATE_FLOOR..=1.).contains(t));
        threshold
            .map(StateDecode::Threshold)
            .ok_or(format!("must be argmax or a probability from {CANDIDATE_FLOOR} to 1"))
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
        for decode in [StateDecode::Argmax, StateDecode::Threshold(0.55)] {
            assert_eq!(decode.to_string().parse(), Ok(decode));
        }
        assert!(["0.05", "1.1", "NaN", "max"].iter().all(|text| text.parse::<StateDecode>().is_err()));
    }
}
