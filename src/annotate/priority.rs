//! Which stories deserve an annotator's time most.

use super::group::Answers;
use super::proposal::{probability, trivial};
use super::question::ProposalQuestion;
use super::record::filled;
use super::stories::Stories;
use crate::attribute::{Attribute, Side};
use crate::prediction::{PairPrediction, StoryPrediction};
use serde::{Deserialize, Serialize};

/// By what stories are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// What the model is least sure of comes first.
    Unsure,
    /// What the model answers otherwise than the annotator comes first.
    Disagree,
}

/// A story and how much it deserves attention.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Priority {
    /// The key of the story.
    pub story: String,
    /// How much of its answers is expected to be wrong, or to differ, as an average over the three tiers; 0 to 1.
    pub score: f32,
}

impl Stories {
    /// The stories, those first that deserve most attention. By disagreement, stories without any answer are left out.
    pub fn order<'q>(
        &self,
        pass: &str,
        by: By,
        predicted: impl IntoIterator<Item = (&'q ProposalQuestion, &'q PairPrediction)>,
    ) -> Vec<Priority> {
        let score = |(question, prediction): (&'q ProposalQuestion, &'q PairPrediction)| {
            let story = question.story.clone();
            let score = match by {
                By::Unsure => Some(unsure(question, prediction)),
                By::Disagree => self.disagreement(pass, question, prediction),
            };
            score.map(|score| Priority { story, score })
        };
        let mut order: Vec<_> = predicted.into_iter().filter_map(score).collect();
        order.sort_by(|a, b| b.score.total_cmp(&a.score));
        order
    }

    /// How far the model disagrees with the answers of a pass; `None` if there are none.
    fn disagreement(&self, pass: &str, question: &ProposalQuestion, prediction: &PairPrediction) -> Option<f32> {
        let group = &self.groups[&self.number_of(&question.story).ok()?];
        let (answers, story) = (group.answers(pass), &prediction.stories[1]);
        let states = differing_states(answers, question, story);
        let marked = answers.conflicts.get(&question.story).filter(|_| question.is_version).and_then(|marked| {
            let position = |id| question.sentences.iter().position(|&sentence| sentence == id);
            Some((position(marked.evidence)?, position(marked.breakpoint)?))
        });
        let tiers =
            marked.map(|(i, j)| [prediction.story_probs[1], 1. - story.support(i.min(j), i.max(j)).clamp(0., 1.)]);
        mean(tiers.into_iter().flatten().chain(states))
    }
}

/// How unsure a model is: the chance that its choice of the story and of the sentences is wrong, and the expected number of
/// wrong states in a cell, at most 1.
fn unsure(question: &ProposalQuestion, prediction: &PairPrediction) -> f32 {
    let story = &prediction.stories[1];
    let candidates = story.entities.iter().flat_map(|entity| Side::BOTH.map(|side| &entity.side(side).candidates));
    let wrong: f32 = candidates.flatten().map(|candidate| candidate.probability.min(1. - candidate.probability)).sum();
    let cells = question.sentences.len() * question.entities.len();
    let tiers = question.is_version.then(|| {
        let pairs = (0..question.sentences.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let best = pairs.map(|(i, j)| story.support(i, j)).fold(0., f32::max);
        [prediction.story_probs[0].min(prediction.story_probs[1]), 1. - best.clamp(0., 1.)]
    });
    mean(tiers.into_iter().flatten().chain(in_a_cell(wrong, cells))).unwrap_or_default()
}

/// How many states of an annotated cell the model expects to be otherwise, at most 1; `None` if no cell is annotated.
fn differing_states(answers: &Answers, question: &ProposalQuestion, story: &StoryPrediction) -> Option<f32> {
    let (mut differing, mut cells) = (0., 0);
    for (e, &(entity, person)) in question.entities.iter().enumerate() {
        for (n, &sentence) in question.sentences.iter().enumerate().filter(|(_, s)| answers.is_annotated(entity, **s)) {
            cells += 1;
            let labels = filled(answers.labels(entity, sentence), person);
            for attribute in Attribute::ALL {
                let Some(label) = labels[attribute.index()] else { continue };
                let (before, after) = attribute.split(label);
                for (side, class) in [(Side::Precondition, before), (Side::Effect, after)] {
                    let predicted = &story.entities[e];
                    let agreed = match attribute.is_nontrivial(class) {
                        true => probability(predicted, side, n, attribute, class),
                        false => trivial(predicted, side, n, attribute),
                    };
                    differing += 1. - agreed;
                }
            }
        }
    }
    in_a_cell(differing, cells)
}

/// A number of states by cell; `None` if there are no cells.
fn in_a_cell(states: f32, cells: usize) -> Option<f32> {
    (cells > 0).then(|| (states / cells as f32).min(1.))
}

fn mean(values: impl Iterator<Item = f32>) -> Option<f32> {
    let (sum, count) = values.fold((0., 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f32)
}

#[cfg(test)]
mod tests {
    use super::super::change::{EntityId, SentenceId};
    use super::super::question::StoryText;
    use super::*;
    use crate::prediction::{EntityPrediction, StateCandidate};

    /// Two sentences about one thing, with these nontrivial states in the first cell.
    fn unsure_of(probabilities: &[f32]) -> f32 {
        let text = StoryText { sentences: Vec::new(), entities: Vec::new() };
        let question = ProposalQuestion {
            story: "1".into(),
            sentences: vec![SentenceId(1), SentenceId(2)],
            entities: vec![(EntityId(1), false)],
            named: Vec::new(),
            is_version: false,
            texts: [text.clone(), text],
        };
        let mut entity = EntityPrediction::without_states("box", vec![0.; 2]);
        entity.side_mut(Side::Effect).candidates = Attribute::ALL
            .into_iter()
            .zip(probabilities)
            .map(|(attribute, &probability)| StateCandidate {
                sentence: 0,
                attribute,
                class: 1,
                probability,
                otherwise: 0,
            })
            .collect();
        let story = StoryPrediction {
            id: "1".into(),
            sentences: Vec::new(),
            sentence_pairs: Vec::new(),
            subjects: Vec::new(),
            no_conflict: None,
            entities: vec![entity],
        };
        let stories = [story.clone(), story];
        unsure(&question, &PairPrediction { plausible: 0, story_probs: [0.5; 2], conflict: Vec::new(), stories })
    }

    /// A story about which a model expects hardly any state is none of which it is unsure.
    #[test]
    fn the_wrong_states_of_a_cell_are_expected() {
        let is = |probabilities: &[f32], score: f32| (unsure_of(probabilities) - score).abs() < 1e-6;
        assert!(is(&[], 0.) && is(&[0.06], 0.03) && is(&[0.9, 0.5], 0.3) && is(&[0.5; 8], 1.));
    }
}
