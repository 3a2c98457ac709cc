//! The training loop.

use super::config::TrainConfig;
use super::frozen::Vectors;
use super::optim::{AdamW, Parameter};
use super::order::{self, MixtureComponent};
use super::poison::Poisoned;
use super::progress::{DevRecord, EpochRecord, Progress};
use crate::batch::{Corpus, Sample, Strata};
use crate::calibrate;
use crate::data::Pair;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind};
use crate::eval::{EvalConfig, evaluate};
use crate::loss::{LossConfig, LossValues, Losses};
use crate::metrics::TierCounts;
use crate::model::{DropoutRng, Mode, TieredModel};
use crate::seed;
use serde::Serialize;
use std::time::Instant;

/// The parts of a training run: model, data and settings.
pub struct Fit<'a> {
    pub model: &'a TieredModel,
    /// The vectors of a frozen encoder for the training and dev pairs; `None` if the encoder is trained.
    pub frozen: Option<Frozen>,
    pub train: &'a Corpus,
    /// Which pairs are trained on in which epochs.
    pub parts: &'a [MixtureComponent],
    pub dev: Option<&'a Corpus>,
    pub config: TrainConfig,
    /// The strata from which a step's entities are drawn, if not all entities are read.
    pub strata: Strata,
    pub loss: LossConfig,
    /// Training steps use the same layout, so that padding counts in the losses of both alike.
    pub eval: EvalConfig,
    /// The decoding with which the best epoch is chosen.
    pub decode: Decode,
    pub seed: u64,
}

/// The vectors of the inputs of both corpora.
pub struct Frozen {
    pub train: Vectors,
    pub dev: Option<Vectors>,
}

/// What has just been completed.
#[derive(Debug)]
pub enum Event {
    /// A frozen encoder encoded more inputs, before the first step.
    Encoded {
        inputs: usize,
        of: usize,
    },
    Step(StepRecord),
    /// The weights are those after the epoch.
    Epoch {
        record: EpochRecord,
        is_best: bool,
    },
}

/// One optimiser step.
#[derive(Debug, Clone, Serialize)]
pub struct StepRecord {
    /// Counted from 1.
    pub epoch: u64,
    /// Counted from 1, over the whole run.
    pub step: u64,
    /// The number of steps of the whole run.
    pub steps: u64,
    pub losses: LossValues,
    pub gradient_norm: f64,
    pub learning_rate: f64,
    pub pairs: usize,
}

/// The result of one step.
pub struct Step {
    pub losses: LossValues,
    /// The number of items in the average of each loss.
    pub counts: LossValues,
    /// The norm before clipping.
    pub gradient_norm: f64,
}

/// A loss or gradient is not finite. The weights are those before the step.
#[derive(Debug, thiserror::Error)]
#[error("step {step}: {what} is not finite (pairs {})", .pairs.join(", "))]
pub struct Diverged {
    pub step: u64,
    pub what: String,
    pub pairs: Vec<String>,
}

impl From<Diverged> for Error {
    fn from(diverged: Diverged) -> Self {
        Error::new(ErrorKind::Diverged, diverged.to_string())
    }
}

/// A training run between two steps.
pub struct Training<'a> {
    fit: Fit<'a>,
    pub optimiser: AdamW,
    pub progress: Progress,
    /// The number of steps of the run at the end of each epoch.
    ends: Vec<u64>,
    /// The steps of an epoch, each a list of pairs.
    order: Option<(u64, Vec<Vec<usize>>)>,
}

impl<'a> Training<'a> {
    /// A run at its first step. `optimiser` and `progress` can then be set to those of another run of the same kind.
    pub fn new(fit: Fit<'a>, parameters: Vec<Parameter>) -> Self {
        let optimiser = AdamW::new(parameters, fit.config.adamw);
        let ends = order::cumulative_steps(fit.parts, fit.config.pairs_per_step, fit.config.epochs);
        Training { fit, optimiser, progress: Progress::default(), ends, order: None }
    }

    /// The vectors of the frozen encoder, if it is frozen.
    pub fn frozen(&mut self) -> Option<&mut Frozen> {
        self.fit.frozen.as_mut()
    }

