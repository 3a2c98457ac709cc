//! An ensemble: the average of several systems' probabilities.

use super::{
    CANDIDATE_FLOOR, EntityPrediction, LabelledPair, PairPrediction, PredictedStates, StateCandidate, StoryPrediction,
};
use crate::attribute::Attribute;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The pairs of the first system, in its order, with the probabilities averaged over all systems: those of stories, of
/// sentence pairs or conflicts, and of states. The most likely class of a state is the one that most systems predict; of
/// several, the one of the highest average probability (trivial ones have all that recorded states leave). Probabilities below [`CANDIDATE_FLOOR`] are not recorded and count as 0. The
/// entity of a sentence pair is left out. No conflict is decoded. If both stories of a pair are equally probable, the pair
/// counts as wrong, whatever the order of the systems.
///
/// # Errors
/// If the systems differ in their pairs, stories, gold answers or kind of output.
pub fn mean_predictions(systems: &[Vec<LabelledPair>]) -> Result<Vec<LabelledPair>, String> {
    let Some((first, others)) = systems.split_first() else { return Ok(Vec::new()) };
    let mut others = others.iter().map(|pairs| by_id(pairs)).collect::<Result<Vec<_>, _>>()?;
    let mut means = Vec::with_capacity(first.len());
    for pair in first {
        let mut members = vec![pair.clone()];
        for other in &mut others {
            let other = other.remove(pair.id.as_str()).ok_or_else(|| not_once(&pair.id))?;
            members.push(turned_like(pair, other));
        }
        means.push(mean_pair(&members).map_err(|problem| format!("pair {}: {problem}", pair.id))?);
    }
    match others.iter().find_map(|left| left.keys().next()) {
        Some(id) => Err(not_once(id)),
        None => Ok(means),
    }
}

fn by_id(pairs: &[LabelledPair]) -> Result<BTreeMap<&str, LabelledPair>, String> {
    let mut known = BTreeMap::new();
    match pairs.iter().find(|pair| known.insert(pair.id.as_str(), (*pair).clone()).is_some()) {
        Some(pair) => Err(not_once(&pair.id)),
        None => Ok(known),
    }
}

fn not_once(id: &str) -> String {
    format!("pair {id}: is not once in each file; name predictions of the same pairs, each of one story file")
}

/// The prediction with its two stories in the order of `first`. Each seed has its own order.
fn turned_like(first: &LabelledPair, pair: LabelledPair) -> LabelledPair {
    let [this, other] = [first, &pair].map(|pair| &pair.prediction.stories[0].id);
    if this == other { pair } else { pair.turned() }
}

fn mean_pair(members: &[LabelledPair]) -> Result<LabelledPair, String> {
    same("gold answers", members.iter().map(|pair| (pair.gold.plausible, pair.gold.conflict, &pair.kind, pair.group)))?;
    let predictions = || members.iter().map(|pair| &pair.prediction);
    let story = |i: usize| mean_story(&predictions().map(|prediction| &prediction.stories[i]).collect::<Vec<_>>());
    let story_probs = [0, 1].map(|i| mean(predictions().map(|prediction| prediction.story_probs[i])));
    let stories = [story(0)?, story(1)?];
    same("gold states", members.iter().map(|pair| pair.states().map(|states| states.gold).collect::<Vec<_>>()))?;
    let plausible = match story_probs[0].total_cmp(&story_probs[1]) {
        Ordering::Greater => 0,
        Ordering::Less => 1,
        Ordering::Equal => 1 - members[0].gold.plausible,
    };
    let prediction = PairPrediction { plausible, story_probs, conflict: Vec::new(), stories };
    Ok(LabelledPair { prediction, ..members[0].clone() })
}

fn mean_story(members: &[&StoryPrediction]) -> Result<StoryPrediction, String> {
    same("sentences", members.iter().map(|story| &story.sentences))?;
    same("entities", members.iter().map(|story| story.entities.iter().map(|entity| &entity.name).collect::<Vec<_>>()))?;
    same("kinds of detector", members.iter().map(|story| (story.sentence_pairs.len(), story.no_conflict.is_some())))?;
    let pair_prob = |i: usize, j: usize| mean(members.iter().map(|story| story.sentence_pairs[i][j]));
    let n = members[0].sentence_pairs.len();
    let entity = |i: usize| mean_entity(&members.iter().map(|story| &story.entities[i]).collect::<Vec<_>>());
    Ok(StoryPrediction {
        sentence_pairs: (0..n).map(|i| (0..n).map(|j| pair_prob(i, j)).collect()).collect(),
        subjects: Vec::new(),
        no_conflict: members[0].no_conflict.map(|_| mean(members.iter().filter_map(|story| story.no_conflict))),
        entities: (0..members[0].entities.len()).map(entity).collect(),
        ..members[0].clone()
    })
}

fn mean_entity(members: &[&EntityPrediction]) -> EntityPrediction {
    let conflict_prob = |i: usize| mean(members.iter().map(|entity| entity.conflict_probs[i]));
    EntityPrediction {
        conflict_probs: (0..members[0].conflict_probs.len()).map(conflict_prob).collect(),
        preconditions: mean_states(&members.iter().map(|entity| &entity.preconditions).collect::<Vec<_>>()),
        effects: mean_states(&members.iter().map(|entity| &entity.effects).collect::<Vec<_>>()),
        name: members[0].name.clone(),
    }
}

