//! What is trained and how: one step.

use super::config::TrainConfig;
use super::exchange::{FlatStep, StepSum};
use super::frozen::Vectors;
use super::observer::{Phase, StepObserver};
use super::optim::AdamW;
use super::order::MixtureComponent;
use super::shards;
use crate::batch::{Corpus, Sample, Strata};
use crate::data::Pair;
use crate::decode::Decode;
use crate::distributed::{LostRank, Ranks};
use crate::error::{Error, ErrorKind};
use crate::eval::EvalConfig;
use crate::loss::{LossConfig, LossValues, Losses};
use crate::model::{DropoutRng, Mode, Output, TieredModel};
use crate::seed;
use std::convert::Infallible;
use std::rc::Rc;
use tch::Tensor;

/// The parts of a training run: model, data and settings.
pub struct Fit<'a> {
    /// The optimiser changes its variables.
    pub model: &'a TieredModel,
    /// The vectors of a frozen encoder for the training and dev pairs; `None` if the encoder is trained.
    pub frozen: Option<Frozen>,
    /// The pairs that are trained on.
    pub train: &'a Corpus,
    /// Which pairs are trained on in which epochs.
    pub parts: &'a [MixtureComponent],
    /// The pairs that epochs are scored on; `None`: every epoch replaces the one before.
    pub dev: Option<&'a Corpus>,
    /// How the model is trained.
    pub config: TrainConfig,
    /// The strata from which a step's entities are drawn, if not all entities are read.
    pub strata: Strata,
    /// The weights of the losses.
    pub loss: LossConfig,
    /// Training steps use the same layout, so that padding counts in the losses of both alike.
    pub eval: EvalConfig,
    /// The decoding with which the best epoch is chosen.
    pub decode: Decode,
    /// Of all random choices, with the step or epoch.
    pub seed: u64,
    /// The processes that share the steps and the evaluations.
    pub ranks: Rc<Ranks>,
}

/// The vectors of the inputs of both corpora.
pub struct Frozen {
    /// Of the training pairs.
    pub train: Vectors,
    /// Of the dev pairs, if there are any.
    pub dev: Option<Vectors>,
}

/// How many inputs a frozen encoder has encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoded {
    /// Those encoded so far, of training and dev.
    pub inputs: usize,
    /// All of them.
    pub of: usize,
}

/// The result of one step.
pub struct StepResult {
    /// Each loss of the step's pairs, unweighted.
    pub losses: LossValues,
    /// The number of items in the average of each loss.
    pub counts: LossValues,
    /// The norm before clipping.
    pub gradient_norm: f64,
}

