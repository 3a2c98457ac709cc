//! One config -> one run folder, and a run folder -> a model that predicts.

mod folder;
mod network;
mod run;
mod tuning;

pub use folder::{RunFolder, Which};
pub use run::TrainedRun;
pub use tuning::Tuning;

use crate::batch::{Corpus, InputTokenizer, Layout};
use crate::config::{Config, DataSource, expand};
use crate::data::{self, Pair};
use crate::decode::Decode;
use crate::error::{Error, ErrorKind, Result};
use crate::eval::EvalConfig;
use crate::loss::Normalization;
use crate::model::{DetectorKind, EncoderConfig, ModelConfig, Precision};
use crate::train::{Diverged, EpochRecord, Event, Fit};
use network::Network;
use std::path::{Path, PathBuf};
use tch::Device;

/// Pairs of an evaluation batch: enough for large products, little enough for any memory.
const EVAL_PAIRS: usize = 8;

/// A training run that has been checked and can start.
pub struct Experiment {
    pub config: Config,
    pub model_config: ModelConfig,
    pub train: Corpus,
    pub dev: Option<Corpus>,
    pub compute: Compute,
    encoder_folder: PathBuf,
    out: PathBuf,
    network: Network,
}

/// Where and in what to compute.
#[derive(Debug, Clone, Copy)]
pub struct Compute {
    pub device: Device,
    pub precision: Precision,
}

impl Compute {
    fn resolve(config: &Config) -> Result<Self> {
        if let Some(threads) = config.threads {
            tch::set_num_threads(threads as i32);
        }
        let device = config.device.resolve()?;
        Ok(Compute { device, precision: config.precision.resolve(device) })
    }

    fn eval(self, model: &ModelConfig) -> EvalConfig {
        let Compute { device, precision } = self;
        EvalConfig { device, precision, sentences: model.max_sentences, pairs_per_batch: EVAL_PAIRS }
    }
}

impl Experiment {
    /// Reads and checks everything a run needs; nothing is written.
    ///
    /// # Errors
    /// `CantCreate` if `out` exists; whatever is wrong with data, encoder or config.
    pub fn prepare(config: Config, out: &Path, limit: Option<usize>) -> Result<Self> {
        if out.exists() {
            let message = format!("{}: exists already; name another folder with --out, or remove it", out.display());
            return Err(Error::new(ErrorKind::CantCreate, message));
        }
        let compute = Compute::resolve(&config)?;
        let encoder_folder = expand(&config.encoder.path)?;
        let encoder = EncoderConfig::open(&encoder_folder.join("config.json"))?;
        let tokenizer = InputTokenizer::open(&encoder_folder.join("tokenizer.json"))?;
        let read = |source| read_training_pairs(source, &config, limit, &tokenizer, encoder.max_tokens());
        let train = read(&config.data.train)?;
        let dev = config.data.dev.as_ref().map(read).transpose()?;
        let model_config = resolve_model(&config, encoder, &train, dev.as_ref())?;
        let network = Network::pretrained(&config, &model_config, &encoder_folder, &train, compute.device)?;
        let out = out.to_owned();
        Ok(Experiment { config, model_config, train, dev, compute, encoder_folder, out, network })
    }

    /// Steps of the whole run.
    pub fn steps(&self) -> usize {
        self.train.len().div_ceil(self.config.train.pairs_per_step) * self.config.train.epochs as usize
    }

    /// Numbers that are trained.
    pub fn trained_parameters(&self) -> usize {
        self.network.parameters(&self.config.train).iter().map(|parameter| parameter.tensor.numel()).sum()
    }

    /// Tensors of the encoder's file that are no part of the encoder and were passed over.
    pub fn passed_over(&self) -> &[String] {
        &self.network.passed_over
    }

