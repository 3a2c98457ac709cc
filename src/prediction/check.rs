//! Checks that a prediction is consistent in itself, so that metrics can index without checks.

use super::{LabelledEntity, LabelledPair, LabelledStates, LabelledStory, StateCandidate};
use crate::attribute::{Attribute, Side};
use crate::untrusted::{MAX_ENTITIES, MAX_SENTENCES};
use std::collections::BTreeSet;
use std::fmt::Display;

/// How far the probabilities of the two stories may be from 1 in sum: files may have rounded them.
const ROUNDING: f32 = 0.01;

impl LabelledPair {
    /// Checks the indices, lengths, classes and numbers. The error says what is wrong, and where.
    pub fn check(&self) -> Result<(), String> {
        let LabelledPair { gold, prediction, .. } = self;
        within("gold_plausible", gold.plausible, 2)?;
        within("plausible", prediction.plausible, 2)?;
        fractions("story_probs", &prediction.story_probs)?;
        let [first, second] = prediction.story_probs;
        if (first + second - 1.).abs() > ROUNDING {
            return Err(format!("story_probs: {first} and {second} don't add up to 1"));
        }
        if prediction.story_probs[prediction.plausible] < prediction.story_probs[1 - prediction.plausible] {
            let plausible = prediction.plausible;
            return Err(format!(
                "plausible: is {plausible}, but story_probs {first} and {second} favour the other story"
            ));
        }
        let sentences = self.implausible_story().prediction.sentences.len();
        for sentence in gold.conflict {
            within("gold_conflict", sentence, sentences)?;
        }
        if gold.conflict[0] >= gold.conflict[1] {
            return Err("gold_conflict: the evidence must come before the breakpoint".into());
        }
        let longest = prediction.stories.iter().map(|story| story.sentences.len()).max().unwrap_or(0);
        for &sentence in &prediction.conflict {
            within("conflict", sentence, longest)?;
        }
        if !prediction.conflict.is_sorted_by(|a, b| a < b) {
            return Err("conflict: must be sorted and without repetition".into());
        }
        let mut stories = self.stories().into_iter().enumerate();
        stories.try_for_each(|(i, story)| story.check().map_err(|e| format!("stories[{i}].{e}")))?;
        let sentence_pairs = prediction.stories.iter().flat_map(|story| &story.sentence_pairs).flatten();
        match sentence_pairs.sum::<f32>() {
            total if total > 1. + ROUNDING => {
                Err(format!("sentence_pairs: add up to {total} over both stories, where at most 1 is possible"))
            }
            _ => Ok(()),
        }
    }
}

impl LabelledStory<'_> {
    fn check(self) -> Result<(), String> {
        let story = self.prediction;
        let (sentences, entities) = (story.sentences.len(), story.entities.len());
        at_most("sentences", sentences, MAX_SENTENCES)?;
        at_most("entities", entities, MAX_ENTITIES)?;
        if self.gold.entities.len() != entities {
            return Err(format!("entities: {entities} are predicted, {} labelled", self.gold.entities.len()));
        }
        if !story.sentence_pairs.is_empty() {
            one_a_sentence("sentence_pairs", story.sentence_pairs.len(), sentences)?;
            for (first, row) in story.sentence_pairs.iter().enumerate() {
                one_a_sentence("sentence_pairs", row.len(), sentences)?;
                fractions("sentence_pairs", row)?;
                if row[..=first].iter().any(|&probability| probability > ROUNDING) {
                    return Err(format!(
                        "sentence_pairs[{first}]: only [first][second] with first < second may be above 0"
                    ));
                }
            }
        }
        if !story.subjects.is_empty() {
            one_a_sentence("subjects", story.subjects.len(), sentences)?;
            for row in &story.subjects {
                one_a_sentence("subjects", row.len(), sentences)?;
                row.iter().try_for_each(|&entity| within("subjects", entity, entities))?;
            }
        }
        if let Some(no_conflict) = story.no_conflict {
            probability("no_conflict", no_conflict)?;
        }
        let check = |(i, entity): (usize, LabelledEntity)| {
            entity.check(sentences).map_err(|error| format!("entities[{i}].{error}"))
        };
        self.entities().enumerate().try_for_each(check)
    }
}