/// The average states of the same sentences.
pub(super) fn mean_states(members: &[&PredictedStates]) -> PredictedStates {
    let mut classes = members[0].classes.clone();
    for (sentence, classes) in classes.iter_mut().enumerate() {
        for (attribute, class) in classes.iter_mut().enumerate() {
            *class = most_voted(members, sentence, Attribute::ALL[attribute]);
        }
    }
    let labels: BTreeSet<(usize, usize)> =
        members.iter().flat_map(|states| &states.candidates).map(|c| (c.sentence, c.attribute.index())).collect();
    let candidates = labels.into_iter().filter_map(|(sentence, a)| {
        let attribute = Attribute::ALL[a];
        let predicted = Some(classes[sentence][a]).filter(|&class| attribute.is_nontrivial(class));
        mean_candidate(members, sentence, attribute, predicted)
    });
    let candidates = candidates.collect();
    PredictedStates { classes, candidates }
}

/// The class that most systems predict; of several, the one of the highest average probability, as far as it is recorded.
fn most_voted(members: &[&PredictedStates], sentence: usize, attribute: Attribute) -> u8 {
    let votes: Vec<u8> = members.iter().map(|states| states.classes[sentence][attribute.index()]).collect();
    let probability =
        |class: u8| members.iter().map(|states| recorded_probability(states, sentence, attribute, class)).sum::<f32>();
    let by_probability = |a: &u8, b: &u8| probability(*a).total_cmp(&probability(*b)).then(b.cmp(a));
    commonest(&votes).into_iter().max_by(by_probability).unwrap_or(0)
}

/// Trivial classes have all that the candidate leaves. A class that is predicted without a candidate is certain, as those
/// of language models are.
fn recorded_probability(states: &PredictedStates, sentence: usize, attribute: Attribute, class: u8) -> f32 {
    let predicted = states.classes[sentence][attribute.index()];
    let certain = (predicted, if attribute.is_nontrivial(predicted) { 1. } else { 0. });
    let candidate = candidates_at(&[states], sentence, attribute).first().map(|c| (c.class, c.probability));
    let (nontrivial, probability) = candidate.unwrap_or(certain);
    match attribute.is_nontrivial(class) {
        false => 1. - probability,
        true if class == nontrivial => probability,
        true => 0.,
    }
}

fn candidates_at<'a>(
    members: &[&'a PredictedStates],
    sentence: usize,
    attribute: Attribute,
) -> Vec<&'a StateCandidate> {
    let is_here = |c: &&StateCandidate| (c.sentence, c.attribute) == (sentence, attribute);
    members.iter().flat_map(|states| &states.candidates).filter(is_here).collect()
}

/// The predicted class of a label, if that is nontrivial, else the nontrivial one of the highest average probability.
/// `None` if that probability is too low to be recorded and the class is not predicted, or if no member has a probability
/// for the predicted one.
fn mean_candidate(
    members: &[&PredictedStates],
    sentence: usize,
    attribute: Attribute,
    predicted: Option<u8>,
) -> Option<StateCandidate> {
    let here = candidates_at(members, sentence, attribute);
    let share = |class: u8| here.iter().filter(|c| c.class == class).map(|c| c.probability).sum::<f32>();
    let likeliest = || here.iter().map(|c| c.class).max_by(|&a, &b| share(a).total_cmp(&share(b)).then(b.cmp(&a)));
    let class = match predicted {
        Some(class) => here.iter().any(|c| c.class == class).then_some(class)?,
        None => likeliest()?,
    };
    let probability = share(class) / members.len() as f32;
    (probability >= CANDIDATE_FLOOR || predicted.is_some()).then(|| StateCandidate {
        sentence,
        attribute,
        class,
        probability,
        otherwise: commonest(&here.iter().map(|c| c.otherwise).collect::<Vec<_>>())[0],
    })
}

/// The most frequent classes, in ascending order: one, or several on a tie.
fn commonest(classes: &[u8]) -> Vec<u8> {
    let times = |class: u8| classes.iter().filter(|&&other| other == class).count();
    let most = classes.iter().map(|&class| times(class)).max().unwrap_or(0);
    classes.iter().copied().filter(|&class| times(class) == most).collect::<BTreeSet<u8>>().into_iter().collect()
}

/// Summed in `f64`, so that the order of the systems changes nothing.
pub(super) fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (count, sum) = values.fold((0, 0.), |(count, sum), value| (count + 1, sum + f64::from(value)));
    (sum / f64::from(count)) as f32
}

fn same<T: PartialEq>(what: &str, mut values: impl Iterator<Item = T>) -> Result<(), String> {
    let first = values.next();
    match values.all(|value| Some(value) == first) {
        true => Ok(()),
        false => Err(format!(
            "the files have different {what}; name predictions of the same pairs, made with the same entities and kind of \
             detector"
        )),
    }
}