/// Why a step or an evaluation was not completed. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum Halt {
    /// A number is not finite.
    Diverged(#[from] Diverged),
    /// Another process is gone.
    Lost(#[from] LostRank),
}

/// A loss or gradient is not finite. The weights are those before the step.
#[derive(Debug, thiserror::Error)]
#[error("step {step}: {what} is not finite (pairs {})", .pairs.join(", "))]
pub struct Diverged {
    /// Counted from 1.
    pub step: u64,
    /// The first loss or gradient that is not finite, in words.
    pub what: String,
    /// Ids of the step's pairs.
    pub pairs: Vec<String>,
}

impl From<Halt> for Error {
    fn from(halt: Halt) -> Self {
        let kind = match halt {
            Halt::Diverged(_) => ErrorKind::Diverged,
            Halt::Lost(_) => ErrorKind::Resumable,
        };
        Error::new(kind, halt.to_string())
    }
}

impl Fit<'_> {
    /// Encodes the next inputs with the frozen encoder; `None` if none are left.
    pub fn encode(&mut self) -> Option<Encoded> {
        let Frozen { train, dev } = self.frozen.as_mut()?;
        let corpora = [(Some(train), Some(self.train)), (dev.as_mut(), self.dev)];
        let mut corpora: Vec<(&mut Vectors, &Corpus)> =
            corpora.into_iter().filter_map(|(vectors, corpus)| vectors.zip(corpus)).collect();
        let (vectors, corpus) = corpora.iter_mut().find(|(vectors, _)| !vectors.is_done())?;
        vectors.advance(&self.model.encoder, corpus, Mode::eval(self.eval.precision));
        let progress = corpora.iter().map(|(vectors, _)| vectors.progress());
        let (inputs, of) = progress.fold((0, 0), |(inputs, of), (i, o)| (inputs + i, of + o));
        Some(Encoded { inputs, of })
    }

    /// Takes one step on the pairs with these indices. `step` counts from 0.
    ///
    /// # Errors
    /// [`Halt`]; then the weights are those before the step.
    pub fn step(
        &self,
        optimiser: &mut AdamW,
        pairs: &[usize],
        step: u64,
        rate: f64,
        observer: &mut dyn StepObserver,
    ) -> Result<StepResult, Halt> {
        let diverged = |what| Halt::Diverged(Diverged { step: step + 1, what, pairs: names(&self.train.pairs, pairs) });
        let StepSum { losses, counts, gradients } = self.sum(optimiser, pairs, step, observer)?;
        if let Some(what) = losses.not_finite() {
            return Err(diverged(what.to_owned()));
        }
        let gradient_norm = optimiser.step(&gradients, rate);
        observer.ended(Phase::Optimiser);
        if !gradient_norm.is_finite() {
            return Err(diverged(match optimiser.gradient_not_finite(&gradients) {
                Some(name) => format!("the gradient of {name}"),
                None => "the norm of the gradients".to_owned(),
            }));
        }
        Ok(StepResult { losses, counts, gradient_norm })
    }

    /// The losses and gradients of a step: those of the only shard, or the sum over all shards and processes.
    fn sum(
        &self,
        optimiser: &AdamW,
        pairs: &[usize],
        step: u64,
        observer: &mut dyn StepObserver,
    ) -> Result<StepSum, Halt> {
        let sample = self.sample(pairs, step);
        if self.config.shards == 1 {
            let shard = StepShard { pairs: pairs.to_vec(), sample, dropout: "dropout".to_owned(), of_step: None };
            return Ok(self.compute(optimiser, &shard, step, observer));
        }
        let shards = self.shards(pairs, &sample);
        let flat = FlatStep::new(&optimiser.variables());
        let own = shards::of_rank(self.ranks.rank(), self.ranks.size(), shards.len());
        let sum: Result<Tensor, Infallible> = shards::tree_sum(own, &mut |number| {
            let shard = &shards[number];
            Ok(match shard.pairs.is_empty() {
                true => flat.nothing(),
                false => flat.pack(&self.compute(optimiser, shard, step, observer)),
            })
        });
        let Ok(sum) = sum;
        let sum = flat.exchange(&sum, &self.ranks)?;
        observer.ended(Phase::EncoderBackward);
        Ok(sum)
    }

    /// Cuts a step's pairs into shards.
    fn shards(&self, pairs: &[usize], sample: &Sample) -> Vec<StepShard> {
        let groups: Vec<i64> = pairs.iter().map(|&pair| self.train.pairs[pair].group).collect();
        let of = |positions: &[usize]| -> Vec<usize> { positions.iter().map(|&position| pairs[position]).collect() };
        let parts = shards::cut(&groups, self.config.shards, |positions| self.train.unique_tokens(&of(positions)));
        let of_step = (self.train.counted_cells(pairs, sample, self.eval.layout), pairs.len() as f64);
        let shard = |(number, positions): (usize, Vec<usize>)| StepShard {
            pairs: of(&positions),
            sample: sample.part(&positions),
            dropout: format!("dropout {number}"),
            of_step: Some(of_step),
        };
        parts.into_iter().enumerate().map(shard).collect()
    }

    /// The losses and gradients of a shard. It has pairs.
    fn compute(&self, optimiser: &AdamW, shard: &StepShard, step: u64, observer: &mut dyn StepObserver) -> StepSum {
        let (batch, targets) = self.train.batch_of(&shard.pairs, &shard.sample, self.eval.layout);
        let (batch, targets) = (batch.to_device(self.eval.device), targets.to_device(self.eval.device));
        observer.batch(step + 1, &batch, &optimiser.parameters);
        observer.ended(Phase::Data);

        let noise = DropoutRng::new(seed::key(self.seed, &shard.dropout, step));
        let mode = Mode::train(&noise, self.eval.precision);
        let (trace, batch) = match &self.frozen {
            Some(frozen) => frozen.train.trace(batch),
            None => (self.model.encoder.trace(&batch.tokens, mode), batch),
        };
        observer.ended(Phase::EncoderForward);
        let states = self.model.states(&trace.hidden, &batch, mode);
        observer.ended(Phase::Heads);
        let output = self.model.conflicts(&trace.hidden, states, &batch, mode);
        observer.ended(Phase::Detector);
        let mut losses = Losses::new(&output, &targets);
        observer.losses(&mut losses);
        let (values, weights) = shard.share_in_step(&mut losses, &output, &self.loss);
        let counts = losses.counts;
        observer.ended(Phase::Losses);
        if values.not_finite().is_some() {
            return StepSum { losses: values, counts, gradients: Vec::new() };
        }

        let variables = optimiser.variables();
        let (mut gradients, of_hidden) = trace.gradients_of_readers(&losses.total(&weights), &variables);
        observer.ended(Phase::HeadsBackward);
        trace.add_gradients_of_encoder(&of_hidden, &variables, &mut gradients);
        observer.gradients(&optimiser.parameters, &gradients);
        observer.ended(Phase::EncoderBackward);
        StepSum { losses: values, counts, gradients }
    }

    /// The entities and inputs of these pairs that the step reads.
    fn sample(&self, pairs: &[usize], step: u64) -> Sample {
        let rng = |purpose| seed::rng(self.seed, purpose, step);
        let sample = match self.config.entities {
            Some(most) => Sample::of_entities(self.train, pairs, most, self.strata, &mut rng("entities")),
            None => Sample::all(self.train, pairs),
        };
        match self.config.state_sample_ratio {
            1. => sample,
            share => sample.keep_inputs(share, &mut rng("state inputs")),
        }
    }
}

/// A part of a step that is computed on its own.
struct StepShard {
    /// Indices of its pairs.
    pairs: Vec<usize>,
    sample: Sample,
    /// The purpose of its dropout, from which its masks follow.
    dropout: String,
    /// The counted cells and the pairs of the whole step; `None` if this is the whole step.
    of_step: Option<(f64, f64)>,
}

impl StepShard {
    /// What the shard adds to the step's losses, and the weights with which its own losses do.
    fn share_in_step(&self, losses: &mut Losses, output: &Output, weights: &LossConfig) -> (LossValues, LossConfig) {
        let Some((cells, pairs)) = self.of_step else { return (losses.values(), *weights) };
        losses.without_empty();
        let of_step = Losses::counts(&output.conflicts, cells, pairs);
        let shares = losses.counts.zip(of_step, |own, all| own / all);
        (losses.values().zip(shares, |value, share| value * share), weights.of_part(&shares))
    }
}

fn names(pairs: &[Pair], indices: &[usize]) -> Vec<String> {
    indices.iter().map(|&i| pairs[i].id.clone()).collect()
}
