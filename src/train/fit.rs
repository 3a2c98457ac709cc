//! What is trained and how: one step.

use super::batches::Batches;
use super::config::TrainConfig;
use super::exchange::{FlatStep, StepSum};
use super::frozen::Vectors;
use super::observer::{Phase, StepObserver};
use super::optim::AdamW;
use super::order::MixtureComponent;
use super::shards;
use super::stream::Streamed;
use crate::batch::{Corpus, Sample, SentBatch, Strata};
use crate::data::Pair;
use crate::decode::Decode;
use crate::distributed::{LostRank, Ranks};
use crate::error::{Error, ErrorKind};
use crate::eval::EvalConfig;
use crate::loss::{LossConfig, LossValues, Losses};
use crate::model::{DropoutRng, Mode, Output, TieredModel};
use crate::seed;
use crate::torch::{has_kernels, read};
use std::convert::Infallible;
use std::rc::Rc;
use tch::{Kind, Tensor};

/// The parts of a training run: model, data and settings.
pub struct Fit<'a> {
    /// The optimiser changes its variables.
    pub model: &'a TieredModel,
    /// The vectors of a frozen encoder for the training and dev pairs; `None` if the encoder is trained.
    pub frozen: Option<Frozen>,
    /// The pairs that are trained on; with a stream, its first ones.
    pub train: &'a Corpus,
    /// Where each step's pairs come from, if they are not all in memory.
    pub stream: Option<Streamed>,
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
    /// Those of the losses' margin (`loss::state_margins`).
    pub state_margins: Option<Rc<Tensor>>,
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
    /// The step's pairs could not be made or read.
    Pairs(#[from] Error),
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
        let message = halt.to_string();
        match halt {
            Halt::Diverged(_) => Error::new(ErrorKind::Diverged, message),
            Halt::Lost(_) => Error::new(ErrorKind::Resumable, message),
            Halt::Pairs(error) => error,
        }
    }
}

impl<'a> Fit<'a> {
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

    /// The same training on other pairs: those of a step of a stream.
    pub fn on<'b>(&'b self, train: &'b Corpus) -> Fit<'b> {
        let (ranks, state_margins) = (Rc::clone(&self.ranks), self.state_margins.clone());
        Fit { train, stream: None, frozen: None, ranks, state_margins, ..*self }
    }

    /// What makes the batches of its steps.
    pub fn batches(&self) -> Batches {
        let TrainConfig { entities, state_sample_ratio, .. } = self.config;
        let EvalConfig { device, layout, .. } = self.eval;
        Batches { entities, state_sample_ratio, strata: self.strata, layout, device, seed: self.seed }
    }

    /// The same where batches are made ahead of their steps: on a GPU, which would otherwise wait for them. A step in several
    /// shards does not need them.
    pub(super) fn batches_ahead(&self) -> Option<Batches> {
        (!has_kernels(self.eval.device) && self.config.shards == 1).then(|| self.batches())
    }

    /// Takes one step on the pairs with these indices. `step` counts from 0. `ready` is the batch that [`Batches::of`]
    /// made of these pairs for this step; `None` makes it now. A step in several shards does not need it.
    ///
    /// # Errors
    /// [`Halt`]; then the weights are those before the step.
    pub fn step(
        &self,
        ready: Option<SentBatch>,
        optimiser: &mut AdamW,
        pairs: &[usize],
        step: u64,
        rate: f64,
        observer: &mut dyn StepObserver,
    ) -> Result<StepResult, Halt> {
        let diverged = |what| Halt::Diverged(Diverged { step: step + 1, what, pairs: names(&self.train.pairs, pairs) });
        let (losses, counts, gradients, numbers) = if self.config.shards == 1 {
            let batch = ready.unwrap_or_else(|| self.batches().of(self.train, pairs, step));
            let ShardPass { losses, gradients, .. } = self.compute(optimiser, batch, "dropout", None, step, observer);
            let numbers = optimiser.step(&gradients, &losses.stacked(), rate);
            (LossValues::from_stacked(&numbers.checked), losses.counts, gradients, numbers)
        } else {
            let StepSum { losses, counts, gradients } = self.sum(optimiser, pairs, step, observer)?;
            if let Some(what) = losses.not_finite() {
                return Err(diverged(what.to_owned()));
            }
            let nothing = Tensor::zeros([0], (Kind::Float, self.eval.device));
            let numbers = optimiser.step(&gradients, &nothing, rate);
            (losses, counts, gradients, numbers)
        };
        self.model.encoder.embeddings.trained_rows_have_changed();
        observer.ended(Phase::Optimiser);
        if !numbers.are_finite() {
            let what = losses.not_finite().map_or_else(|| gradient_not_finite(optimiser, &gradients), str::to_owned);
            return Err(diverged(what));
        }
        Ok(StepResult { losses, counts, gradient_norm: numbers.gradient_norm })
    }

