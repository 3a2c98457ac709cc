//! Loads the model of a run folder, to predict with it.

use super::compute::Compute;
use super::folder::{CheckpointKind, RunFolder};
use super::inputs::check_tokens;
use crate::batch::Corpus;
use crate::calibrate::Calibrated;
use crate::config::Config;
use crate::data::Pair;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::eval::{Evaluation, evaluate};
use crate::machine::ComputeChoice;
use crate::metrics::tempered;
use crate::model::kernels::cores;
use crate::model::{DetectorKind, ModelConfig, Precision};
use crate::prediction::LabelledPair;
use crate::say::aside;
use crate::tokenizer::InputTokenizer;
use crate::train::{Network, Vectors};
use std::fs::File;
use std::path::Path;

/// A trained model with its tokenizer.
pub struct TrainedRun {
    /// The folder that it was loaded from.
    pub folder: RunFolder,
    /// The run's config, with the device and the precision that were asked for.
    pub config: Config,
    /// The device and the precision, resolved on this machine.
    pub compute: Compute,
    /// The precision of its training.
    own_precision: Precision,
    /// The calibration of these weights, if any.
    pub calibrated: Option<Calibrated>,
    pub(super) which: CheckpointKind,
    /// The epoch of the weights, and their file. Both were there before they were loaded: a run that trains meanwhile may
    /// have put newer ones in their place, and then what they predict counts as outdated.
    pub(super) epoch: Option<u64>,
    pub(super) weights: File,
    model_config: ModelConfig,
    tokenizer: InputTokenizer,
    network: Network,
}

/// What computes a run's predictions. They need no threads that are pinned as in a deterministic training, which another
/// machine may not allow.
fn resolved(config: &Config) -> Result<Compute> {
    let error = match Compute::resolve(config) {
        Err(error) if config.deterministic && error.kind == ErrorKind::Unavailable => error,
        resolved => return resolved,
    };
    let threads = config.threads.map(|threads| threads.min(cores() as u32));
    let compute = Compute::resolve(&Config { deterministic: false, threads, ..config.clone() })?;
    aside!("warning: {error}. Predictions are computed without it; the last digits may differ from run to run");
    Ok(compute)
}

impl TrainedRun {
    /// Opens a run. `choice` overrides the run's config.
    ///
    /// # Errors
    /// `MissingInput` if it is not a run folder or lacks these weights; `Config` if the weights don't fit, or if the
    /// calibration can't be read.
    pub fn open(path: &Path, which: CheckpointKind, choice: &ComputeChoice) -> Result<Self> {
        let run = TrainedRun::open_uncalibrated(path, which, choice)?;
        Ok(TrainedRun { calibrated: run.folder.calibrated(which)?, ..run })
    }

