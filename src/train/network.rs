//! The model with its variables: their initial values, and which of them are trained.

use super::config::TrainConfig;
use super::parameter::Parameter;
use crate::error::Result;
use crate::model::detector::of_config;
use crate::model::encoder::WORD_TABLE;
use crate::model::encoder::relative_bias::RELATIVE_BIAS;
use crate::model::weights::{NamedTensors, WeightsFile};
use crate::model::{ModelConfig, NewDetector, PretrainedWeights, TieredModel, weights};
use std::path::Path;
use tch::{Device, Tensor, nn};

/// A model and its variables.
pub struct Network {
    /// Its tensors are the variables, so that loading and training change it.
    pub model: TieredModel,
    /// Tensors in the encoder's file that are not part of the encoder.
    pub skipped: Vec<String>,
    store: nn::VarStore,
}

impl Network {
    /// A model with initial weights, drawn from libtorch's generator; those of the encoder are not set. It is on the CPU,
    /// whose generator draws the same everywhere.
    pub fn new(config: &ModelConfig) -> Self {
        Self::with_detector(config, &of_config)
    }

    /// The same with another conflict detector.
    pub fn with_detector(config: &ModelConfig, detector: NewDetector) -> Self {
        let store = nn::VarStore::new(Device::Cpu);
        let model = TieredModel::with_detector(&store.root(), config, detector);
        Network { model, skipped: Vec::new(), store }
    }

    /// A trained model, to predict with. Its word table stays in the file.
    pub fn trained(config: &ModelConfig, file: &Path, device: Device) -> Result<Self> {
        Self::from_file(config, file, device, weights::load_to_predict)
    }

    /// A trained model, to train on. It does not need the file any more: that of a checkpoint is removed some time, and
    /// NFS can't remove the folder of a file that is in use.
    pub fn to_train_on(config: &ModelConfig, file: &Path, device: Device) -> Result<Self> {
        Self::from_file(config, file, device, weights::load)
    }

    fn from_file(
        config: &ModelConfig,
        file: &Path,
        device: Device,
        load: fn(&nn::VarStore, &Path) -> Result<()>,
    ) -> Result<Self> {
        WeightsFile::open(file)?.require_numbers(config.least_parameters())?;
        let mut network = Self::new(config);
        load(&network.store, file)?;
        network.move_to(device);
        Ok(network)
    }

    /// Moves all variables to a device. Call this before [`Network::train_rows`] and [`Network::parameters`].
    pub fn move_to(&mut self, device: Device) {
        if device != self.store.device() {
            self.store.set_device(device);
        }
    }

    /// Sets all weights to those of a file.
    pub fn load(&self, file: &Path) -> Result<()> {
        weights::load(&self.store, file)
    }

    /// Sets the encoder's weights to pretrained ones.
    pub fn load_encoder(&mut self, pretrained: PretrainedWeights) -> Result<()> {
        self.skipped = pretrained.load(&self.store, &self.model.encoder.config)?;
        Ok(())
    }

    /// Draws the word embeddings of an encoder without pretrained weights. Only this table is created without values:
    /// it is never trained as a whole.
    pub fn draw_word_embeddings(&self) {
        let tables = self.store.variables().into_iter().filter(|(name, _)| name.ends_with(WORD_TABLE));
        tch::no_grad(|| tables.for_each(|(_, mut table)| drop(table.normal_(0., 0.02))));
    }

    /// Trains no variable whose name begins with one of these.
    pub fn freeze(&self, prefixes: &[String]) {
        for (name, tensor) in self.store.variables() {
            if prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                let _ = tensor.set_requires_grad(false);
            }
        }
    }

    /// Trains those rows of the word embeddings that belong to these token ids.
    pub fn train_rows(&self, ids: &[i64]) {
        let embeddings = self.store.root() / self.encoder_prefix() / "embeddings";
        self.model.encoder.embeddings.train_rows(&embeddings, ids);
    }

    /// All weights, with the names under which they are saved.
    pub fn weights(&self) -> NamedTensors {
        self.model.encoder.embeddings.merge_trained_rows();
        weights::named(&self.store)
    }

    /// All variables, trained or not: what differs between two models of one config.
    pub fn variables(&self) -> NamedTensors {
        self.store.variables().into_iter().collect()
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
        let variables = self.variables();
        let head_scale = config.head_learning_rate.map_or(1., |rate| rate / config.learning_rate);
        let trained = variables.iter().filter(|(_, tensor)| tensor.requires_grad());
        trained
            .map(|(name, tensor)| {
                let scale = if name.starts_with(self.encoder_prefix()) { 1. } else { head_scale };
                let is_table = ["embeddings.", RELATIVE_BIAS].iter().any(|table| name.contains(table));
                Parameter::new(name, tensor, scale, tensor.dim() > 1 && !is_table)
            })
            .collect()
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
}
