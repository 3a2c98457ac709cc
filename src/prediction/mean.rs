//! Several systems as one that says the mean of what they say: an ensemble.

use super::{CANDIDATE_FLOOR, EntityPrediction, PairPrediction, StateCandidate, StateLabels, StoryPrediction};
use crate::attribute::Attribute;
use std::collections::{BTreeMap, BTreeSet};

/// The pairs of the first system, in its order, with the probabilities averaged over all systems: of the stories, of the
/// places or beliefs, and of the states. The most likely class of a state is what most systems say (on a tie, what the
/// first of these says); probabilities under [`CANDIDATE_FLOOR`] are not recorded and count as 0. Which entity a place
/// is about is not told. No conflict is decoded.
///
/// # Errors
/// What a system lacks, or has otherwise than the first one: pairs, stories, gold answers, what is told at all.
pub fn mean_predictions(systems: &[Vec<PairPrediction>]) -> Result<Vec<PairPrediction>, String> {
    let Some((first, others)) = systems.split_first() else { return Ok(Vec::new()) };
    let by_id = |pair: &PairPrediction| (pair.id.clone(), pair.clone());
    let mut others: Vec<BTreeMap<_, _>> = others.iter().map(|pairs| pairs.iter().map(by_id).collect()).collect();
    let mut means = Vec::with_capacity(first.len());
    for pair in first {
        let mut said = vec![pair.clone()];
        for other in &mut others {
            let other = other.remove(&pair.id).ok_or_else(|| format!("pair {}: not in all files", pair.id))?;
            said.push(turned_like(pair, other));
        }
        means.push(mean_pair(&said).map_err(|problem| format!("pair {}: {problem}", pair.id))?);
    }
    match others.iter().find_map(|left| left.keys().next()) {
        Some(id) => Err(format!("pair {id}: not in all files")),
        None => Ok(means),
    }
}

/// The prediction with its two stories in the order of `first`: which comes first is drawn anew with every seed.
fn turned_like(first: &PairPrediction, mut pair: PairPrediction) -> PairPrediction {
    if pair.stories[0].id != first.stories[0].id {
        pair.stories.swap(0, 1);
        pair.story_probs.swap(0, 1);
        pair.gold_plausible = 1 - pair.gold_plausible;
        pair.plausible = 1 - pair.plausible;
    }
    pair
}

fn mean_pair(said: &[PairPrediction]) -> Result<PairPrediction, String> {
    let gold = |pair: &PairPrediction| (pair.gold_plausible, pair.gold_conflict, pair.kind.clone());
    same("gold answers", said.iter().map(gold))?;
    let story = |i: usize| mean_story(&said.iter().map(|pair| &pair.stories[i]).collect::<Vec<_>>());
    let story_probs = [0, 1].map(|i| mean(said.iter().map(|pair| pair.story_probs[i])));
    Ok(PairPrediction {
        plausible: usize::from(story_probs[1] > story_probs[0]),
        story_probs,
        conflict: Vec::new(),
        stories: [story(0)?, story(1)?],
        ..said[0].clone()
    })
}

fn mean_story(said: &[&StoryPrediction]) -> Result<StoryPrediction, String> {
    same("sentences", said.iter().map(|story| &story.sentences))?;
    same("entities", said.iter().map(|story| story.entities.iter().map(|entity| &entity.name).collect::<Vec<_>>()))?;
    same("kinds of detector", said.iter().map(|story| (story.places.len(), story.no_conflict.is_some())))?;
    let place = |i: usize, j: usize| mean(said.iter().map(|story| story.places[i][j]));
    let n = said[0].places.len();
    let entity = |i: usize| mean_entity(&said.iter().map(|story| &story.entities[i]).collect::<Vec<_>>());
    Ok(StoryPrediction {
        places: (0..n).map(|i| (0..n).map(|j| place(i, j)).collect()).collect(),
        subjects: Vec::new(),
        no_conflict: said[0].no_conflict.map(|_| mean(said.iter().filter_map(|story| story.no_conflict))),
        entities: (0..said[0].entities.len()).map(entity).collect::<Result<_, _>>()?,
        ..said[0].clone()
    })
}

fn mean_entity(said: &[&EntityPrediction]) -> Result<EntityPrediction, String> {
    let belief = |i: usize| mean(said.iter().map(|entity| entity.beliefs[i]));
    Ok(EntityPrediction {
        beliefs: (0..said[0].beliefs.len()).map(belief).collect(),
        preconditions: mean_states(&said.iter().map(|entity| &entity.preconditions).collect::<Vec<_>>())?,
        effects: mean_states(&said.iter().map(|entity| &entity.effects).collect::<Vec<_>>())?,
        ..said[0].clone()
    })
}

fn mean_states(said: &[&StateLabels]) -> Result<StateLabels, String> {
    same("gold states", said.iter().map(|states| &states.gold))?;
    let mut predicted = said[0].predicted.clone();
    for (sentence, classes) in predicted.iter_mut().enumerate() {
        for (attribute, class) in classes.iter_mut().enumerate() {
            *class = commonest(said.iter().map(|states| states.predicted[sentence][attribute]));
        }
    }
    let places: BTreeSet<(usize, usize)> =
        said.iter().flat_map(|states| &states.candidates).map(|c| (c.sentence, c.attribute.index())).collect();
    let candidates = places.into_iter().filter_map(|(sentence, a)| mean_candidate(said, sentence, Attribute::ALL[a]));
    Ok(StateLabels { gold: said[0].gold.clone(), predicted, candidates: candidates.collect() })
}

/// The likeliest nontrivial class of a label on average, unless that is less likely than is recorded and not asserted.
fn mean_candidate(said: &[&StateLabels], sentence: usize, attribute: Attribute) -> Option<StateCandidate> {
    let is_here = |c: &&StateCandidate| (c.sentence, c.attribute) == (sentence, attribute);
    let here: Vec<_> = said.iter().flat_map(|states| &states.candidates).filter(is_here).collect();
    let share = |class: u8| here.iter().filter(|c| c.class == class).map(|c| c.probability).sum::<f32>();
    let class = here.iter().map(|c| c.class).max_by(|&a, &b| share(a).total_cmp(&share(b)))?;
    let probability = share(class) / said.len() as f32;
    let predicted = |states: &&StateLabels| states.predicted[sentence][attribute.index()];
    let is_asserted = attribute.is_nontrivial(commonest(said.iter().map(predicted)));
    (probability >= CANDIDATE_FLOOR || is_asserted).then(|| StateCandidate {
        sentence,
        attribute,
        class,
        probability,
        otherwise: commonest(here.iter().map(|c| c.otherwise)),
    })
}

/// What is said most often; on a tie, what of that is said first.
fn commonest(classes: impl Iterator<Item = u8> + Clone) -> u8 {
    let times = |class: u8| classes.clone().filter(|&other| other == class).count();
    let most = classes.clone().map(times).max().unwrap_or(0);
    classes.clone().find(|&class| times(class) == most).unwrap_or(0)
}

fn mean(values: impl Iterator<Item = f32> + Clone) -> f32 {
    values.clone().sum::<f32>() / values.count() as f32
}

fn same<T: PartialEq>(what: &str, mut values: impl Iterator<Item = T>) -> Result<(), String> {
    let first = values.next();
    match values.all(|value| Some(value) == first) {
        true => Ok(()),
        false => Err(format!("the files have different {what}")),
    }
}
