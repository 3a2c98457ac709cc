//! A training run that saves nothing, for measurements.

use super::compute::Compute;
use super::fit::fit;
use super::inputs::PreparedInputs;
use super::start;
use crate::batch::Corpus;
use crate::config::Config;
use crate::error::Result;
use crate::eval::{EvalConfig, Evaluation, evaluate};
use crate::model::detector::of_config;
use crate::model::weights::NamedTensors;
use crate::model::{EncoderConfig, ModelConfig, NewDetector, TieredModel};
use crate::train::{Fit, Network, Parameter, TrainPairs};
use std::path::PathBuf;

/// A model before its first step, and its training pairs.
pub struct Trial {
    /// As it was given.
    pub config: Config,
    /// The shapes that follow from config, encoder and pairs.
    pub model_config: ModelConfig,
    /// The pairs of all train sources.
    pub train: TrainPairs,
    /// The device and the precision, resolved on this machine.
    pub compute: Compute,
    /// The config's encoder; only its tokenizer is used if the encoder is random.
    pub encoder_folder: PathBuf,
    /// Whether the encoder has random weights.
    pub is_random_encoder: bool,
    network: Network,
}

impl Trial {
    /// Reads and checks the config's files. With `random_encoder`, the encoder has that size and random weights; only
    /// the tokenizer of the config's encoder is used.
    ///
    /// # Errors
    /// Errors of data, encoder or config.
    pub fn prepare(config: Config, random_encoder: Option<EncoderConfig>) -> Result<Self> {
        Self::with_detector(config, random_encoder, &of_config)
    }

    /// The same with another conflict detector than the config's.
    ///
    /// # Errors
    /// Like [`Trial::prepare`].
    pub fn with_detector(config: Config, random_encoder: Option<EncoderConfig>, detector: NewDetector) -> Result<Self> {
        let compute = Compute::resolve(&config)?;
        let is_random_encoder = random_encoder.is_some();
        let encoder = &config.encoder;
        let encoder_folder = if is_random_encoder { encoder.folder()? } else { encoder.folder_with_config()? };
        let inputs = match random_encoder {
            Some(encoder) => PreparedInputs::for_encoder(encoder, &config, &encoder_folder, None)?,
            None => PreparedInputs::read(&config, &encoder_folder, None)?,
        };
        let PreparedInputs { model_config, train, .. } = inputs;
        let network = match is_random_encoder {
            true => start::random(&config, &model_config, &train, compute.device, detector)?,
            false => start::pretrained(&config, &model_config, &encoder_folder, &train, compute.device, detector)?,
        };
        Ok(Trial { config, model_config, train, compute, encoder_folder, is_random_encoder, network })
    }

    /// The training run. Its steps change the model.
    pub fn fit(&self) -> Fit<'_> {
        let eval = self.compute.eval(&self.model_config);
        fit(&self.config, &self.model_config, &self.network, &self.train, None, eval)
    }

    /// The trained parameters.
    pub fn parameters(&self) -> Vec<Parameter> {
        self.network.parameters(&self.config.train)
    }

    /// With its present weights, which the steps of [`Trial::fit`] change.
    pub fn model(&self) -> &TieredModel {
        &self.network.model
    }

    /// All weights, with the names under which they are saved.
    pub fn weights(&self) -> NamedTensors {
        self.network.weights()
    }

    /// Predicts every pair of a corpus in batches. `progress` is called with the number of pairs of each batch.
    pub fn evaluate(&self, corpus: &Corpus, pairs_per_batch: usize, progress: impl FnMut(usize)) -> Evaluation {
        let config = EvalConfig { pairs_per_batch, ..self.compute.eval(&self.model_config) };
        evaluate(&self.network.model, corpus, config, progress)
    }
}
