//! The inputs of a run: encoder config, tokenizer and pairs, and the SHA-256 of each file.

use crate::batch::Corpus;
use crate::checkpoint::Inputs;
use crate::config::{Config, DataSource, Sources, expand};
use crate::data::{self, Fold, Pair};
use crate::durable::{FileDigest, sha256};
use crate::error::{Error, Result};
use crate::model::config::whole_stories;
use crate::model::{EncoderConfig, ModelConfig};
use crate::tokenizer::{InputTokenizer, tokenizer_json};
use crate::train::MixtureComponent;
use std::path::Path;

/// The encoder's sizes, in its folder.
const ENCODER_CONFIG: &str = "config.json";

/// The inputs, read and checked.
pub struct PreparedInputs {
    pub model_config: ModelConfig,
    pub train: Corpus,
    /// Which pairs are trained on in which epochs.
    pub parts: Vec<MixtureComponent>,
    pub dev: Option<Corpus>,
    /// Which dev pairs belong to which source.
    pub dev_parts: Vec<MixtureComponent>,
    /// The bytes of the `tokenizer.json`.
    pub tokenizer: Vec<u8>,
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
        let read = |sources| read_corpus(sources, config, limit, &tokenizer, encoder.max_tokens());
        let SourceCorpus { corpus: train, parts, longest } = read(&config.data.train)?;
        let dev = config.data.dev.as_ref().map(read).transpose()?; // its longest story counts for the model too
        let longest = longest.max(dev.as_ref().map_or(0, |dev| dev.longest));
        let (dev, dev_parts) = dev.map(|dev| (dev.corpus, dev.parts)).unzip();
        for corpus in std::iter::once(&train).chain(&dev) {
            check_tokens(corpus, &encoder).map_err(|error| error.about(encoder_folder.display()))?;
        }
        let model_config = resolve_model(config, encoder, longest, &train, dev.as_ref())?;
        let dev_parts = dev_parts.unwrap_or_default();
        Ok(PreparedInputs { model_config, train, parts, dev, dev_parts, tokenizer: tokenizer_bytes })
    }

    /// The SHA-256 of each file that was read.
    ///
    /// # Errors
    /// `MissingInput`, `Io`.
    pub fn digests(&self, config: &Config, encoder_folder: &Path, limit: Option<usize>) -> Result<Inputs> {
        let digest = |path: &Path| FileDigest::of_file(path).map(|digest| digest.sha256);
        let data = |Sources(sources): &Sources| {
            let digests: Result<Vec<String>> = sources.iter().map(|source| digest(&expand(&source.file)?)).collect();
            digests.map(|digests| digests.join(" "))
        };
        Ok(Inputs {
            train: data(&config.data.train)?,
            dev: config.data.dev.as_ref().map(data).transpose()?,
            tokenizer: sha256(&self.tokenizer),
            encoder_config: digest(&encoder_folder.join(ENCODER_CONFIG))?,
            limit,
        })
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

/// The pairs of some sources, ready for a model.
struct SourceCorpus {
    corpus: Corpus,
    parts: Vec<MixtureComponent>,
    longest: usize,
}

fn read_corpus(
    sources: &Sources,
    config: &Config,
    limit: Option<usize>,
    tokenizer: &InputTokenizer,
    max_tokens: usize,
) -> Result<SourceCorpus> {
    let SourcePairs { pairs, parts, longest } = read_pairs(sources, config.data.leave_out, config.seed, limit)?;
    let corpus =
        Corpus::new(pairs, tokenizer, max_tokens, whole_stories(&config.model.detector, config.model.state_context))
            .map_err(|error| error.about(sources.files()))?;
    Ok(SourceCorpus { corpus, parts, longest })
}

/// The pairs of some sources.
pub struct SourcePairs {
    pub pairs: Vec<Pair>,
    /// Which pairs belong to which source.
    pub parts: Vec<MixtureComponent>,
    /// The number of sentences of the longest story, including pairs that a limit leaves out. So a run on a few pairs
    /// can read the same stories as a run on all.
    pub longest: usize,
}

/// Reads the pairs of some sources. Groups of different sources stay separate.
pub fn read_pairs(
    Sources(sources): &Sources,
    leave_out: Option<Fold>,
    seed: u64,
    limit: Option<usize>,
) -> Result<SourcePairs> {
    let mut all: Vec<Pair> = Vec::new();
    let (mut parts, mut longest) = (Vec::new(), 0);
    for source in sources {
        let mut pairs = read_source(source, leave_out, seed)?;
        let stories = pairs.iter().flat_map(|pair| &pair.stories);
        longest = stories.map(|story| story.sentences.len()).fold(longest, usize::max);
        pairs.truncate(limit.unwrap_or(usize::MAX));
        if let Some(last) = all.iter().map(|pair| pair.group).max() {
            let first = pairs.iter().map(|pair| pair.group).min().unwrap_or(0);
            pairs.iter_mut().for_each(|pair| pair.group = last.saturating_add(1).saturating_add(pair.group - first));
        }
        parts.push(MixtureComponent {
            pairs: all.len()..all.len() + pairs.len(),
            weight: source.weight.unwrap_or(1.),
            epochs: source.first_epoch.unwrap_or(1)..source.last_epoch.map_or(u64::MAX, |last| last.saturating_add(1)),
        });
        all.extend(pairs);
    }
    Ok(SourcePairs { pairs: all, parts, longest })
}

fn read_source(source: &DataSource, leave_out: Option<Fold>, seed: u64) -> Result<Vec<Pair>> {
    let path = expand(&source.file)?;
    let file = data::read_file(&path)?;
    file.require_clean()?;
    let mut pairs = data::pairs(file.split(&source.split)?, seed);
    if let Some(kind) = source.kind {
        pairs = data::of_kind(pairs, kind);
    }
    pairs.truncate(source.pairs.unwrap_or(usize::MAX));
    pairs.retain(|pair| leave_out.is_none_or(|fold| !fold.contains(pair.group)));
    if let Some(pair) = pairs.iter().find(|pair| !pair.has_states()) {
        return Err(Error::data(format!(
            "{}: pair {} of split {:?} has no state labels, but training and calibration need them; label them, or \
             leave it out (`tiered eval` can use it without labels)",
            path.display(),
            pair.id,
            source.split
        )));
    }
    if pairs.is_empty() {
        let besides = leave_out.map_or(String::new(), |fold| format!(" besides fold {fold}"));
        return Err(Error::data(format!(
            "{}: split {:?} has no pairs of stories{besides}",
            path.display(),
            source.split
        )));
    }
    Ok(pairs)
}

/// The model of a config. It reads stories of `longest` sentences, unless the config sets another number.
fn resolve_model(
    config: &Config,
    encoder: EncoderConfig,
    longest: usize,
    train: &Corpus,
    dev: Option<&Corpus>,
) -> Result<ModelConfig> {
    let needed = train.max_sentences().max(dev.map_or(0, Corpus::max_sentences));
    let max_sentences = config.model.max_sentences.unwrap_or(longest);
    if max_sentences < needed {
        return Err(Error::config(format!(
            "model.max_sentences = {max_sentences}, but the longest story has {needed} sentences"
        )));
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
        state_context: config.model.state_context,
        max_sentences,
        no_conflict: config.loss.single_story > 0.,
        dropout,
    })
}