    /// Trains, keeping the weights of the best and of the last epoch; returns the record of the best.
    ///
    /// # Errors
    /// `Diverged` (the folder then holds the epochs before), `CantCreate`, `Io`.
    pub fn run(self, mut on: impl FnMut(&Event)) -> Result<Option<EpochRecord>> {
        let mut config = self.config.clone();
        config.model.max_sentences = Some(self.model_config.max_sentences);
        config.precision = self.compute.precision.into();
        let folder = RunFolder::create(&self.out, &config, &self.model_config, &self.encoder_folder)?;
        let mut best: Option<EpochRecord> = None;
        self.fit().run(|event| {
            if let Event::Epoch(record) = event {
                let is_best = best.as_ref().is_none_or(|best| record.rank() > best.rank());
                folder.save_epoch(record, &self.network.weights(), is_best)?;
                if is_best {
                    best = Some(record.clone());
                }
            }
            on(&event);
            Ok::<(), Error>(())
        })?;
        if let Some(dev) = &self.dev {
            let run = TrainedRun::open(&self.out, Which::Best, Some(&self.config.device))?;
            run.tune(dev.pairs.clone(), |_| ())?;
        }
        Ok(best)
    }

    fn fit(&self) -> Fit<'_> {
        let pad = |corpus: &Corpus| corpus.max_entities();
        let pad_to_entities = (self.config.loss.normalization == Normalization::Padded).then(|| pad(&self.train));
        Fit {
            model: &self.network.model,
            parameters: self.network.parameters(&self.config.train),
            train: &self.train,
            dev: self.dev.as_ref(),
            config: self.config.train,
            loss: self.config.loss,
            layout: Layout { sentences: self.model_config.max_sentences, pad_to_entities },
            eval: self.compute.eval(&self.model_config),
            decode: own_decode(&self.config),
            seed: self.config.seed,
        }
    }
}

/// The decoding of conflicts that the run's detector was made for: epochs and thresholds are chosen by it.
fn own_decode(config: &Config) -> Decode {
    match config.model.detector.kind {
        DetectorKind::Belief => Decode::Threshold,
        DetectorKind::Joint => Decode::Pair,
    }
}

impl From<Diverged> for Error {
    fn from(diverged: Diverged) -> Self {
        let remedy = "the weights of the last finished epoch are kept; try a lower train.learning_rate";
        Error::new(ErrorKind::Diverged, format!("{diverged}; {remedy}"))
    }
}

fn read_training_pairs(
    source: &DataSource,
    config: &Config,
    limit: Option<usize>,
    tokenizer: &InputTokenizer,
    max_tokens: usize,
) -> Result<Corpus> {
    let pairs = read_pairs(source, config.seed, limit)?;
    Corpus::new(pairs, tokenizer, max_tokens, config.model.detector.reads_stories())
        .map_err(|error| error.about(source.file.display()))
}

fn read_pairs(source: &DataSource, seed: u64, limit: Option<usize>) -> Result<Vec<Pair>> {
    let path = expand(&source.file)?;
    let file = data::read_file(&path)?;
    file.require_clean()?;
    let mut pairs = data::pairs(file.partition(&source.split)?, seed);
    if let Some(kind) = source.kind {
        pairs = data::of_kind(pairs, kind);
    }
    pairs.truncate(limit.unwrap_or(usize::MAX));
    if pairs.is_empty() {
        return Err(Error::data(format!("{}: partition {:?} has no pairs of stories", path.display(), source.split)));
    }
    Ok(pairs)
}

fn resolve_model(config: &Config, encoder: EncoderConfig, train: &Corpus, dev: Option<&Corpus>) -> Result<ModelConfig> {
    let longest = train.max_sentences().max(dev.map_or(0, Corpus::max_sentences));
    let max_sentences = config.model.max_sentences.unwrap_or(longest);
    if max_sentences < longest {
        return Err(Error::config(format!(
            "model.max_sentences = {max_sentences}, but the longest story has {longest} sentences"
        )));
    }
    let detector = config.model.detector.clone();
    if detector.sentence_layers > 0 && encoder.hidden_size % detector.heads != 0 {
        return Err(Error::config(format!(
            "model.detector.heads = {}, but with sentence_layers they share the encoder's {} values; take a divisor",
            detector.heads, encoder.hidden_size
        )));
    }
    let dropout = config.model.dropout.unwrap_or(encoder.hidden_dropout_prob);
    Ok(ModelConfig { encoder, detector, max_sentences, no_conflict: config.loss.alone > 0., dropout })
}
