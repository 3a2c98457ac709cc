//! Predictions that know nothing of the stories: what any score has to be held against.

use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::{Classes, Entity, Pair, Story};
use crate::prediction::{EntityPrediction, PairPrediction, StateLabels, StoryPrediction, differing_places};
use crate::seed;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom, index};
use rand_chacha::ChaCha12Rng;

/// How predictions are made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Every tier is drawn (TRIP table 2: "makes tiered predictions at random"): the story by a fair coin, two of the
    /// sentences of the other one, and every state uniformly from its classes.
    Random,
    /// The same, the two sentences drawn from those that the other story doesn't tell too in this order: what a decoding
    /// by contrast gets by chance.
    Contrast,
    /// Every pair gets the gold answers of another pair of the set: right as often as answers that fit the set, but not
    /// the stories.
    Shuffled,
}

impl Baseline {
    pub const fn name(self) -> &'static str {
        match self {
            Baseline::Random => "random",
            Baseline::Contrast => "random, by contrast",
            Baseline::Shuffled => "labels of other pairs",
        }
    }

    /// A prediction of each pair. The two sentences in conflict are recorded, and are what decoding finds.
    pub fn predict(self, pairs: &[Pair], seed: u64) -> Vec<PairPrediction> {
        match self {
            Baseline::Random => pairs.iter().map(|pair| random(pair, seed, two_sentences)).collect(),
            Baseline::Contrast => pairs.iter().map(|pair| random(pair, seed, two_that_differ)).collect(),
            Baseline::Shuffled => shuffled(pairs, seed),
        }
    }
}

/// What is said of a pair.
struct Answers {
    plausible: usize,
    /// Two sentences of the other story.
    conflict: [usize; 2],
    /// The entity of that story which believes in the conflict.
    entity: usize,
}

/// Draws two sentences of the first story, which is beside the second.
type DrawConflict = fn(&mut ChaCha12Rng, &Story, &Story) -> [usize; 2];

fn random(pair: &Pair, seed: u64, draw_conflict: DrawConflict) -> PairPrediction {
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

/// Two different sentences, the earlier first; a story of one sentence has one.
fn two_sentences(rng: &mut ChaCha12Rng, story: &Story, _: &Story) -> [usize; 2] {
    let n = story.sentences.len();
    let mut drawn = index::sample(rng, n, 2.min(n)).into_vec();
    drawn.sort_unstable();
    [drawn[0], drawn[drawn.len() - 1]]
}

fn two_that_differ(rng: &mut ChaCha12Rng, story: &Story, other: &Story) -> [usize; 2] {
    let places = differing_places(&story.sentences, &other.sentences);
    places.choose(rng).copied().unwrap_or_else(|| two_sentences(rng, story, other))
}

fn random_classes(rng: &mut ChaCha12Rng) -> Classes {
    Attribute::ALL.map(|attribute| rng.random_range(0..attribute.classes() as u8))
}

/// Pairs get the answers of the pair that comes next in a random circle of all.
fn shuffled(pairs: &[Pair], seed: u64) -> Vec<PairPrediction> {
    let mut circle: Vec<usize> = (0..pairs.len()).collect();
    circle.shuffle(&mut seed::rng(seed, "shuffled baseline", 0));
    let mut donor = vec![0; pairs.len()];
    for (i, &pair) in circle.iter().enumerate() {
        donor[pair] = circle[(i + 1) % circle.len()];
    }
    pairs.iter().zip(donor).map(|(pair, donor)| with_labels_of(pair, &pairs[donor])).collect()
}

/// The sentences of a longer story are cut off; entities are taken in their order, again from the first if there are
/// fewer.
fn with_labels_of(pair: &Pair, donor: &Pair) -> PairPrediction {
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

/// `states` gives preconditions and effects of an entity in a sentence.
fn prediction(
    pair: &Pair,
    answers: &Answers,
    mut states: impl FnMut(&Story, usize, usize) -> [Classes; 2],
) -> PairPrediction {
    let Answers { plausible, conflict, entity } = *answers;
    let mut stories = pair.stories.each_ref().map(|story| story_prediction(story, &mut states));
    for sentence in conflict {
        stories[1 - plausible].entities[entity].beliefs[sentence] = 1.;
    }
    let mut story_probs = [0.; 2];
    story_probs[plausible] = 1.;
    let mut conflict = conflict.to_vec();
    conflict.dedup();
    PairPrediction {
        id: pair.id.clone(),
        group: pair.group,
        kind: pair.kind.name().to_owned(),
        gold_plausible: pair.plausible,
        gold_conflict: [pair.conflict.evidence, pair.conflict.breakpoint],
        plausible,
        story_probs,
        conflict,
        stories,
    }
}

fn story_prediction(story: &Story, states: &mut impl FnMut(&Story, usize, usize) -> [Classes; 2]) -> StoryPrediction {
    let n = story.sentences.len();
    let mut entity = |(e, entity): (usize, &Entity)| {
        let target = story.conflict_target(entity);
        let is_gold = |i: usize| target.is_some_and(|conflict| conflict.evidence == i || conflict.breakpoint == i);
        let predicted: Vec<[Classes; 2]> = (0..n).map(|sentence| states(story, e, sentence)).collect();
        let side = |gold: &[Classes], side: usize| StateLabels {
            gold: if story.has_states() { gold.to_vec() } else { Vec::new() },
            predicted: predicted.iter().map(|sides| sides[side]).collect(),
            candidates: Vec::new(),
        };
        EntityPrediction {
            name: entity.name.clone(),
            beliefs: vec![0.; n],
            gold_beliefs: (0..n).map(|i| is_gold(i).into()).collect(),
            preconditions: side(&entity.preconditions, 0),
            effects: side(&entity.effects, 1),
        }
    };
    StoryPrediction {
        id: story.id.clone(),
        sentences: story.sentences.clone(),
        places: Vec::new(),
        subjects: Vec::new(),
        no_conflict: None,
        entities: story.entities.iter().enumerate().map(&mut entity).collect(),
    }
}
