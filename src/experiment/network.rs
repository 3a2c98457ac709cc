//! The model with its variables: their initial values, and which of them are trained.

use super::folder::{CheckpointKind, RunFolder};
use crate::batch::Corpus;
use crate::config::{Config, Freeze, OutputBias, expand};
use crate::error::{Error, Result};
use crate::model::weights::{NamedTensors, WeightsFile};
use crate::model::{ModelConfig, PretrainedWeights, TieredModel, weights};
use crate::train::{Parameter, TrainConfig};
use std::path::Path;
use tch::{Device, Tensor, nn};

pub use crate::model::pretrained::WEIGHTS;

/// A model and its variables.
pub struct Network {
    pub model: TieredModel,
    pub skipped: Vec<String>,
    store: nn::VarStore,
}

impl Network {
    /// An untrained model on a pretrained encoder.
    pub fn pretrained(
        config: &Config,
        model_config: &ModelConfig,
        encoder_folder: &Path,
        train: &Corpus,
        device: Device,
    ) -> Result<Self> {
        let encoder = &model_config.encoder;
        let pretrained = PretrainedWeights::open(encoder_folder)?;
        pretrained.require_numbers(encoder.least_parameters())?;
        let load = |store: &nn::VarStore| pretrained.load(store, encoder);
        Self::starting(config, model_config, train, device, load)
    }

    /// An untrained model on an untrained encoder.
    pub fn random(config: &Config, model_config: &ModelConfig, train: &Corpus, device: Device) -> Result<Self> {
        Self::starting(config, model_config, train, device, |store| {
            // Only the word table is created without values: it is never trained as a whole.
            let word_table = |name: &str| name.ends_with("word_embeddings.weight");
            let tables = store.variables().into_iter().filter(|(name, _)| word_table(name));
            tch::no_grad(|| tables.for_each(|(_, mut table)| drop(table.normal_(0., 0.02))));
            Ok(Vec::new())
        })
    }

    /// `fill` sets the encoder's weights and returns the tensors that it skipped.
    fn starting(
        config: &Config,
        model_config: &ModelConfig,
        train: &Corpus,
        device: Device,
        fill: impl FnOnce(&nn::VarStore) -> Result<Vec<String>>,
    ) -> Result<Self> {
        check_freeze(&config.encoder.freeze, model_config)?;
        tch::manual_seed(crate::seed::key(config.seed, "initial weights", 0) as i64);
        let store = nn::VarStore::new(device);
        let model = TieredModel::new(&store.root(), model_config);
        let skipped = fill(&store)?;
        if config.model.output_bias == OutputBias::Frequency {
            model.set_output_bias(&train.class_frequencies());
        }
        if let Some(run) = &config.init_from {
            let weights = RunFolder::open(&expand(run)?)?.weights_file(CheckpointKind::Best);
            weights::load(&store, &weights).map_err(|error| error.about("init_from"))?;
        }
        let network = Network { model, skipped, store };
        network.choose_trained(&config.encoder.freeze, train);
        Ok(network)
    }

    /// The model of a checkpoint, to continue training.
    pub fn resumed(
        config: &Config,
        model_config: &ModelConfig,
        file: &Path,
        train: &Corpus,
        device: Device,
    ) -> Result<Self> {
        let network = Self::trained(model_config, file, device)?;
        network.choose_trained(&config.encoder.freeze, train);
        Ok(network)
    }

    /// A trained model.
    pub fn trained(model_config: &ModelConfig, file: &Path, device: Device) -> Result<Self> {
        WeightsFile::open(file)?.require_numbers(model_config.least_parameters())?;
        let store = nn::VarStore::new(device);
        let model = TieredModel::new(&store.root(), model_config);
        weights::load(&store, file)?;
        Ok(Network { model, skipped: Vec::new(), store })
    }

    /// All weights, with the names under which they are saved.
    pub fn weights(&self) -> NamedTensors {
        self.model.encoder.embeddings.merge_trained_rows();
        weights::named(&self.store)
    }

    /// The size of the saved weights, in bytes.
    pub fn saved_bytes(&self) -> u64 {
        weights::named(&self.store).values().map(|tensor| 4 * tensor.numel() as u64).sum()
    }

    /// How many numbers are trained.
    pub fn trained_numbers(&self) -> usize {
        self.store.variables().values().filter(|tensor| tensor.requires_grad()).map(Tensor::numel).sum()
    }

    /// The trained parameters in the order of their names, each with learning rate and weight decay.
    pub fn parameters(&self, config: &TrainConfig) -> Vec<Parameter> {
        let variables: NamedTensors = self.store.variables().into_iter().collect();
        let head_scale = config.head_learning_rate.map_or(1., |rate| rate / config.learning_rate);
        let trained = variables.iter().filter(|(_, tensor)| tensor.requires_grad());
        trained
            .map(|(name, tensor)| {
                let scale = if name.starts_with(self.encoder_prefix()) { 1. } else { head_scale };
                Parameter::new(name, tensor, scale, tensor.dim() > 1 && !name.contains("embeddings."))
            })
            .collect()
    }

    /// Freezes parts. If the embeddings are not frozen, trains those of their rows that occur in training.
    fn choose_trained(&self, freeze: &[Freeze], train: &Corpus) {
        self.freeze(freeze);
        if !freeze.iter().any(|part| matches!(part, Freeze::Embeddings | Freeze::Encoder)) {
            let embeddings = self.store.root() / self.encoder_prefix() / "embeddings";
            self.model.encoder.embeddings.train_rows(&embeddings, &train.token_ids());
        }
    }

    /// The encoder's weights.
    pub fn encoder_weights(&self) -> NamedTensors {
        let mut weights = weights::named(&self.store);
        weights.retain(|name, _| name.starts_with(self.encoder_prefix()));
        weights
    }

    /// Whether no step changes the encoder.
    pub fn encoder_is_frozen(&self) -> bool {
        let mut variables = self.store.variables().into_iter();
        !variables.any(|(name, tensor)| name.starts_with(self.encoder_prefix()) && tensor.requires_grad())
    }

    fn encoder_prefix(&self) -> &'static str {
        self.model.encoder.config.prefix()
    }

    fn freeze(&self, parts: &[Freeze]) {
        let encoder = self.encoder_prefix();
        let prefixes = parts.iter().flat_map(|part| match part {
            Freeze::Embeddings => vec![format!("{encoder}.embeddings.")],
            Freeze::Layers(k) => (0..*k).map(|layer| format!("{encoder}.encoder.layer.{layer}.")).collect(),
            Freeze::Encoder => vec![format!("{encoder}.")],
        });
        let prefixes: Vec<String> = prefixes.collect();
        for (name, tensor) in self.store.variables() {
            if prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                let _ = tensor.set_requires_grad(false);
            }
        }
    }
}

fn check_freeze(parts: &[Freeze], model: &ModelConfig) -> Result<()> {
    let layers = model.encoder.num_hidden_layers;
    match parts.iter().find(|part| matches!(part, Freeze::Layers(k) if i64::from(*k) > layers)) {
        Some(part) => {
            let part = String::from(*part);
            Err(Error::config(format!("encoder.freeze: \"{part}\" is too many; the encoder has {layers} layers")))
        }
        None => Ok(()),
    }
}
