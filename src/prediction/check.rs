//! Checks that a prediction is consistent in itself, so that metrics can index without checks.

use super::{EntityPrediction, PairPrediction, StateCandidate, StateLabels, StoryPrediction};
use crate::attribute::{Attribute, Side};
use crate::untrusted::{MAX_ENTITIES, MAX_SENTENCES};

impl PairPrediction {
    /// Checks the indices, lengths, classes and numbers. The error says what is wrong, and where.
    pub fn check(&self) -> Result<(), String> {
        within("gold_plausible", self.gold_plausible, 2)?;
        within("plausible", self.plausible, 2)?;
        finite("story_probs", &self.story_probs)?;
        let sentences = self.implausible_story().sentences.len();
        for sentence in self.gold_conflict {
            within("gold_conflict", sentence, sentences)?;
        }
        if self.gold_conflict[0] >= self.gold_conflict[1] {
            return Err("gold_conflict: the evidence must come before the breakpoint".into());
        }
        let longest = self.stories.iter().map(|story| story.sentences.len()).max().unwrap_or(0);
        for &sentence in &self.conflict {
            within("conflict", sentence, longest)?;
        }
        if !self.conflict.is_sorted_by(|a, b| a < b) {
            return Err("conflict: must be sorted and without repetition".into());
        }
        self.stories
            .iter()
            .enumerate()
            .try_for_each(|(i, story)| story.check().map_err(|e| format!("stories[{i}].{e}")))
    }
}

impl StoryPrediction {
    fn check(&self) -> Result<(), String> {
        let check = |(i, entity): (usize, &EntityPrediction)| {
            entity.check(self.sentences.len()).map_err(|error| format!("entities[{i}].{error}"))
        };
        at_most("sentences", self.sentences.len(), MAX_SENTENCES)?;
        at_most("entities", self.entities.len(), MAX_ENTITIES)?;
        if !self.sentence_pairs.is_empty() {
            one_a_sentence("sentence_pairs", self.sentence_pairs.len(), self.sentences.len())?;
            for row in &self.sentence_pairs {
                one_a_sentence("sentence_pairs", row.len(), self.sentences.len())?;
                finite("sentence_pairs", row)?;
            }
        }
        if !self.subjects.is_empty() {
            one_a_sentence("subjects", self.subjects.len(), self.sentences.len())?;
            for row in &self.subjects {
                one_a_sentence("subjects", row.len(), self.sentences.len())?;
                row.iter().try_for_each(|&entity| within("subjects", entity, self.entities.len()))?;
            }
        }
        if let Some(no_conflict) = self.no_conflict {
            probability("no_conflict", no_conflict)?;
        }
        self.entities.iter().enumerate().try_for_each(check)
    }
}

impl EntityPrediction {
    fn check(&self, sentences: usize) -> Result<(), String> {
        one_a_sentence("conflict_probs", self.conflict_probs.len(), sentences)?;
        one_a_sentence("gold_conflicts", self.gold_conflicts.len(), sentences)?;
        finite("conflict_probs", &self.conflict_probs)?;
        for &conflict_prob in &self.gold_conflicts {
            within("gold_conflicts", conflict_prob.into(), 2)?;
        }
        for side in Side::BOTH {
            let name = if side == Side::Precondition { "preconditions" } else { "effects" };
            self.side(side).check(sentences).map_err(|error| format!("{name}.{error}"))?;
        }
        Ok(())
    }
}

impl StateLabels {
    fn check(&self, sentences: usize) -> Result<(), String> {
        for (name, rows) in [("gold", &self.gold), ("predicted", &self.predicted)] {
            // Without labels there are no gold rows at all.
            if name != "gold" || !rows.is_empty() {
                one_a_sentence(name, rows.len(), sentences)?;
            }
            for classes in rows {
                for (attribute, &class) in Attribute::ALL.into_iter().zip(classes) {
                    within(&format!("{name}: {attribute}"), class.into(), attribute.classes())?;
                }
            }
        }
        for (i, candidate) in self.candidates.iter().enumerate() {
            candidate.check(sentences).map_err(|error| format!("candidates[{i}].{error}"))?;
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

fn within(field: &str, index: usize, end: usize) -> Result<(), String> {
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

fn finite(field: &str, values: &[f32]) -> Result<(), String> {
    if values.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(format!("{field}: a value is not finite")) }
}
