//! The inputs of a run: encoder config, tokenizer and pairs, and the SHA-256 of each file.

use super::soft_labels::check_soft_labels;
use super::sources::{OpenedSources, PairSelection};
use super::stream::SourceStream;
use crate::batch::{Corpus, Reads};
use crate::checkpoint::Inputs;
use crate::config::{Config, Sources};
use crate::durable::{FileDigest, sha256};
use crate::error::{Error, Result};
use crate::model::config::{MAX_SENTENCES, reads};
use crate::model::kernels::cores;
use crate::model::{EncoderConfig, ModelConfig};
use crate::tokenizer::{InputTokenizer, tokenizer_json};
use crate::train::order::{cumulative_steps, pairs_of_epoch};
use crate::train::{MixtureComponent, Streamed, TrainPairs};
use std::path::Path;
use std::sync::Arc;

/// Pairs of an epoch. The order of an epoch is in memory.
const MAX_PAIRS: usize = 100_000_000;

/// The encoder's sizes, in its folder.
pub(super) const ENCODER_CONFIG: &str = "config.json";

/// The inputs, read and checked.
pub struct PreparedInputs {
    pub model_config: ModelConfig,
    pub train: TrainPairs,
    pub dev: Option<Corpus>,
    /// Which dev pairs belong to which source.
    pub dev_parts: Vec<MixtureComponent>,
    /// The bytes of the `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// [`OpenedSources::sha256`] of train, and of dev.
    sha256: (String, Option<String>),
    /// [`OpenedSources::soft_sha256`] of train.
    soft_sha256: String,
}

impl PreparedInputs {
    /// Reads the inputs. `encoder_folder` holds the encoder's `config.json` and its tokenizer ([`tokenizer_json`]).
    ///
    /// # Errors
    /// Errors of data, encoder or config.
    pub fn read(config: &Config, encoder_folder: &Path, limit: Option<usize>) -> Result<Self> {
        let encoder = EncoderConfig::open(&encoder_folder.join(ENCODER_CONFIG))?;
        Self::for_encoder(encoder, config, encoder_folder, limit)
    }

    /// The same for another encoder, of which the folder holds only the tokenizer.
    ///
    /// # Errors
    /// Errors of data, tokenizer or config.
    pub fn for_encoder(
        encoder: EncoderConfig,
        config: &Config,
        encoder_folder: &Path,
        limit: Option<usize>,
    ) -> Result<Self> {
        let (tokenizer, tokenizer_bytes) = read_tokenizer(encoder_folder)?;
        let selection = PairSelection { seed: config.seed, leave_out: config.data.leave_out, limit };
        let reader = InputReader { config, selection, encoder: &encoder, reads: reads_of(config) };
        let mut train = OpenedSources::open(&config.data.train, selection)?;
        let longest = train.longest;
        let corpus = reader.corpus(&mut train, &config.data.train, &tokenizer)?;
        check_soft_labels(config, &corpus)?;
        let dev = config.data.dev.as_ref().map(|sources| reader.dev(sources, &tokenizer)).transpose()?;
        // The longest story of dev counts for the model too.
        let longest = longest.max(dev.as_ref().map_or(0, |dev| dev.longest));
        let sha256 = (train.sha256.clone(), dev.as_ref().map(|dev| dev.sha256.clone()));
        let soft_sha256 = train.soft_sha256.clone();
        let (dev, dev_parts) = dev.map(|dev| (dev.corpus, dev.parts)).unzip();
        for corpus in std::iter::once(&corpus).chain(&dev) {
            let checked = check_tokens(corpus, &encoder).and_then(|()| corpus.check_padding(encoder.padding_id()));
            checked.map_err(|error| error.about(encoder_folder.display()))?;
        }
        let train = reader.train(train, corpus, tokenizer)?;
        require_steps(config, &train.parts)?;
        let model_config = resolve_model(config, encoder, longest, &train, dev.as_ref())?;
        let dev_parts = dev_parts.unwrap_or_default();
        Ok(PreparedInputs { model_config, train, dev, dev_parts, tokenizer: tokenizer_bytes, sha256, soft_sha256 })
    }

    /// The SHA-256 of each file that was read.
    ///
    /// # Errors
    /// `MissingInput`, `Io`.
    pub fn digests(&self, encoder_folder: &Path, limit: Option<usize>) -> Result<Inputs> {
        let (train, dev) = self.sha256.clone();
        Ok(Inputs {
            train,
            soft_labels: Some(self.soft_sha256.clone()).filter(|digests| !digests.is_empty()),
            dev,
            tokenizer: sha256(&self.tokenizer),
            encoder_config: FileDigest::of_file(&encoder_folder.join(ENCODER_CONFIG))?.sha256,
            initial_weights: None,
            limit,
            earlier: Vec::new(),
        })
    }
}

