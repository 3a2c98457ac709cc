//! Turns the records of `pairs` into predictions about pairs, so that language models and trained systems are scored by
//! the same program on the same pairs.
//!
//! A language model names one state and no entity. Its answer is right if any gold state of the conflict is of that
//! name; then the gold states of that name at the conflict are predicted, else a state that is not gold. So
//! verifiability counts right answers of tier 3, which ask for less than a trained system's.

use super::link::Linked;
use crate::attribute::Attribute;
use crate::data::{self, Pair, pairs};
use crate::error::{Error, Result};
use crate::llm::options::{STATES, sentence_pairs, state_of};
use crate::llm::record::{Records, SampleRecord};
use crate::llm::story::AskedStory;
use crate::llm::tier::Tier;
use crate::prediction::{EntityPrediction, LabelledPair, PairPrediction, StoryPrediction};
use std::collections::{BTreeMap, BTreeSet};

/// The seed of which story of a pair comes first: that of `tiered eval`.
const PAIR_SEED: u64 = 0;

/// Predictions about the pairs of a story file.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertedPairs {
    /// In the order of the file.
    pub predictions: Vec<LabelledPair>,
    /// How many pairs of the file are left out, because a story of theirs was not asked about.
    pub left_out: usize,
}

/// What a model answered about one story, as far as it was asked.
#[derive(Default, Clone, Copy)]
struct Answers<'a> {
    judged: Option<&'a SampleRecord>,
    conflict: Option<&'a SampleRecord>,
    state: Option<&'a SampleRecord>,
}

/// Predictions about the pairs of a checked story file, in its order. Pairs of which a story was not asked about are
/// left out.
///
/// # Errors
/// `Data` if the records are of a cascade, or answers in words; if a story was asked about with other words or labels.
pub fn pair_predictions(records: &Records, linked: &Linked, checked: &[data::Story]) -> Result<ConvertedPairs> {
    if linked.said {
        let problem = "the answers are words: without log-probabilities a pair has no margin, so that there are no \
                       predictions about pairs";
        return Err(Error::data(problem).about(records.folder.display()));
    }
    if linked.cascade || !linked.known[2] {
        let problem = "tiers 2 and 3 did not ask about every implausible story, so that there are no predictions about \
                       pairs; ask with --protocol pairs";
        return Err(Error::data(problem).about(records.folder.display()));
    }
    let answers = answers(records);
    let of_pair = |pair: &Pair| pair.stories.each_ref().map(|story| answers.get(&key(story)).copied());
    let pairs = pairs(checked, PAIR_SEED);
    require_unchanged(&pairs, &answers, checked).map_err(|error| error.about(records.folder.display()))?;
    let predicted = pairs.iter().filter_map(|pair| match of_pair(pair) {
        [Some(first), Some(second)] => Some(prediction(pair, [first, second])),
        _ => None,
    });
    let predictions: Vec<LabelledPair> = predicted.collect();
    Ok(ConvertedPairs { left_out: pairs.len() - predictions.len(), predictions })
}

/// Refuses a pair with a story that was asked about by its name, but with other words or labels than the file has: it would
/// be left out as if it had not been asked about.
fn require_unchanged(pairs: &[Pair], answers: &BTreeMap<String, Answers>, checked: &[data::Story]) -> Result<()> {
    let keys: BTreeSet<String> = checked.iter().map(key).collect();
    let others = answers.iter().filter(|(doc, _)| !keys.contains(*doc));
    let others: BTreeSet<&str> = others.filter_map(|(_, asked)| Some(asked.judged?.story.id.as_str())).collect();
    let is_changed = |story: &&data::Story| others.contains(story.id.as_str()) && !answers.contains_key(&key(story));
    match pairs.iter().find_map(|pair| Some((pair, pair.stories.iter().find(is_changed)?))) {
        None => Ok(()),
        Some((pair, story)) => Err(Error::data(format!(
            "pair {:?}: story {:?} was asked about with other words or labels than the story file has; name the story \
             file that was asked about, as it was then",
            pair.id, story.id
        ))),
    }
}

/// A story as its record has it.
fn key(story: &data::Story) -> String {
    AskedStory::from_checked(0, story).doc.to_string()
}

fn answers(records: &Records) -> BTreeMap<String, Answers<'_>> {
    let mut answers: BTreeMap<String, Answers> = BTreeMap::new();
    for sample in records.tiers.values().flatten() {
        let of_story = answers.entry(sample.story.doc.to_string()).or_default();
        match sample.tier {
            Tier::Story => of_story.judged = Some(sample),
            Tier::Conflict => of_story.conflict = Some(sample),
            Tier::State => of_story.state = Some(sample),
        }
    }
    answers
}

