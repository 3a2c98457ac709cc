//! What a model proposes for a story: labels with their probabilities, and sentence pairs that may be in conflict.

use super::change::{EntityId, SentenceId};
use super::question::ProposalQuestion;
use crate::attribute::{Attribute, Side};
use crate::prediction::{EntityPrediction, PairPrediction, StoryPrediction};
use serde::Serialize;

/// How many sentence pairs are proposed.
const MOST_CONFLICTS: usize = 3;

/// What a model says about a story. Nothing of it is an answer until an annotator makes it one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The key of the story.
    pub story: String,
    /// Cells that an annotator would label: those whose sentence names the entity, and those with a nontrivial label.
    pub cells: Vec<ProposedCell>,
    /// The most likely conflicts, the first one first; none for a plausible story.
    pub conflict: Vec<ProposedConflict>,
    /// The probability that this story, and not its plausible one, is the plausible one; `None` for a plausible story.
    pub plausible: Option<f32>,
}

/// The labels that are proposed for an entity in a sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposedCell {
    /// Whose labels.
    pub entity: EntityId,
    /// In which sentence.
    pub sentence: SentenceId,
    /// The nontrivial ones, and the default of `exist` or `conscious`, so that who accepts the cell annotates it.
    pub labels: Vec<ProposedLabel>,
}

/// A label and how likely it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposedLabel {
    /// Of which attribute.
    pub attribute: Attribute,
    /// From 0 to 8.
    pub label: u8,
    /// The product of the probabilities of its two classes.
    pub probability: f32,
}

/// Two sentences that may be in conflict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposedConflict {
    /// The earlier one.
    pub evidence: SentenceId,
    /// The later one.
    pub breakpoint: SentenceId,
    /// How likely it is.
    pub probability: f32,
}

impl Proposal {
    /// The proposal for a question, from what was predicted for its pair.
    pub fn of(question: &ProposalQuestion, prediction: &PairPrediction) -> Self {
        let story = &prediction.stories[1];
        let conflict = if question.is_version { conflicts(question, story) } else { Vec::new() };
        Proposal {
            story: question.story.clone(),
            cells: cells(question, story),
            conflict,
            plausible: question.is_version.then_some(prediction.story_probs[1]),
        }
    }
}

fn cells(question: &ProposalQuestion, story: &StoryPrediction) -> Vec<ProposedCell> {
    let mut cells = Vec::new();
    for (n, &sentence) in question.sentences.iter().enumerate() {
        for (e, &(entity, person)) in question.entities.iter().enumerate() {
            let of_kind = Attribute::ALL.into_iter().filter(|attribute| attribute.is_human() == person);
            let mut labels: Vec<_> = of_kind.filter_map(|attribute| label(&story.entities[e], n, attribute)).collect();
            if labels.is_empty() && !question.named.contains(&(e, n)) {
                continue;
            }
            let base = if person { Attribute::Conscious } else { Attribute::Exist };
            if labels.iter().all(|label| label.attribute != base) {
                let probability = Side::BOTH.map(|side| trivial(&story.entities[e], side, n, base)).iter().product();
                labels.push(ProposedLabel { attribute: base, label: base.default_label(), probability });
            }
            cells.push(ProposedCell { entity, sentence, labels });
        }
    }
    cells
}

/// The label that is predicted; `None` if both its classes are trivial.
fn label(entity: &EntityPrediction, sentence: usize, attribute: Attribute) -> Option<ProposedLabel> {
    let classes = Side::BOTH.map(|side| entity.side(side).classes[sentence][attribute.index()]);
    let nontrivial = classes.map(|class| attribute.is_nontrivial(class));
    if nontrivial == [false, false] {
        return None;
    }
    let probabilities = [0, 1].map(|side| match nontrivial[side] {
        true => probability(entity, Side::BOTH[side], sentence, attribute, classes[side]),
        false => trivial(entity, Side::BOTH[side], sentence, attribute),
    });
    if matches!(attribute, Attribute::Location | Attribute::HLocation) {
        // Its label is the class of both sides; the more likely one counts.
        let side = match nontrivial {
            [true, true] => usize::from(probabilities[1] >= probabilities[0]),
            [before, _] => usize::from(!before),
        };
        return Some(ProposedLabel { attribute, label: classes[side], probability: probabilities[side] });
    }
    let [before, after] = classes;
    Some(ProposedLabel { attribute, label: attribute.join(before, after), probability: probabilities.iter().product() })
}

/// The probability of a nontrivial class; 0 if it is no candidate.
pub(super) fn probability(entity: &EntityPrediction, side: Side, n: usize, attribute: Attribute, class: u8) -> f32 {
    let mut candidates = entity.side(side).candidates.iter();
    let found = candidates.find(|c| c.sentence == n && c.attribute == attribute && c.class == class);
    found.map_or(0., |candidate| candidate.probability)
}

/// The probability that nothing nontrivial holds.
pub(super) fn trivial(entity: &EntityPrediction, side: Side, n: usize, attribute: Attribute) -> f32 {
    let mut candidates = entity.side(side).candidates.iter();
    let found = candidates.find(|c| c.sentence == n && c.attribute == attribute);
    1. - found.map_or(0., |candidate| candidate.probability)
}

/// The sentence pairs with most support.
fn conflicts(question: &ProposalQuestion, story: &StoryPrediction) -> Vec<ProposedConflict> {
    let sentences = &question.sentences;
    let pairs = (0..sentences.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let proposed = |(i, j)| ProposedConflict {
        evidence: sentences[i],
        breakpoint: sentences[j],
        probability: story.support(i, j).clamp(0., 1.),
    };
    let mut proposed: Vec<_> = pairs.map(proposed).collect();
    proposed.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    proposed.truncate(MOST_CONFLICTS);
    proposed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::StateCandidate;

    /// An entity of one sentence with these nontrivial classes: (side, attribute, class, probability).
    fn entity(states: &[(Side, Attribute, u8, f32)]) -> EntityPrediction {
        let mut entity = EntityPrediction::without_states("box", vec![0.]);
        for &(side, attribute, class, probability) in states {
            let states = entity.side_mut(side);
            states.candidates.push(StateCandidate { sentence: 0, attribute, class, probability, otherwise: 0 });
            if probability >= 0.5 {
                states.classes[0][attribute.index()] = class;
            }
        }
        entity
    }

    #[test]
    fn a_label_is_as_likely_as_both_its_classes() {
        use Side::{Effect, Precondition};
        let open = |states: &[(Side, Attribute, u8, f32)]| {
            let label = label(&entity(states), 0, states[0].1)?;
            Some((label.label, (label.probability * 100.).round()))
        };
        let attribute = Attribute::Open;
        assert_eq!(open(&[(Precondition, attribute, 1, 0.8), (Effect, attribute, 2, 0.5)]), Some((4, 40.)));
        assert_eq!(open(&[(Precondition, attribute, 1, 0.4), (Effect, attribute, 2, 0.5)]), Some((6, 30.)));
        assert_eq!(open(&[(Precondition, attribute, 1, 0.4)]), None);
        let location = Attribute::Location;
        assert_eq!(open(&[(Precondition, location, 6, 0.7), (Effect, location, 7, 0.6)]), Some((6, 70.)));
        assert_eq!(open(&[(Precondition, location, 6, 0.3), (Effect, location, 7, 0.6)]), Some((7, 60.)));
        assert_eq!(trivial(&entity(&[(Effect, attribute, 2, 0.25)]), Effect, 0, attribute), 0.75);
    }
}
