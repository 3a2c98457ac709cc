//! The training loop: which step comes next, and what follows from the last one.

use super::ahead::Ahead;
use super::feed::{Feed, MadeStep, StepPlan};
use super::fit::{Encoded, Fit, Frozen, Halt, StepResult};
use super::observer::{StepObserver, Unobserved};
use super::optim::AdamW;
use super::order;
use super::parameter::Parameter;
use super::progress::{EpochRecord, Progress};
use super::stream::Streamed;
use crate::loss::LossValues;
use serde::Serialize;
use std::time::Instant;

/// What has just been completed.
#[derive(Debug)]
pub enum TrainEvent {
    /// A frozen encoder encoded more inputs, before the first step.
    Encoded {
        /// Those encoded so far, of training and dev.
        inputs: usize,
        /// All of them.
        of: usize,
    },
    /// An optimiser step was taken.
    Step(StepRecord),
    /// The weights are those after the epoch.
    Epoch {
        /// The scores of the epoch.
        record: EpochRecord,
        /// Whether the epoch replaces the best one so far.
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
    /// Each loss of the step's pairs, unweighted.
    pub losses: LossValues,
    /// The norm of all gradients together, before clipping.
    pub gradient_norm: f64,
    /// The encoder's in this step; that of the heads may be a multiple of it.
    pub learning_rate: f64,
    /// How many pairs the step read.
    pub pairs: usize,
}

/// A training run between two steps.
pub struct Training<'a> {
    fit: Fit<'a>,
    /// The trained parameters with their moments.
    pub optimiser: AdamW,
    /// How far the run is, and the scores of its epochs.
    pub progress: Progress,
    /// The number of steps of the run at the end of each epoch.
    ends: Vec<u64>,
    /// The steps of an epoch, each a list of pairs.
    order: Option<(u64, Vec<Vec<usize>>)>,
    /// The pairs of the next steps, if they are not all in memory.
    feed: Option<Feed>,
    /// The batch of the next step, on a GPU.
    ahead: Ahead,
    observer: Box<dyn StepObserver>,
}

impl<'a> Training<'a> {
    /// A run at its first step. `optimiser` and `progress` can then be set to those of another run of the same kind.
    pub fn new(fit: Fit<'a>, parameters: Vec<Parameter>) -> Self {
        let optimiser = AdamW::new(parameters, fit.config.adamw);
        let ends = order::cumulative_steps(fit.parts, fit.config.pairs_per_step, fit.config.epochs);
        let (progress, observer) = (Progress::default(), Box::new(Unobserved));
        Training { fit, optimiser, progress, ends, order: None, feed: None, ahead: Ahead::default(), observer }
    }

