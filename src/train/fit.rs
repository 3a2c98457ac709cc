//! The training loop.

use super::order;
use super::{AdamW, AdamWConfig, Parameter, Schedule};
use crate::batch::{Corpus, Layout};
use crate::data::Pair;
use crate::decode::Decode;
use crate::eval::{EvalConfig, evaluate};
use crate::loss::{LossConfig, LossMean, LossValues, Losses};
use crate::metrics::TierCounts;
use crate::model::{Mode, Noise, TieredModel};
use crate::seed;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How a model is trained; the defaults are the paper's (TRIP, section 4 and appendix B).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainConfig {
    pub epochs: u64,
    pub pairs_per_step: usize,
    pub learning_rate: f64,
    /// Rate of heads and detector; the encoder's where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_learning_rate: Option<f64>,
    pub schedule: Schedule,
    /// Share of all steps over which the rate rises.
    pub warmup: f64,
    pub adamw: AdamWConfig,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            epochs: 10,
            pairs_per_step: 1,
            learning_rate: 1e-5,
            head_learning_rate: None,
            schedule: Schedule::Constant,
            warmup: 0.,
            adamw: AdamWConfig::default(),
        }
    }
}

/// Everything a training run needs.
pub struct Fit<'a> {
    pub model: &'a TieredModel,
    pub parameters: Vec<Parameter>,
    pub train: &'a Corpus,
    pub dev: Option<&'a Corpus>,
    pub config: TrainConfig,
    pub loss: LossConfig,
    pub layout: Layout,
    pub eval: EvalConfig,
    /// The decoding by which the best epoch is chosen.
    pub decode: Decode,
    pub seed: u64,
}

/// What the loop tells as it goes.
pub enum Event<'a> {
    Step(&'a StepRecord),
    /// The weights are those after the epoch.
    Epoch(&'a EpochRecord),
}

/// One optimiser step.
#[derive(Debug, Clone, Serialize)]
pub struct StepRecord {
    /// From 1.
    pub epoch: u64,
    /// Over the whole run, from 1.
    pub step: u64,
    /// Of the whole run.
    pub steps: u64,
    pub losses: LossValues,
    pub gradient_norm: f64,
    pub learning_rate: f64,
    pub pairs: usize,
}

/// One line of `metrics.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// From 1.
    pub epoch: u64,
    pub step: u64,
    /// Averaged over the steps of the epoch, with dropout.
    pub train: LossValues,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev: Option<DevRecord>,
    pub train_seconds: f64,
    pub dev_seconds: f64,
}

/// How the dev pairs fare after an epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DevRecord {
    pub losses: LossValues,
    /// The decoding by which the best epoch is chosen.
    pub decode: Decode,
    pub threshold: TierCounts,
    pub pair: TierCounts,
}

impl DevRecord {
    /// By the decoding that counts.
    pub fn tiers(&self) -> &TierCounts {
        match self.decode {
            Decode::Threshold => &self.threshold,
            Decode::Pair => &self.pair,
        }
    }
}

impl EpochRecord {
    /// The epoch with the larger one is kept, on a tie the earlier: dev verifiability, then dev accuracy, by the
    /// detector's own decoding. Without dev pairs every epoch beats the ones before.
    pub fn rank(&self) -> (u64, u64) {
        match &self.dev {
            Some(dev) => (dev.tiers().verifiable, dev.tiers().accurate),
            None => (0, self.epoch),
        }
    }
}

/// What one step came to.
pub struct Step {
    pub losses: LossValues,
    /// How many items each loss is an average over.
    pub counts: LossValues,
    /// Before clipping.
    pub gradient_norm: f64,
}

/// A loss or gradient that is not finite; the weights are those before the step.
#[derive(Debug, thiserror::Error)]
#[error("step {step}: {what} is not finite (pairs {})", .pairs.join(", "))]
pub struct Diverged {
    pub step: u64,
    pub what: &'static str,
    pub pairs: Vec<String>,
}

