//! What is trained and how: one step, and the evaluation on dev.

use super::config::TrainConfig;
use super::frozen::Vectors;
use super::observer::{Phase, StepObserver};
use super::optim::AdamW;
use super::order::MixtureComponent;
use super::progress::DevRecord;
use super::stream::Streamed;
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
    /// Training steps use the same layout, so that padding counts in the losses of both alike.
    pub eval: EvalConfig,
    /// The decoding with which the best epoch is chosen.
    pub decode: Decode,
    /// Of all random choices, with the step or epoch.
    pub seed: u64,
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

/// Why a step or an evaluation was not completed. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum Halt {
    /// A number is not finite.
    Diverged(#[from] Diverged),
    /// The step's pairs could not be made or read.
    Pairs(#[from] Error),
}

impl From<Halt> for Error {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Diverged(diverged) => diverged.into(),
            Halt::Pairs(error) => error,
        }
    }
}

impl From<Diverged> for Error {
    fn from(diverged: Diverged) -> Self {
        Error::new(ErrorKind::Diverged, diverged.to_string())
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

    /// The same training on other pairs: those of a step of a stream.
    pub fn on<'b>(&'b self, train: &'b Corpus) -> Fit<'b> {
        Fit { train, stream: None, frozen: None, ..*self }
    }

    /// Takes one step on the pairs with these indices. `step` counts from 0.
    ///
    /// # Errors
    /// [`Diverged`]; then the weights are those before the step.
    pub fn step(
        &self,
        optimiser: &mut AdamW,
        pairs: &[usize],
        step: u64,
        rate: f64,
        observer: &mut dyn StepObserver,
    ) -> Result<StepResult, Diverged> {
        let diverged = |what| Diverged { step: step + 1, what, pairs: names(&self.train.pairs, pairs) };
        let (batch, targets) = self.train.batch_of(pairs, &self.sample(pairs, step), self.eval.layout);
        let (batch, targets) = (batch.to_device(self.eval.device), targets.to_device(self.eval.device));
        observer.batch(step + 1, &batch, &optimiser.parameters);
        observer.ended(Phase::Data);

        let noise = DropoutRng::new(seed::key(self.seed, "dropout", step));
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
        let values = losses.values();
        if let Some(what) = values.not_finite() {
            return Err(diverged(what.to_owned()));
        }
        observer.ended(Phase::Losses);

        let variables = optimiser.variables();
        let (mut gradients, of_hidden) = trace.gradients_of_readers(&losses.total(&self.loss), &variables);
        observer.ended(Phase::HeadsBackward);
        trace.add_gradients_of_encoder(&of_hidden, &variables, &mut gradients);
        observer.gradients(&optimiser.parameters, &gradients);
        observer.ended(Phase::EncoderBackward);
        let gradient_norm = optimiser.step(&gradients, rate);
        observer.ended(Phase::Optimiser);
        if !gradient_norm.is_finite() {
            return Err(diverged(match optimiser.gradient_not_finite(&gradients) {
                Some(name) => format!("the gradient of {name}"),
                None => "the norm of the gradients".to_owned(),
            }));
        }
        Ok(StepResult { losses: values, counts: losses.counts, gradient_norm })
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

    /// Evaluates on dev, decoded in every way that counts for the choice of the best epoch.
    pub fn evaluate(&self, dev: &Corpus) -> DevRecord {
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