    /// Sets who watches the steps.
    pub fn observe(&mut self, observer: Box<dyn StepObserver>) {
        self.observer = observer;
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

    /// Whether nothing is left to do, or no better epoch came for too long.
    pub fn is_over(&self) -> bool {
        let steps_are_taken = self.progress.step >= self.steps() && !self.evaluation_is_due();
        steps_are_taken || self.fit.config.patience.is_some_and(|patience| self.progress.since_best() >= patience)
    }

    /// Takes the next step, or evaluates after the last step of an epoch; `None` at the end.
    ///
    /// # Errors
    /// [`Halt`]; then nothing has changed.
    pub fn advance(&mut self) -> Result<Option<TrainEvent>, Halt> {
        if self.is_over() {
            return Ok(None);
        }
        if let Some(Encoded { inputs, of }) = self.fit.encode() {
            self.fit.ranks.agree_to_stop()?;
            return Ok(Some(TrainEvent::Encoded { inputs, of }));
        }
        if self.evaluation_is_due() {
            return self.finish_epoch().map(Some);
        }
        self.take_step().map(|record| Some(TrainEvent::Step(record)))
    }

    fn take_step(&mut self) -> Result<StepRecord, Halt> {
        let started = Instant::now();
        let Progress { step, .. } = self.progress;
        let (steps, config) = (self.steps(), self.fit.config);
        let (epoch, _) = order::place(&self.ends, step);
        let learning_rate = config.learning_rate * config.schedule.factor(step, steps, config.warmup);
        let (pairs, taken) = match self.made()? {
            Some(made) => (made.corpus.len(), self.step_on(made, step, learning_rate)),
            None => {
                let pairs = self.pairs(step);
                (pairs.len(), self.step_in_memory(&pairs, step, learning_rate))
            }
        };
        let StepResult { losses, counts, gradient_norm } = taken?;
        self.progress.step += 1;
        self.progress.losses.add(losses, counts);
        self.progress.train_seconds += started.elapsed().as_secs_f64();
        Ok(StepRecord { epoch, step: step + 1, steps, losses, gradient_norm, learning_rate, pairs })
    }

    /// Takes the next step on pairs that were made for it.
    fn step_on(&mut self, MadeStep { corpus, batch }: MadeStep, step: u64, rate: f64) -> Result<StepResult, Halt> {
        let (fit, pairs) = (self.fit.on(&corpus), corpus.every_pair());
        let taken = fit.step(batch, &mut self.optimiser, &pairs, step, rate, self.observer.as_mut());
        if taken.is_err() {
            self.feed = None; // its next pairs would be those of the next step
        }
        taken
    }

    /// Takes the next step on pairs that are in memory; on a GPU, makes the batch of the one after it meanwhile.
    fn step_in_memory(&mut self, pairs: &[usize], step: u64, rate: f64) -> Result<StepResult, Halt> {
        let (train, next) = (self.fit.train, step + 1);
        let make = self.fit.batches_ahead().filter(|_| next < self.steps()).map(|batches| {
            let pairs = self.pairs(next);
            (next, move || batches.of(train, &pairs, next))
        });
        let Training { fit, optimiser, observer, ahead, .. } = self;
        let ready = ahead.take(step);
        ahead.during(make, || fit.step(ready, optimiser, pairs, step, rate, observer.as_mut()))
    }

    /// What the next step reads, if its pairs are not in memory.
    fn made(&mut self) -> Result<Option<MadeStep>, Halt> {
        let Fit { parts, config, seed, .. } = self.fit;
        let Some(Streamed { pairs, workers }) = &self.fit.stream else { return Ok(None) };
        if self.feed.is_none() {
            let (pairs, parts, ends) = (pairs.clone(), parts.to_vec(), self.ends.clone());
            let batches = self.fit.batches_ahead();
            let plan = StepPlan { pairs, parts, ends, pairs_per_step: config.pairs_per_step, seed, batches };
            self.feed = Some(Feed::start(plan, self.progress.step, *workers)?);
        }
        let made = self.feed.as_mut().map(Feed::take).transpose();
        if made.is_err() {
            self.feed = None;
        }
        Ok(made?)
    }

    /// The pairs of a step.
    fn pairs(&mut self, step: u64) -> Vec<usize> {
        let (epoch, number) = order::place(&self.ends, step);
        let Fit { train, parts, config, seed, .. } = &self.fit;
        let (_, order) = match self.order.take() {
            Some(order) if order.0 == epoch => self.order.insert(order),
            _ => self.order.insert((
                epoch,
                order::steps(&|pair| train.pairs[pair].group, parts, config.pairs_per_step, *seed, epoch),
            )),
        };
        order[number].clone()
    }

    fn finish_epoch(&mut self) -> Result<TrainEvent, Halt> {
        let started = Instant::now();
        let Progress { step, losses, train_seconds, .. } = self.progress;
        let dev = self.fit.dev.map(|dev| self.fit.evaluate(dev, step)).transpose()?;
        self.fit.ranks.agree_to_stop()?;
        let dev_seconds = started.elapsed().as_secs_f64();
        let epoch = self.progress.epochs.len() as u64 + 1;
        let record = EpochRecord {
            epoch,
            step,
            train: losses.mean(),
            dev,
            train_seconds,
            dev_seconds,
            is_lost: false,
            has_other_dev: false,
        };
        let is_best = self.progress.finish_epoch(record.clone());
        Ok(TrainEvent::Epoch { record, is_best })
    }
}