impl Fit<'_> {
    /// Trains to the end.
    ///
    /// # Errors
    /// [`Diverged`], and whatever `on` returns.
    pub fn run<E: From<Diverged>>(self, mut on: impl FnMut(Event) -> Result<(), E>) -> Result<(), E> {
        let per_epoch = self.train.len().div_ceil(self.config.pairs_per_step) as u64;
        let steps = per_epoch * self.config.epochs;
        let (parameters, fit) = self.split();
        let mut optimiser = AdamW::new(parameters, fit.config.adamw);
        let mut step = 0;
        for epoch in 1..=fit.config.epochs {
            let started = Instant::now();
            let mut train = LossMean::default();
            for pairs in order::steps(&fit.train.pairs, fit.config.pairs_per_step, fit.seed, epoch) {
                let factor = fit.config.schedule.factor(step, steps, fit.config.warmup);
                let rate = fit.config.learning_rate * factor;
                let Step { losses, counts, gradient_norm } = fit.step(&mut optimiser, &pairs, step, rate)?;
                step += 1;
                train.add(losses, counts);
                let learning_rate = rate;
                let pairs = pairs.len();
                on(Event::Step(&StepRecord { epoch, step, steps, losses, gradient_norm, learning_rate, pairs }))?;
            }
            let train_seconds = started.elapsed().as_secs_f64();
            let started = Instant::now();
            let dev = fit.dev.map(|dev| fit.evaluate(dev));
            let dev_seconds = started.elapsed().as_secs_f64();
            if let Some(what) = dev.as_ref().and_then(|dev| dev.losses.not_finite()) {
                return Err(Diverged { step, what, pairs: vec!["of dev".to_owned()] }.into());
            }
            on(Event::Epoch(&EpochRecord { epoch, step, train: train.mean(), dev, train_seconds, dev_seconds }))?;
        }
        Ok(())
    }

    /// Takes the parameters out, since the optimiser owns them.
    fn split(mut self) -> (Vec<Parameter>, Self) {
        (std::mem::take(&mut self.parameters), self)
    }

    /// One step on these pairs, given by their index; `step` counts from 0.
    ///
    /// # Errors
    /// [`Diverged`]; the weights are then those before the step.
    pub fn step(&self, optimiser: &mut AdamW, pairs: &[usize], step: u64, rate: f64) -> Result<Step, Diverged> {
        let (batch, targets) = self.train.batch(pairs, self.layout);
        let (batch, targets) = (batch.to_device(self.eval.device), targets.to_device(self.eval.device));
        let noise = Noise::new(seed::key(self.seed, "dropout", step));
        let mode = Mode::train(&noise, self.eval.precision);
        let trace = self.model.encoder.trace(&batch.tokens, mode);
        let output = self.model.read(&trace.hidden, &batch, mode);
        let losses = Losses::new(&output, &targets);
        let values = losses.values();
        let ids = |what| Diverged { step: step + 1, what, pairs: names(&self.train.pairs, pairs) };
        if let Some(what) = values.not_finite() {
            return Err(ids(what));
        }
        let gradients = trace.gradients(&losses.total(&self.loss), &optimiser.variables());
        let norm = optimiser.step(&gradients, rate);
        if !norm.is_finite() {
            return Err(ids("the norm of the gradients"));
        }
        Ok(Step { losses: values, counts: losses.counts, gradient_norm: norm })
    }

    fn evaluate(&self, dev: &Corpus) -> DevRecord {
        let evaluation = evaluate(self.model, dev, self.eval, |_| ());
        let tiers = |decode: Decode| TierCounts::of(&decode.apply(&evaluation.predictions));
        DevRecord {
            losses: evaluation.losses,
            decode: self.decode,
            threshold: tiers(Decode::Threshold),
            pair: tiers(Decode::Pair),
        }
    }
}

fn names(pairs: &[Pair], indices: &[usize]) -> Vec<String> {
    indices.iter().map(|&i| pairs[i].id.clone()).collect()
}