/// # Errors
/// `Config` if an epoch has no pairs, since it would have no loss either, or too many for its order to be in memory.
fn require_steps(config: &Config, parts: &[MixtureComponent]) -> Result<()> {
    // Elsewhere the number changes by one pair of a source at most.
    let begins = parts.iter().flat_map(|part| [part.epochs.start, part.epochs.end]);
    let pairs = |epoch: u64| pairs_of_epoch(parts, epoch);
    if let Some(epoch) = begins.filter(|epoch| *epoch <= config.train.epochs).find(|epoch| pairs(*epoch) > MAX_PAIRS) {
        return Err(Error::config(format!(
            "data.train: epoch {epoch} has {} pairs; at most {MAX_PAIRS} are allowed; lower weight",
            pairs(epoch)
        )));
    }
    let ends = cumulative_steps(parts, config.train.pairs_per_step, config.train.epochs);
    let steps = std::iter::once(0).chain(ends.iter().copied()).zip(&ends);
    match (1..).zip(steps).find(|(_, (start, end))| start == *end) {
        Some((epoch, _)) => Err(Error::config(format!(
            "data.train: epoch {epoch} has no pairs, since weight leaves less than one pair of any source for it; raise weight"
        ))),
        None => Ok(()),
    }
}

/// An encoder's tokenizer, and the bytes of the `tokenizer.json` that was read or built.
fn read_tokenizer(encoder_folder: &Path) -> Result<(InputTokenizer, Vec<u8>)> {
    let bytes = tokenizer_json(encoder_folder)?;
    let tokenizer = InputTokenizer::from_json(&bytes);
    let tokenizer = tokenizer.map_err(|error| error.about(encoder_folder.join("tokenizer.json").display()))?;
    Ok((tokenizer, bytes))
}

/// Refuses a corpus with tokens that the encoder does not know.
pub fn check_tokens(corpus: &Corpus, encoder: &EncoderConfig) -> Result<()> {
    corpus.check_tokens(encoder.vocab_size, encoder.token_types())
}

/// What the encoder of this config reads.
fn reads_of(config: &Config) -> Reads {
    reads(config.model.input_text, &config.model.detector, config.model.state_context)
}

/// What is needed to read the pairs of a config.
struct InputReader<'a> {
    config: &'a Config,
    selection: PairSelection,
    encoder: &'a EncoderConfig,
    reads: Reads,
}

/// The dev pairs, ready for a model.
struct DevPairs {
    corpus: Corpus,
    parts: Vec<MixtureComponent>,
    longest: usize,
    sha256: String,
}

impl InputReader<'_> {
    /// The pairs of some sources; of a stream the first ones.
    fn corpus(&self, opened: &mut OpenedSources, sources: &Sources, tokenizer: &InputTokenizer) -> Result<Corpus> {
        let pairs = opened.pairs(self.config.seed, sources.are_streamed())?;
        let corpus = Corpus::new(pairs, tokenizer, self.encoder.max_tokens(), self.reads);
        corpus.map_err(|error| error.about(sources.files()))
    }

    fn dev(&self, sources: &Sources, tokenizer: &InputTokenizer) -> Result<DevPairs> {
        let mut opened = OpenedSources::open(sources, self.selection)?;
        let corpus = self.corpus(&mut opened, sources, tokenizer)?;
        Ok(DevPairs { corpus, parts: opened.parts, longest: opened.longest, sha256: opened.sha256 })
    }

    /// The pairs to train on. `corpus` has those in memory.
    fn train(&self, opened: OpenedSources, corpus: Corpus, tokenizer: InputTokenizer) -> Result<TrainPairs> {
        let OpenedSources { stories, parts, .. } = opened;
        if !self.config.data.train.are_streamed() {
            return Ok(TrainPairs { corpus, parts, stream: None });
        }
        let (encoder, reads, seed) = (self.encoder.clone(), self.reads, self.config.seed);
        let stream = SourceStream { stories, parts: parts.clone(), tokenizer, encoder, reads, seed };
        stream.check_lengths().map_err(|error| error.about(self.config.data.train.files()))?;
        let stream = Streamed { pairs: Arc::new(stream), workers: self.config.data.workers(cores()) };
        Ok(TrainPairs { corpus, parts, stream: Some(stream) })
    }
}

/// The model of a config. It reads stories of `longest` sentences, unless the config sets another number.
fn resolve_model(
    config: &Config,
    encoder: EncoderConfig,
    longest: usize,
    train: &TrainPairs,
    dev: Option<&Corpus>,
) -> Result<ModelConfig> {
    let needed = match train.stream {
        Some(_) => longest,
        None => train.corpus.max_sentences().max(dev.map_or(0, Corpus::max_sentences)),
    };
    let max_sentences = config.model.max_sentences.unwrap_or(longest);
    if max_sentences < needed {
        return Err(Error::config(format!(
            "model.max_sentences = {max_sentences}, but the longest story has {needed} sentences"
        )));
    }
    if max_sentences > MAX_SENTENCES {
        let problem =
            format!("the longest story has {max_sentences} sentences, but a model reads at most {MAX_SENTENCES}");
        return Err(Error::config(format!("{problem}; leave it out")));
    }
    let detector = config.model.detector.clone();
    if detector.sentence_layers > 0 && encoder.hidden_size % detector.heads != 0 {
        return Err(Error::config(format!(
            "model.detector.heads = {}: with sentence_layers it must divide the encoder's hidden size {}",
            detector.heads, encoder.hidden_size
        )));
    }
    let dropout = config.model.dropout.unwrap_or(encoder.hidden_dropout_prob);
    Ok(ModelConfig {
        encoder,
        detector,
        input_text: config.model.input_text,
        state_context: config.model.state_context,
        max_sentences,
        no_conflict: config.loss.single_story > 0.,
        dropout,
    })
}
