//! A run folder, loaded to predict.

use super::material::check_tokens;
use super::network::Network;
use super::{Compute, RunFolder, Which};
use crate::batch::{Corpus, InputTokenizer};
use crate::config::Config;
use crate::data::Pair;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::eval::{Evaluation, evaluate};
use crate::machine::DeviceChoice;
use crate::metrics::tempered;
use crate::model::{DetectorKind, ModelConfig};
use crate::prediction::PairPrediction;
use crate::train::Vectors;
use crate::tune::Tuned;
use std::path::Path;

/// A trained model with its tokenizer.
pub struct TrainedRun {
    pub folder: RunFolder,
    pub config: Config,
    pub compute: Compute,
    /// What was chosen on dev for these weights, if anything.
    pub tuned: Option<Tuned>,
    pub(super) which: Which,
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
        let tuned = folder.tuned(which)?;
        Ok(TrainedRun { folder, config, compute, tuned, which, model_config, tokenizer, network })
    }

    /// # Errors
    /// `Unavailable` if the model can't judge a story alone.
    pub fn require_alone(&self) -> Result<()> {
        if self.model_config.detector.kind == DetectorKind::Belief || self.model_config.no_conflict {
            return Ok(());
        }
        let message = format!(
            "{}: its joint detector knows that one of two stories has a conflict, and can't judge one alone; use a run \
             trained with loss.alone above 0, or with model.detector.kind = \"belief\"",
            self.folder.path().display()
        );
        Err(Error::new(ErrorKind::Unavailable, message))
    }

    /// The prediction as it is told to a person: its probabilities with the temperature that was fitted on dev, its
    /// conflict decoded, its states asserted in the way asked for, else in that chosen on dev.
    pub fn decoded(
        &self,
        prediction: PairPrediction,
        conflicts: Decode,
        states: Option<StateDecode>,
    ) -> PairPrediction {
        let tuned = self.tuned.as_ref();
        let states = states.or(tuned.map(|tuned| tuned.states)).unwrap_or_default();
        let story_probs = tempered(prediction.story_probs, tuned.map_or(1., |tuned| tuned.temperature));
        let conflict = conflicts.conflict(&prediction);
        states.apply_to(PairPrediction { conflict, story_probs: story_probs.map(|p| p as f32), ..prediction })
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
        let corpus = Corpus::new(pairs, &self.tokenizer, config.encoder.max_tokens(), config.whole_stories())?;
        check_tokens(&corpus, &config.encoder)?;
        Ok(evaluate(&self.network.model, &corpus, self.compute.eval(&self.model_config), progress))
    }

    /// The same by what its encoder, which was not trained, has said about a corpus.
    pub(super) fn evaluate_on(&self, corpus: &Corpus, vectors: &Vectors) -> Evaluation {
        vectors.evaluate(&self.network.model, corpus, self.compute.eval(&self.model_config))
    }
}