impl LabelledEntity<'_> {
    fn check(self, sentences: usize) -> Result<(), String> {
        let (conflict_probs, gold_conflicts) = (&self.prediction.conflict_probs, &self.gold.conflicts);
        one_a_sentence("conflict_probs", conflict_probs.len(), sentences)?;
        one_a_sentence("gold_conflicts", gold_conflicts.len(), sentences)?;
        fractions("conflict_probs", conflict_probs)?;
        for &conflict_prob in gold_conflicts {
            within("gold_conflicts", conflict_prob.into(), 2)?;
        }
        for side in Side::BOTH {
            let name = if side == Side::Precondition { "preconditions" } else { "effects" };
            self.side(side).check(sentences).map_err(|error| format!("{name}.{error}"))?;
        }
        Ok(())
    }
}

impl LabelledStates<'_> {
    fn check(self, sentences: usize) -> Result<(), String> {
        for (name, rows) in [("gold", self.gold), ("predicted", &self.predicted.classes)] {
            // Without labels there are no gold rows at all.
            if name != "gold" || !rows.is_empty() {
                one_a_sentence(name, rows.len(), sentences)?;
            }
            for classes in rows {
                for (attribute, &class) in Attribute::ALL.into_iter().zip(classes) {
                    within(format_args!("{name}: {attribute}"), class.into(), attribute.classes())?;
                }
            }
        }
        let mut labels = BTreeSet::new();
        for (i, candidate) in self.predicted.candidates.iter().enumerate() {
            candidate.check(sentences).map_err(|error| format!("candidates[{i}].{error}"))?;
            let StateCandidate { sentence, attribute, class, .. } = *candidate;
            let predicted = self.predicted.classes[sentence][attribute.index()];
            if attribute.is_nontrivial(predicted) && predicted != class {
                return Err(format!("candidates[{i}].class: {class}, where `predicted` has {predicted}"));
            }
            if !labels.insert((sentence, attribute.index())) {
                return Err(format!("candidates[{i}]: is the second one of {attribute} in sentence {sentence}"));
            }
        }
        Ok(())
    }
}

impl StateCandidate {
    fn check(&self, sentences: usize) -> Result<(), String> {
        let StateCandidate { sentence, attribute, class, probability, otherwise } = *self;
        within("sentence", sentence, sentences)?;
        within("class", class.into(), attribute.classes())?;
        within("otherwise", otherwise.into(), attribute.classes())?;
        if !attribute.is_nontrivial(class) || attribute.is_nontrivial(otherwise) {
            return Err(format!("{attribute}: `class` must be nontrivial and `otherwise` trivial"));
        }
        self::probability("probability", probability)
    }
}

fn within(field: impl Display, index: usize, end: usize) -> Result<(), String> {
    if index < end { Ok(()) } else { Err(format!("{field}: {index} is not below {end}")) }
}

fn at_most(field: &str, length: usize, most: usize) -> Result<(), String> {
    if length <= most { Ok(()) } else { Err(format!("{field}: has {length} items; at most {most} are allowed")) }
}

fn probability(field: &str, value: f32) -> Result<(), String> {
    if (0. ..=1.).contains(&value) { Ok(()) } else { Err(format!("{field}: {value} is not between 0 and 1")) }
}

fn one_a_sentence(field: &str, length: usize, sentences: usize) -> Result<(), String> {
    if length == sentences { Ok(()) } else { Err(format!("{field}: has {length} items for {sentences} sentences")) }
}

/// Probabilities and their sums, as far as float32 computes them.
fn fractions(field: &str, values: &[f32]) -> Result<(), String> {
    match values.iter().find(|value| !(-1e-3..=1.001).contains(*value)) {
        None => Ok(()),
        Some(value) => Err(format!("{field}: {value} is not between 0 and 1")),
    }
}
