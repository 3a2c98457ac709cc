//! Predictions as soft labels of the pairs that they are about.

use super::{EntityPrediction, LabelledPair, PredictedStates, StoryPrediction};
use crate::attribute::{Attribute, SIDE_CLASSES};
use crate::data::{Classes, Pair, SoftCell, SoftLabels, SoftStory, Story};
use std::collections::HashMap;

/// What the probabilities of all sentence pairs may miss of 1, as far as float32 computes them.
const ROUNDING: f32 = 0.01;

/// Sets the soft labels of each pair to the predictions about it. Predictions about other pairs are ignored.
///
/// # Errors
/// If a pair has not exactly one prediction, or one about other sentences or entities, or one without the probabilities
/// that a joint detector gives.
pub fn set_soft_labels(pairs: &mut [Pair], predictions: Vec<LabelledPair>) -> Result<(), String> {
    let mut by_id: HashMap<String, Vec<LabelledPair>> = HashMap::new();
    for prediction in predictions {
        by_id.entry(prediction.id.clone()).or_default().push(prediction);
    }
    for pair in pairs {
        let soft = match by_id.remove(&pair.id).unwrap_or_default().as_slice() {
            [prediction] => soft_labels(pair, prediction.clone()),
            [] => Err("has no prediction".to_owned()),
            several => Err(format!("has {} predictions", several.len())),
        };
        pair.soft = Some(soft.map_err(|problem| format!("pair {}: {problem}", pair.id))?.into());
    }
    Ok(())
}

fn soft_labels(pair: &Pair, prediction: LabelledPair) -> Result<SoftLabels, String> {
    let has_state_probabilities = prediction.has_state_probabilities();
    let is_turned = prediction.prediction.stories[0].id != pair.stories[0].id;
    let prediction = if is_turned { prediction.turned() } else { prediction }.prediction;
    let stories = &prediction.stories;
    if !pair.stories.iter().zip(stories).all(|(story, prediction)| is_about(story, prediction)) {
        return Err("was predicted for other sentences or entities".to_owned());
    }
    if !has_state_probabilities {
        return Err("was predicted without probabilities of states".to_owned());
    }
    let total: f32 = stories.iter().flat_map(|story| upper(&story.sentence_pairs)).flatten().sum();
    if (total - 1.).abs() > ROUNDING {
        return Err("was predicted without a distribution over the sentence pairs of both stories".to_owned());
    }
    Ok(SoftLabels { plausible: prediction.story_probs, stories: stories.each_ref().map(soft_story) })
}

fn is_about(story: &Story, prediction: &StoryPrediction) -> bool {
    let names = prediction.entities.iter().map(|entity| &entity.name);
    story.sentences == prediction.sentences && names.eq(story.entities.iter().map(|entity| &entity.name))
}

fn soft_story(story: &StoryPrediction) -> SoftStory {
    let single_story = story.no_conflict.and_then(|_| story.single_story());
    SoftStory {
        sentence_pairs: upper(&story.sentence_pairs),
        single_story: single_story.map(|story| upper(&story.sentence_pairs)),
        cells: story.entities.iter().map(soft_cells).collect(),
    }
}

/// The probabilities between sentences i < j; 0 elsewhere.
fn upper(sentence_pairs: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let row = |(i, row): (usize, &Vec<f32>)| {
        row.iter().enumerate().map(|(j, &prob)| if i < j { prob.max(0.) } else { 0. }).collect()
    };
    sentence_pairs.iter().enumerate().map(row).collect()
}

fn soft_cells(entity: &EntityPrediction) -> Vec<SoftCell> {
    let sides = soft_states(&entity.preconditions).into_iter().zip(soft_states(&entity.effects));
    sides.map(|(preconditions, effects)| SoftCell { preconditions, effects }).collect()
}

/// `[N][66]`. Of each label the file has the most likely nontrivial class, and the trivial class that has the rest. Where it
/// has neither, the predicted class is as good as certain.
fn soft_states(states: &PredictedStates) -> Vec<[f32; SIDE_CLASSES]> {
    let certain = |classes: &Classes| {
        let mut columns = [0.; SIDE_CLASSES];
        Attribute::ALL.into_iter().zip(classes).for_each(|(attribute, &class)| columns[column(attribute, class)] = 1.);
        columns
    };
    let mut soft: Vec<[f32; SIDE_CLASSES]> = states.classes.iter().map(certain).collect();
    for candidate in &states.candidates {
        let columns = &mut soft[candidate.sentence];
        columns[candidate.attribute.offset()..][..candidate.attribute.classes()].fill(0.);
        columns[column(candidate.attribute, candidate.class)] = candidate.probability;
        columns[column(candidate.attribute, candidate.otherwise)] = 1. - candidate.probability;
    }
    soft
}

/// The column of a class among the 66.
fn column(attribute: Attribute, class: u8) -> usize {
    attribute.offset() + usize::from(class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::ATTRIBUTES;
    use crate::prediction::StateCandidate;

    /// A candidate has its probability and the trivial class the rest; elsewhere the predicted class is certain.
    #[test]
    fn what_a_file_leaves_out_is_certain() {
        let (open, exist) = (Attribute::Open, Attribute::Exist);
        let mut classes = [0; ATTRIBUTES];
        classes[open.index()] = 1;
        let candidate = |attribute, class, probability, otherwise| StateCandidate {
            sentence: 0,
            attribute,
            class,
            probability,
            otherwise,
        };
        let candidates = vec![candidate(open, 1, 0.75, 0), candidate(exist, 1, 0.125, 2)];
        let soft = soft_states(&PredictedStates { classes: vec![classes], candidates });
        for attribute in Attribute::ALL {
            let expected = match attribute {
                Attribute::Open => vec![0.25, 0.75, 0.],
                Attribute::Exist => vec![0., 0.125, 0.875],
                _ => [vec![1.], vec![0.; attribute.classes() - 1]].concat(),
            };
            assert_eq!(soft[0][attribute.offset()..][..attribute.classes()], expected, "{attribute}");
        }
    }
}
