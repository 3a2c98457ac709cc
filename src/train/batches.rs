//! The batches of training steps. Each follows from the pairs and the number of its step, so any thread can make it.

use crate::batch::{Corpus, Layout, Sample, SentBatch, Strata};
use crate::seed;
use tch::Device;

/// What makes batches. It holds no model, so that it can work on the next batch during a step.
#[derive(Clone, Copy)]
pub struct Batches {
    pub(super) entities: Option<usize>,
    pub(super) state_sample_ratio: f64,
    pub(super) strata: Strata,
    pub(super) layout: Layout,
    pub(super) device: Device,
    pub(super) seed: u64,
}

impl Batches {
    /// The batch of these pairs of the corpus. `step` counts from 0.
    pub fn of(&self, corpus: &Corpus, pairs: &[usize], step: u64) -> SentBatch {
        SentBatch::new(corpus.batch_of(pairs, &self.sample(corpus, pairs, step), self.layout), self.device)
    }

    /// The entities and inputs of these pairs that the step reads.
    pub(super) fn sample(&self, corpus: &Corpus, pairs: &[usize], step: u64) -> Sample {
        let rng = |purpose| seed::rng(self.seed, purpose, step);
        let sample = match self.entities {
            Some(most) => Sample::of_entities(corpus, pairs, most, self.strata, &mut rng("entities")),
            None => Sample::all(corpus, pairs),
        };
        match self.state_sample_ratio {
            1. => sample,
            share => sample.keep_inputs(share, &mut rng("state inputs")),
        }
    }
}