    /// Opens a run without its calibration, which is to be made anew.
    ///
    /// # Errors
    /// As [`TrainedRun::open`], but for the calibration.
    pub fn open_uncalibrated(path: &Path, which: CheckpointKind, choice: &ComputeChoice) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let weights = folder.required_weights(which)?;
        let mut config = Config::open(&folder.config_file(), &[])?;
        let ComputeChoice { device, precision } = choice.clone();
        config.device = device.unwrap_or(config.device);
        let own = config.precision;
        config.precision = precision.unwrap_or(own);
        let compute = resolved(&config)?;
        let own_precision = own.resolve(compute.device);
        let (model_config, epoch) = (folder.model_config()?, folder.epoch_of(which)?);
        let file = File::open(&weights).map_err(|error| Error::reading(&weights, &error))?;
        let (tokenizer, network) = both(
            || InputTokenizer::open(&folder.tokenizer_file()),
            || Network::trained(&model_config, &weights, compute.device),
        )?;
        let (tokenizer, network) = (tokenizer?, network?);
        Ok(TrainedRun {
            folder,
            config,
            compute,
            own_precision,
            calibrated: None,
            which,
            epoch,
            weights: file,
            model_config,
            tokenizer,
            network,
        })
    }

    /// The precision of the matmuls, if another than the run's own was asked for.
    pub fn other_precision(&self) -> Option<&'static str> {
        (self.compute.precision != self.own_precision).then(|| self.compute.precision.name())
    }

    /// # Errors
    /// `Unavailable` if the model can't judge a single story.
    pub fn require_single_story(&self) -> Result<()> {
        if self.model_config.detector.kind == DetectorKind::Paper || self.model_config.no_conflict {
            return Ok(());
        }
        let message = format!(
            "{}: its joint detector compares the two stories of a pair and can't judge a single story; use a run \
             trained with loss.single_story above 0, or with model.detector.kind = \"paper\"",
            self.folder.path().display()
        );
        Err(Error::new(ErrorKind::Unavailable, message))
    }

    /// The prediction as shown to a person: with the temperature chosen on dev, its conflict decoded, and its states
    /// predicted as requested or else as chosen on dev.
    pub fn decoded(&self, pair: LabelledPair, conflicts: Decode, states: Option<StateDecode>) -> LabelledPair {
        let calibrated = self.calibrated.as_ref();
        let states = states.or(calibrated.map(|calibrated| calibrated.states)).unwrap_or_default();
        let temperature = calibrated.map_or(1., |calibrated| calibrated.temperature);
        let mut pair = conflicts.apply_to(pair);
        pair.prediction.story_probs = tempered(pair.prediction.story_probs, temperature).map(|p| p as f32);
        states.apply_to(pair)
    }

    /// Predicts pairs. `progress` is called with the number of pairs of each batch.
    ///
    /// # Errors
    /// `Data` if a story has more sentences, or a sentence more tokens, than the model can read.
    pub fn evaluate(&self, pairs: Vec<Pair>, progress: impl FnMut(usize)) -> Result<Evaluation> {
        let corpus = self.corpus(pairs)?;
        self.compute.choose_algorithms();
        Ok(evaluate(&self.network.model, &corpus, self.compute.eval(&self.model_config), progress))
    }

    /// The pairs as the model reads them.
    ///
    /// # Errors
    /// As [`TrainedRun::evaluate`].
    pub fn corpus(&self, pairs: Vec<Pair>) -> Result<Corpus> {
        require_readable(&pairs, self.model_config.max_sentences)?;
        let config = &self.model_config;
        let corpus = Corpus::new(pairs, &self.tokenizer, config.encoder.max_tokens(), config.reads())?;
        check_tokens(&corpus, &config.encoder)?;
        Ok(corpus)
    }

    /// Evaluates from kept vectors of its untrained encoder.
    pub(super) fn evaluate_on(&self, corpus: &Corpus, vectors: &Vectors) -> Evaluation {
        vectors.evaluate(&self.network.model, corpus, self.compute.eval(&self.model_config))
    }
}

/// Does two things at the same time, the first on a thread of its own.
///
/// # Errors
/// `Unavailable` if the thread can't be started.
fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> Result<(A, B)> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, first).map_err(|error| {
            Error::new(
                ErrorKind::Unavailable,
                format!("a thread can't be started: {error}; free memory, or raise the limit of processes"),
            )
        })?;
        let second = second();
        Ok((thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), second))
    })
}

/// Whether a model that reads at most `max_sentences` sentences can read these pairs.
///
/// # Errors
/// `Data` if a story has more.
pub fn require_readable(pairs: &[Pair], max_sentences: usize) -> Result<()> {
    match pairs.iter().flat_map(|pair| &pair.stories).find(|story| story.sentences.len() > max_sentences) {
        Some(story) => Err(Error::data(format!(
            "story {}: has {length} sentences, but the model reads at most {max_sentences}; train with \
             model.max_sentences = {length}",
            story.id,
            length = story.sentences.len(),
        ))),
        None => Ok(()),
    }
}