    /// The losses and gradients of a step: the sum over all shards and processes.
    fn sum(
        &self,
        optimiser: &AdamW,
        pairs: &[usize],
        step: u64,
        observer: &mut dyn StepObserver,
    ) -> Result<StepSum, Halt> {
        let shards = self.shards(pairs, &self.batches().sample(self.train, pairs, step));
        let flat = FlatStep::new(&optimiser.variables());
        let own = shards::of_rank(self.ranks.rank(), self.ranks.size(), shards.len());
        let sum: Result<Tensor, Infallible> = shards::tree_sum(own, &mut |number| {
            let StepShard { pairs, sample, dropout, of_step } = &shards[number];
            if pairs.is_empty() {
                return Ok(flat.nothing());
            }
            let batch = SentBatch::new(self.train.batch_of(pairs, sample, self.eval.layout), self.eval.device);
            Ok(flat.pack(&self.compute(optimiser, batch, dropout, Some(*of_step), step, observer).into_sum()))
        });
        let Ok(sum) = sum;
        let mut sum = flat.exchange(&sum, &self.ranks)?;
        sum.gradients.iter_mut().filter(|gradient| gradient.defined()).for_each(|gradient| {
            *gradient = gradient.to_device(self.eval.device);
        });
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
            of_step,
        };
        parts.into_iter().enumerate().map(shard).collect()
    }

    /// The losses and gradients of a batch. `of_step` has the counted cells and the pairs of the whole step, if the batch is
    /// a part of it.
    fn compute(
        &self,
        optimiser: &AdamW,
        batch: SentBatch,
        dropout: &str,
        of_step: Option<(f64, f64)>,
        step: u64,
        observer: &mut dyn StepObserver,
    ) -> ShardPass {
        let (batch, targets) = batch.arrive();
        observer.batch(step + 1, &batch, &optimiser.parameters);
        observer.ended(Phase::Data);

        let noise = DropoutRng::new(seed::key(self.seed, dropout, step));
        self.model.copies.refresh();
        let mode = Mode::train(&noise, self.eval.precision).with_copies(&self.model.copies);
        let (trace, batch) = match &self.frozen {
            Some(frozen) => frozen.train.trace(batch, mode),
            None => (self.model.encoder.trace(&batch.tokens, mode), batch),
        };
        observer.ended(Phase::EncoderForward);
        let states = self.model.states(&trace.hidden, &batch, mode);
        observer.ended(Phase::Heads);
        let output = self.model.conflicts(&trace.hidden, states, &batch, mode);
        observer.ended(Phase::Detector);
        let mut losses = Losses::new(&output, &targets, self.state_margins.as_deref());
        observer.losses(&mut losses);
        let shares = of_step.map(|of_step| shares_in_step(&mut losses, &output, of_step));
        let weights = shares.map_or(self.loss, |shares| self.loss.of_part(&shares));
        observer.ended(Phase::Losses);

        let variables = optimiser.variables();
        let (mut gradients, of_hidden) = trace.gradients_of_readers(&losses.total(&weights), &variables);
        observer.ended(Phase::HeadsBackward);
        trace.add_gradients_of_encoder(&of_hidden, &variables, &mut gradients);
        observer.gradients(&optimiser.parameters, &gradients);
        observer.ended(Phase::EncoderBackward);
        ShardPass { losses, shares, gradients }
    }
}

/// A part of a step that is computed on its own.
struct StepShard {
    /// Indices of its pairs.
    pairs: Vec<usize>,
    sample: Sample,
    /// The purpose of its dropout, from which its masks follow.
    dropout: String,
    /// The counted cells and the pairs of the whole step.
    of_step: (f64, f64),
}

/// What was computed of a batch.
struct ShardPass {
    losses: Losses,
    /// The share of its items in each average of the step, if the batch is a part of one.
    shares: Option<LossValues>,
    gradients: Vec<Tensor>,
}

impl ShardPass {
    /// With the losses as they count in the step, read from the device.
    fn into_sum(self) -> StepSum {
        let read: Vec<f64> = read::floats(&self.losses.stacked()).into_iter().map(f64::from).collect();
        let own = LossValues::from_stacked(&read);
        let losses = self.shares.map_or(own, |shares| own.zip(shares, |value, share| value * share));
        StepSum { losses, counts: self.losses.counts, gradients: self.gradients }
    }
}

/// The share of a part's items in each average of the whole step, which has so many cells and pairs. A loss that averages
/// over nothing is set to 0.
fn shares_in_step(losses: &mut Losses, output: &Output, (cells, pairs): (f64, f64)) -> LossValues {
    losses.without_empty();
    let of_step = Losses::counts(&output.conflicts, cells, pairs);
    losses.counts.zip(of_step, |own, all| own / all)
}

/// What of the gradients is not finite, in words.
fn gradient_not_finite(optimiser: &AdamW, gradients: &[Tensor]) -> String {
    match optimiser.gradient_not_finite(gradients) {
        Some(name) => format!("the gradient of {name}"),
        None => "the norm of the gradients".to_owned(),
    }
}

fn names(pairs: &[Pair], indices: &[usize]) -> Vec<String> {
    indices.iter().map(|&i| pairs[i].id.clone()).collect()
}
