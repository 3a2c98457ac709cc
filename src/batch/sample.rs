//! Which part of some pairs a training step reads.

use super::Corpus;
use rand::seq::SliceRandom;
use std::collections::BTreeSet;

/// Of the pairs of a step, the rows (entities) there are and the inputs that are encoded.
pub struct Sample {
    /// `[pair][story]` -> which of the story's entities, ascending.
    pub(super) entities: Vec<[Vec<usize>; 2]>,
    /// The (entity, sentence) inputs that are encoded, by their number.
    pub inputs: BTreeSet<usize>,
}

impl Sample {
    /// Everything.
    pub fn all(corpus: &Corpus, pairs: &[usize]) -> Self {
        let entities = |&p: &usize| corpus.pairs[p].stories.each_ref().map(|story| (0..story.entities.len()).collect());
        Self::of(corpus, pairs, pairs.iter().map(entities).collect())
    }

    /// At most so many entities of each story, drawn at random. The stories of a pair are drawn alike, so that most of
    /// their inputs are the same.
    pub fn of_entities(corpus: &Corpus, pairs: &[usize], most: usize, rng: &mut impl rand::Rng) -> Self {
        let mut draw = |&p: &usize| {
            let stories = &corpus.pairs[p].stories;
            let names: BTreeSet<&str> = stories.iter().flat_map(|s| &s.entities).map(|e| e.name.as_str()).collect();
            let mut names: Vec<&str> = names.into_iter().collect();
            names.shuffle(rng);
            stories.each_ref().map(|story| {
                let number = |name: &&str| story.entities.iter().position(|entity| entity.name == **name);
                let mut drawn: Vec<usize> = names.iter().filter_map(number).take(most).collect();
                drawn.sort_unstable();
                drawn
            })
        };
        Self::of(corpus, pairs, pairs.iter().map(&mut draw).collect())
    }

    /// Keeps this share of the inputs, drawn at random.
    pub fn keep_inputs(mut self, share: f64, rng: &mut impl rand::Rng) -> Self {
        let mut shuffled: Vec<usize> = self.inputs.into_iter().collect();
        let count = (share * shuffled.len() as f64).ceil() as usize;
        shuffled.shuffle(rng);
        self.inputs = shuffled.into_iter().take(count).collect();
        self
    }

    fn of(corpus: &Corpus, pairs: &[usize], entities: Vec<[Vec<usize>; 2]>) -> Self {
        let mut inputs = BTreeSet::new();
        for (&p, of_pair) in pairs.iter().zip(&entities) {
            for (rows, drawn) in corpus.slots[p].iter().zip(of_pair) {
                inputs.extend(drawn.iter().flat_map(|&e| &rows[e]));
            }
        }
        Sample { entities, inputs }
    }
}
