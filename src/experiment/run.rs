//! A run folder, loaded to predict.

use super::network::Network;
use super::{Compute, RunFolder, Which};
use crate::batch::{Corpus, InputTokenizer};
use crate::config::Config;
use crate::data::Pair;
use crate::error::{Error, Result};
use crate::eval::{Evaluation, evaluate};
use crate::machine::DeviceChoice;
use crate::model::ModelConfig;
use std::path::Path;

/// A trained model with its tokenizer.
pub struct TrainedRun {
    pub folder: RunFolder,
    pub config: Config,
    pub compute: Compute,
    model_config: ModelConfig,
    tokenizer: InputTokenizer,
    network: Network,
}

impl TrainedRun {
    /// `device` replaces that of the run's config.
    ///
    /// # Errors
    /// `MissingInput` if it is no run folder or has no such weights; `Config` if the weights don't fit.
    pub fn open(path: &Path, which: Which, device: Option<&DeviceChoice>) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let mut config = Config::open(&folder.config_file(), &[])?;
        if let Some(device) = device {
            config.device = device.clone();
        }
        let compute = Compute::resolve(&config)?;
        let model_config = folder.model_config()?;
        let tokenizer = InputTokenizer::open(&folder.tokenizer_file())?;
        let network = Network::trained(&model_config, &folder.weights_file(which), compute.device)?;
        Ok(TrainedRun { folder, config, compute, model_config, tokenizer, network })
    }

    /// Predicts pairs; `progress` is told how many pairs each batch held.
    ///
    /// # Errors
    /// `Data` if a story has more sentences, or a sentence more tokens, than the model can read.
    pub fn evaluate(&self, pairs: Vec<Pair>, progress: impl FnMut(usize)) -> Result<Evaluation> {
        let limit = self.model_config.max_sentences;
        let stories = pairs.iter().flat_map(|pair| &pair.stories);
        if let Some(story) = stories.into_iter().find(|story| story.sentences.len() > limit) {
            return Err(Error::data(format!(
                "story {}: has {length} sentences, and the model reads at most {limit}; train it with \
                 model.max_sentences = {length}",
                story.id,
                length = story.sentences.len(),
            )));
        }
        let config = &self.model_config;
        let corpus = Corpus::new(pairs, &self.tokenizer, config.encoder.max_tokens(), config.detector.reads_stories())?;
        corpus.check_vocabulary(config.encoder.vocab_size)?;
        Ok(evaluate(&self.network.model, &corpus, self.compute.eval(&self.model_config), progress))
    }
}
