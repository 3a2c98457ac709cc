//! A training run that keeps nothing: what there is to be measured.

use super::material::{SourceCorpus, check_tokens, read_corpus, read_tokenizer, resolve_model};
use super::network::Network;
use super::{Compute, fit};
use crate::batch::Corpus;
use crate::config::Config;
use crate::error::Result;
use crate::eval::{EvalConfig, Evaluation, evaluate};
use crate::model::weights::NamedTensors;
use crate::model::{EncoderConfig, ModelConfig, TieredModel};
use crate::train::{Fit, Parameter, Part};
use std::path::PathBuf;

/// A model before its first step, and the pairs it would be trained on.
pub struct Trial {
    pub config: Config,
    pub model_config: ModelConfig,
    pub train: Corpus,
    parts: Vec<Part>,
    pub compute: Compute,
    pub encoder_folder: PathBuf,
    network: Network,
}

impl Trial {
    /// Reads and checks what the config names. With `random_encoder` the encoder is one of those sizes with random
    /// weights, and only the tokenizer of the config's encoder is used.
    ///
    /// # Errors
    /// Whatever is wrong with data, encoder or config.
    pub fn prepare(config: Config, random_encoder: Option<EncoderConfig>) -> Result<Self> {
        let compute = Compute::resolve(&config)?;
        let encoder_folder = config.encoder.folder()?;
        let (tokenizer, _) = read_tokenizer(&encoder_folder)?;
        let is_random = random_encoder.is_some();
        let encoder = match random_encoder {
            Some(encoder) => encoder,
            None => EncoderConfig::open(&encoder_folder.join("config.json"))?,
        };
        let read = |sources| read_corpus(sources, &config, None, &tokenizer, encoder.max_tokens());
        let SourceCorpus { corpus: train, parts, longest } = read(&config.data.train)?;
        let dev = config.data.dev.as_ref().map(read).transpose()?; // decides how long a story the model can read
        let longest = longest.max(dev.as_ref().map_or(0, |dev| dev.longest));
        let dev = dev.map(|dev| dev.corpus);
        check_tokens(&train, &encoder)?;
        let model_config = resolve_model(&config, encoder, longest, &train, dev.as_ref())?;
        let network = match is_random {
            true => Network::random(&config, &model_config, &train, compute.device)?,
            false => Network::pretrained(&config, &model_config, &encoder_folder, &train, compute.device)?,
        };
        Ok(Trial { config, model_config, train, parts, compute, encoder_folder, network })
    }

    /// The training run; its steps change the model.
    pub fn fit(&self) -> Fit<'_> {
        fit(&self.config, &self.network, &self.train, &self.parts, self.compute.eval(&self.model_config))
    }

    /// What is trained.
    pub fn parameters(&self) -> Vec<Parameter> {
        self.network.parameters(&self.config.train)
    }

    pub fn model(&self) -> &TieredModel {
        &self.network.model
    }

    /// All weights, under the names they are saved with.
    pub fn weights(&self) -> NamedTensors {
        self.network.weights()
    }

    /// Predicts every pair of a corpus, so many at a time; `progress` is told how many pairs each batch held.
    pub fn evaluate(&self, corpus: &Corpus, pairs_per_batch: usize, progress: impl FnMut(usize)) -> Evaluation {
        let config = EvalConfig { pairs_per_batch, ..self.compute.eval(&self.model_config) };
        evaluate(&self.network.model, corpus, config, progress)
    }
}
