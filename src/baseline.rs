//! Baselines that do not read the stories. Every score should be compared with them.

use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::{Classes, Entity, Pair, Story};
use crate::prediction::{
    EntityPrediction, LabelledPair, PairPrediction, PredictedStates, StoryPrediction, differing_pairs,
};
use crate::seed;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom, index};
use rand_chacha::ChaCha12Rng;

/// How a baseline predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Draws every tier at random (TRIP table 2: "makes tiered predictions at random"): the story by a fair coin, two
    /// sentences of the other story, and every state uniformly from its classes.
    Random,
    /// Like `Random`, but draws the two sentences from the sentence pairs that the other story does not tell in this
    /// order. This is the chance level of the decoding `contrast`.
    Contrast,
    /// Gives every pair the gold labels of another pair. These answers have the right frequencies, but fit the stories
    /// only by chance.
    Shuffled,
}

impl Baseline {
    /// The name of its row in the score table; its files of predictions have it too.
    pub const fn name(self) -> &'static str {
        match self {
            Baseline::Random => "random",
            Baseline::Contrast => "random, by contrast",
            Baseline::Shuffled => "labels of other pairs",
        }
    }

    /// Predicts every pair. The two sentences in conflict are recorded, and every decoding finds them.
    ///
    /// # Panics
    /// If a single pair is to get the labels of another one.
    pub fn predict(self, pairs: &[Pair], seed: u64) -> Vec<LabelledPair> {
        match self {
            Baseline::Random => pairs.iter().map(|pair| random(pair, seed, two_sentences)).collect(),
            Baseline::Contrast => pairs.iter().map(|pair| random(pair, seed, two_that_differ)).collect(),
            Baseline::Shuffled => shuffled(pairs, seed),
        }
    }
}

/// The answers for a pair.
struct Answers {
    plausible: usize,
    /// Two sentences of the story that is not chosen.
    conflict: [usize; 2],
    /// The entity of that story whose conflict probability is 1.
    entity: usize,
}

/// Draws two sentences of the first story; the second is the other story of the pair.
type DrawConflict = fn(&mut ChaCha12Rng, &Story, &Story) -> [usize; 2];

fn random(pair: &Pair, seed: u64, draw_conflict: DrawConflict) -> LabelledPair {
    let mut rng = seed::rng(seed, &format!("random baseline {}", pair.id), 0);
    let plausible = rng.random_range(0..2);
    let doubted = &pair.stories[1 - plausible];
    let answers = Answers {
        plausible,
        conflict: draw_conflict(&mut rng, doubted, &pair.stories[plausible]),
        entity: rng.random_range(0..doubted.entities.len()),
    };
    let draw = |_: &Story, _: usize, _: usize| [(); 2].map(|()| random_classes(&mut rng));
    prediction(pair, &answers, draw)
}

/// Two different sentences, the earlier first. A story of one sentence gives that one twice.
fn two_sentences(rng: &mut ChaCha12Rng, story: &Story, _: &Story) -> [usize; 2] {
    let n = story.sentences.len();
    let mut drawn = index::sample(rng, n, 2.min(n)).into_vec();
    drawn.sort_unstable();
    [drawn[0], drawn[drawn.len() - 1]]
}

fn two_that_differ(rng: &mut ChaCha12Rng, story: &Story, other: &Story) -> [usize; 2] {
    let sentence_pairs = differing_pairs(&story.sentences, &other.sentences);
    sentence_pairs.choose(rng).copied().unwrap_or_else(|| two_sentences(rng, story, other))
}

fn random_classes(rng: &mut ChaCha12Rng) -> Classes {
    Attribute::ALL.map(|attribute| rng.random_range(0..attribute.classes() as u8))
}

/// Puts all pairs into a random circle and gives each pair the labels of the next one. A single pair would get its own.
fn shuffled(pairs: &[Pair], seed: u64) -> Vec<LabelledPair> {
    assert!(pairs.len() != 1, "one pair has no other one");
    let mut circle: Vec<usize> = (0..pairs.len()).collect();
    circle.shuffle(&mut seed::rng(seed, "shuffled baseline", 0));
    let mut donor = vec![0; pairs.len()];
    for (i, &pair) in circle.iter().enumerate() {
        donor[pair] = circle[(i + 1) % circle.len()];
    }
    pairs.iter().zip(donor).map(|(pair, donor)| with_labels_of(pair, &pairs[donor])).collect()
}

/// Cuts off the sentences of a longer story. Takes the entities in order, and starts again from the first one if there
/// are too few.
fn with_labels_of(pair: &Pair, donor: &Pair) -> LabelledPair {
    let doubted = &pair.stories[1 - donor.plausible];
    let last = doubted.sentences.len() - 1;
    let conflict = [donor.conflict.evidence, donor.conflict.breakpoint].map(|sentence| sentence.min(last));
    let of_donor = donor.implausible_story();
    let target = of_donor.entities.iter().position(|entity| of_donor.conflict_target(entity).is_some());
    let answers =
        Answers { plausible: donor.plausible, conflict, entity: target.unwrap_or(0) % doubted.entities.len() };
    let labels = |story: &Story, entity: usize, sentence: usize| {
        let is_doubted = std::ptr::eq(story, doubted);
        let of = if is_doubted { of_donor } else { donor.plausible_story() };
        let entity = &of.entities[entity % of.entities.len()];
        let at = |rows: &[Classes]| rows.get(sentence).copied().unwrap_or([0; ATTRIBUTES]);
        [at(&entity.preconditions), at(&entity.effects)]
    };
    prediction(pair, &answers, labels)
}

/// `states` gives the preconditions and effects of an entity in a sentence.
fn prediction(
    pair: &Pair,
    answers: &Answers,
    mut states: impl FnMut(&Story, usize, usize) -> [Classes; 2],
) -> LabelledPair {
    let Answers { plausible, conflict, entity } = *answers;
    let mut stories = pair.stories.each_ref().map(|story| story_prediction(story, &mut states));
    for sentence in conflict {
        stories[1 - plausible].entities[entity].conflict_probs[sentence] = 1.;
    }
    let mut story_probs = [0.; 2];
    story_probs[plausible] = 1.;
    let mut conflict = conflict.to_vec();
    conflict.dedup();
    LabelledPair::new(pair, PairPrediction { plausible, story_probs, conflict, stories })
}

fn story_prediction(story: &Story, states: &mut impl FnMut(&Story, usize, usize) -> [Classes; 2]) -> StoryPrediction {
    let n = story.sentences.len();
    let mut entity = |(e, entity): (usize, &Entity)| {
        let predicted: Vec<[Classes; 2]> = (0..n).map(|sentence| states(story, e, sentence)).collect();
        let [preconditions, effects] = [0, 1].map(|side| PredictedStates {
            classes: predicted.iter().map(|sides| sides[side]).collect(),
            candidates: Vec::new(),
        });
        EntityPrediction { name: entity.name.clone(), conflict_probs: vec![0.; n], preconditions, effects }
    };
    let entities = story.entities.iter().enumerate().map(&mut entity).collect();
    StoryPrediction::without_sentence_pairs(&story.id, story.sentences.clone(), entities)
}