    /// The number of steps of the whole run.
    pub fn steps(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether all steps of an epoch are done, but not its evaluation.
    pub fn evaluation_is_due(&self) -> bool {
        self.ends.get(self.progress.epochs.len()).is_some_and(|&end| self.progress.step >= end)
    }

    pub fn is_over(&self) -> bool {
        let steps_are_taken = self.progress.step >= self.steps() && !self.evaluation_is_due();
        steps_are_taken || self.fit.config.patience.is_some_and(|patience| self.progress.since_best() >= patience)
    }

    /// Takes the next step, or evaluates after the last step of an epoch; `None` at the end.
    ///
    /// # Errors
    /// [`Diverged`]; then nothing has changed.
    pub fn advance(&mut self) -> Result<Option<Event>, Diverged> {
        if self.is_over() {
            return Ok(None);
        }
        if let Some(encoded) = self.fit.encode() {
            return Ok(Some(encoded));
        }
        if self.evaluation_is_due() {
            return self.finish_epoch().map(Some);
        }
        self.take_step().map(|record| Some(Event::Step(record)))
    }

    fn take_step(&mut self) -> Result<StepRecord, Diverged> {
        let started = Instant::now();
        let Progress { step, .. } = self.progress;
        let (steps, config) = (self.steps(), self.fit.config);
        let over = self.ends.partition_point(|&end| end <= step);
        let start = over.checked_sub(1).map_or(0, |last| self.ends[last]);
        let epoch = over as u64 + 1;
        let pairs = self.pairs(epoch, (step - start) as usize);
        let learning_rate = config.learning_rate * config.schedule.factor(step, steps, config.warmup);
        let Step { losses, counts, gradient_norm } = self.fit.step(&mut self.optimiser, &pairs, step, learning_rate)?;
        self.progress.step += 1;
        self.progress.losses.add(losses, counts);
        self.progress.train_seconds += started.elapsed().as_secs_f64();
        let (step, pairs) = (step + 1, pairs.len());
        Ok(StepRecord { epoch, step, steps, losses, gradient_norm, learning_rate, pairs })
    }

    /// The pairs of one step of an epoch.
    fn pairs(&mut self, epoch: u64, step: usize) -> Vec<usize> {
        let Fit { train, parts, config, seed, .. } = &self.fit;
        let (_, order) = match self.order.take() {
            Some(order) if order.0 == epoch => self.order.insert(order),
            _ => self.order.insert((epoch, order::steps(&train.pairs, parts, config.pairs_per_step, *seed, epoch))),
        };
        order[step].clone()
    }

    fn finish_epoch(&mut self) -> Result<Event, Diverged> {
        let started = Instant::now();
        let Progress { step, losses, train_seconds, .. } = self.progress;
        let dev = self.fit.dev.map(|dev| self.fit.evaluate(dev));
        if let Some(what) = dev.as_ref().and_then(|dev| dev.losses.not_finite()) {
            return Err(Diverged { step, what: what.to_owned(), pairs: vec!["of dev".to_owned()] });
        }
        let dev_seconds = started.elapsed().as_secs_f64();
        let epoch = self.progress.epochs.len() as u64 + 1;
        let record = EpochRecord { epoch, step, train: losses.mean(), dev, train_seconds, dev_seconds };
        let is_best = self.progress.finish_epoch(record.clone());
        Ok(Event::Epoch { record, is_best })
    }
}

impl Fit<'_> {
    /// Encodes the next inputs with the frozen encoder; `None` if none are left.
    fn encode(&mut self) -> Option<Event> {
        let Frozen { train, dev } = self.frozen.as_mut()?;
        let corpora = [(Some(train), Some(self.train)), (dev.as_mut(), self.dev)];
        let mut corpora: Vec<(&mut Vectors, &Corpus)> =
            corpora.into_iter().filter_map(|(vectors, corpus)| vectors.zip(corpus)).collect();
        let (vectors, corpus) = corpora.iter_mut().find(|(vectors, _)| !vectors.is_done())?;
        vectors.advance(&self.model.encoder, corpus, Mode::eval(self.eval.precision));
        let progress = corpora.iter().map(|(vectors, _)| vectors.progress());
        let (inputs, of) = progress.fold((0, 0), |(inputs, of), (i, o)| (inputs + i, of + o));
        Some(Event::Encoded { inputs, of })
    }

    /// Takes one step on the pairs with these indices. `step` counts from 0.
    ///
    /// # Errors
    /// [`Diverged`]; then the weights are those before the step.
    pub fn step(&self, optimiser: &mut AdamW, pairs: &[usize], step: u64, rate: f64) -> Result<Step, Diverged> {
        let (batch, targets) = self.train.batch_of(pairs, &self.sample(pairs, step), self.eval.layout);
        let (batch, targets) = (batch.to_device(self.eval.device), targets.to_device(self.eval.device));
        let poisoned = Poisoned::at(step + 1);
        poisoned.weights(&optimiser.parameters);
        let noise = DropoutRng::new(seed::key(self.seed, "dropout", step));
        let mode = Mode::train(&noise, self.eval.precision);
        let (trace, batch) = match &self.frozen {
            Some(frozen) => frozen.train.trace(batch),
            None => (self.model.encoder.trace(&batch.tokens, mode), batch),
        };
        let output = self.model.read(&trace.hidden, &batch, mode);
        let mut losses = Losses::new(&output, &targets);
        poisoned.losses(&mut losses);
        let values = losses.values();
        let diverged = |what| Diverged { step: step + 1, what, pairs: names(&self.train.pairs, pairs) };
        if let Some(what) = values.not_finite() {
            return Err(diverged(what.to_owned()));
        }
        let gradients = trace.gradients(&losses.total(&self.loss), &optimiser.variables());
        poisoned.gradients(&optimiser.parameters, &gradients);
        let norm = optimiser.step(&gradients, rate);
        if !norm.is_finite() {
            let parameter = optimiser.gradient_not_finite(&gradients);
            return Err(diverged(match parameter {
                Some(name) => format!("the gradient of {name}"),
                None => "the norm of the gradients".to_owned(),
            }));
        }
        Ok(Step { losses: values, counts: losses.counts, gradient_norm: norm })
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

    fn evaluate(&self, dev: &Corpus) -> DevRecord {
        let evaluation = match self.frozen.as_ref().and_then(|frozen| frozen.dev.as_ref()) {
            Some(vectors) => vectors.evaluate(self.model, dev, self.eval),
            None => evaluate(self.model, dev, self.eval, |_| ()),
        };
        let predictions = &evaluation.predictions;
        let tiers = |decode: Decode| TierCounts::of(&decode.apply(predictions));
        let trials = calibrate::try_states(predictions, self.decode);
        let states = calibrate::best(&trials).map_or(StateDecode::Argmax, |trial| trial.states);
        DevRecord {
            calibrated: TierCounts::of(&states.apply(&self.decode.apply(predictions))),
            losses: evaluation.losses,
            decode: self.decode,
            threshold: tiers(Decode::Threshold),
            pair: tiers(Decode::Pair),
            metric: self.config.metric_for_best_model,
        }
    }
}

fn names(pairs: &[Pair], indices: &[usize]) -> Vec<String> {
    indices.iter().map(|&i| pairs[i].id.clone()).collect()
}
