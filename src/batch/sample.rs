//! Samples the entities and the inputs that a training step reads.

use super::corpus::Corpus;
use super::index::InputNumber;
use crate::data::Story;
use rand::seq::SliceRandom;
use std::collections::BTreeSet;

/// An entity of a story, and how many of its entities it stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    pub entity: usize,
    pub weight: f32,
}

/// The strata from which the entities of a story are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strata {
    /// All entities together.
    One,
    /// The entities in the pair's conflict, of which some are always drawn, and the others. A distribution over
    /// sentence pairs needs this: without these entities, the gold sentence pair could be learned only for a wrong
    /// reason.
    Conflict,
}

/// The sampled rows (entities) of a step's pairs, and the inputs that are encoded.
pub struct Sample {
    /// `[pair][story]` -> the story's sampled entities, ascending.
    pub(super) entities: Vec<[Vec<Drawn>; 2]>,
    /// The (entity, sentence) inputs that are encoded.
    pub inputs: BTreeSet<InputNumber>,
}

impl Sample {
    /// All entities and inputs.
    pub fn all(corpus: &Corpus, pairs: &[usize]) -> Self {
        let every = |story: &Story| (0..story.entities.len()).map(|entity| Drawn { entity, weight: 1. }).collect();
        let entities = |&p: &usize| corpus.pairs[p].stories.each_ref().map(every);
        Self::of(corpus, pairs, pairs.iter().map(entities).collect())
    }

    /// Draws at most `most` entities of each story at random, from each stratum. The weight of a drawn entity is the
    /// size of its stratum divided by the number of entities drawn from it, so that weighted averages estimate those
    /// over all entities. The two stories of a pair get the same names, so that most of their inputs are the same.
    pub fn of_entities(
        corpus: &Corpus,
        pairs: &[usize],
        most: usize,
        strata: Strata,
        rng: &mut impl rand::Rng,
    ) -> Self {
        let is_stratified = strata == Strata::Conflict && most > 1;
        let mut draw = |&p: &usize| {
            let pair = &corpus.pairs[p];
            let names: BTreeSet<&str> =
                pair.stories.iter().flat_map(|s| &s.entities).map(|e| e.name.as_str()).collect();
            let mut names: Vec<&str> = names.into_iter().collect();
            names.shuffle(rng);
            let implausible = pair.implausible_story();
            let in_conflict = implausible.entities.iter().filter(|e| implausible.conflict_target(e).is_some());
            let in_conflict: BTreeSet<&str> = in_conflict.map(|entity| entity.name.as_str()).collect();
            pair.stories.each_ref().map(|story| {
                let position = |name: &str| story.entities.iter().position(|entity| entity.name == name);
                let (first, others): (Vec<_>, Vec<_>) = names
                    .iter()
                    .filter_map(|&name| Some((name, position(name)?)))
                    .partition(|(name, _)| is_stratified && in_conflict.contains(name));
                let first_drawn = first.len().min(most - usize::from(!others.is_empty()));
                let strata = [(&first, first_drawn), (&others, others.len().min(most - first_drawn))];
                let drawn = strata.into_iter().flat_map(|(stratum, count)| {
                    let weight = stratum.len() as f32 / count as f32;
                    stratum[..count].iter().map(move |&(_, entity)| Drawn { entity, weight })
                });
                let mut drawn: Vec<Drawn> = drawn.collect();
                drawn.sort_unstable_by_key(|drawn| drawn.entity);
                drawn
            })
        };
        Self::of(corpus, pairs, pairs.iter().map(&mut draw).collect())
    }

    /// Keeps this share of the inputs, chosen at random.
    pub fn keep_inputs(mut self, share: f64, rng: &mut impl rand::Rng) -> Self {
        let mut shuffled: Vec<InputNumber> = self.inputs.into_iter().collect();
        let count = (share * shuffled.len() as f64).ceil() as usize;
        shuffled.shuffle(rng);
        self.inputs = shuffled.into_iter().take(count).collect();
        self
    }

    /// The sample of some of the pairs, by their positions. An input that was left out stays left out.
    #[must_use]
    pub fn part(&self, positions: &[usize]) -> Self {
        let entities = positions.iter().map(|&position| self.entities[position].clone());
        Sample { entities: entities.collect(), inputs: self.inputs.clone() }
    }

    fn of(corpus: &Corpus, pairs: &[usize], entities: Vec<[Vec<Drawn>; 2]>) -> Self {
        let mut inputs = BTreeSet::new();
        for (&p, of_pair) in pairs.iter().zip(&entities) {
            for (rows, drawn) in corpus.cells[p].iter().zip(of_pair) {
                inputs.extend(drawn.iter().flat_map(|drawn| &rows[drawn.entity]));
            }
        }
        Sample { entities, inputs }
    }
}