fn prediction(pair: &Pair, answers: [Answers; 2]) -> LabelledPair {
    let margins = answers.map(|answers| answers.judged.and_then(SampleRecord::margin));
    let (plausible, story_probs) = match margins {
        [Some(first), Some(second)] if !(first - second).is_nan() => {
            let first = logistic(first - second);
            (usize::from(first < 0.5), [first as f32, 1. - first as f32])
        }
        // Unknown counts as wrong.
        _ => (1 - pair.plausible, [0.5; 2]),
    };
    let implausible = answers[1 - pair.plausible];
    let conflict = match implausible.conflict.and_then(chosen_pair) {
        Some(conflict) if plausible == pair.plausible => conflict.to_vec(),
        _ => Vec::new(),
    };
    let story = |i: usize| story_prediction(&pair.stories[i], answers[i], margins[i]);
    LabelledPair::new(pair, PairPrediction { plausible, story_probs, conflict, stories: [story(0), story(1)] })
}

fn logistic(x: f64) -> f64 {
    1. / (1. + (-x).exp())
}

fn chosen_pair(sample: &SampleRecord) -> Option<[usize; 2]> {
    sentence_pairs(sample.story.sentences.len()).get(sample.choice.index()?).copied()
}

fn story_prediction(story: &data::Story, answers: Answers, margin: Option<f64>) -> StoryPrediction {
    let no_conflict = margin.map_or(0.5, logistic);
    let sentence_pairs = answers.conflict.map(|sample| conflict_probs(sample, 1. - no_conflict)).unwrap_or_default();
    let n = story.sentences.len();
    let of_sentence = |i: usize| {
        let of_pair = |j: usize| sentence_pairs.get(i.min(j)).map_or(0., |row: &Vec<f32>| row[i.max(j)]);
        (0..n).filter(|&j| j != i).map(of_pair).sum::<f32>().min(1.)
    };
    let of_sentences: Vec<f32> = (0..n).map(of_sentence).collect();
    // Every entity has the conflict probabilities of the sentences.
    let entities = story.entities.iter();
    let entities = entities.map(|entity| EntityPrediction::without_states(&entity.name, of_sentences.clone()));
    let mut entities: Vec<EntityPrediction> = entities.collect();
    if let Some(state) = answers.state {
        explain(&mut entities, story, state);
    }
    StoryPrediction {
        id: story.id.clone(),
        sentences: story.sentences.clone(),
        sentence_pairs,
        subjects: Vec::new(),
        no_conflict: Some(no_conflict as f32),
        entities,
    }
}

/// `[N][N]` probabilities of sentence pairs i < j: the softmax of the options' scores, times the probability that there
/// is a conflict. All 0 but the chosen one's where a score is not known exactly.
fn conflict_probs(sample: &SampleRecord, conflict: f64) -> Vec<Vec<f32>> {
    let n = sample.story.sentences.len();
    let weights: Option<Vec<f64>> = sample.scores.iter().map(|score| score.exact()).collect();
    let weights: Vec<f64> = match weights {
        Some(logprobs) => {
            let highest = logprobs.iter().copied().fold(f64::MIN, f64::max);
            logprobs.iter().map(|logprob| (logprob - highest).exp()).collect()
        }
        None => (0..sample.scores.len()).map(|i| f64::from(u8::from(sample.choice.index() == Some(i)))).collect(),
    };
    let sum: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut probs = vec![vec![0.; n]; n];
    for ([i, j], weight) in sentence_pairs(n).into_iter().zip(weights) {
        probs[i][j] = (conflict * weight / sum) as f32;
    }
    probs
}

/// Predicts states at the conflict that are right exactly if the answer is.
fn explain(entities: &mut [EntityPrediction], story: &data::Story, state: &SampleRecord) {
    let (Some(conflict), Some(option)) = (story.conflict, state.chosen()) else { return };
    let Some(option) = STATES.into_iter().find(|state| *state == option) else { return };
    let attributes: Vec<Attribute> = Attribute::ALL.into_iter().filter(|&a| state_of(a) == Some(option)).collect();
    for (entity, gold) in entities.iter_mut().zip(&story.entities) {
        for attribute in attributes.iter().map(|attribute| attribute.index()) {
            let nontrivial = |class: u8| Attribute::ALL[attribute].is_nontrivial(class);
            let (effect, precondition) =
                (gold.effects[conflict.evidence][attribute], gold.preconditions[conflict.breakpoint][attribute]);
            if nontrivial(effect) {
                entity.effects.classes[conflict.evidence][attribute] = effect;
            }
            if nontrivial(precondition) {
                entity.preconditions.classes[conflict.breakpoint][attribute] = precondition;
            }
        }
    }
    if !state.is_right()
        && let (Some(entity), Some(attribute)) = (entities.first_mut(), attributes.first())
    {
        let class =
            (1..attribute.classes() as u8).find(|&class| attribute.is_nontrivial(class)).expect("one is nontrivial");
        entity.effects.classes[conflict.evidence][attribute.index()] = class;
    }
}
