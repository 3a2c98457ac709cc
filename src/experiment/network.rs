//! The model with its variables: which start from what, and which are trained.

use crate::batch::Corpus;
use crate::config::{Config, Freeze, OutputBias};
use crate::error::{Error, Result};
use crate::model::tiered::ENCODER_PREFIX;
use crate::model::weights::{NamedTensors, WeightsFile};
use crate::model::{ModelConfig, TieredModel, weights};
use crate::train::{Parameter, TrainConfig};
use std::path::Path;
use tch::{Device, nn};

pub const WEIGHTS: &str = "model.safetensors";

/// A model and its variables.
pub struct Network {
    pub model: TieredModel,
    pub passed_over: Vec<String>,
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
        check_freeze(&config.encoder.freeze, model_config)?;
        tch::manual_seed(crate::seed::key(config.seed, "initial weights", 0) as i64);
        let file = encoder_folder.join(WEIGHTS);
        WeightsFile::open(&file)?.require_numbers(model_config.encoder.least_parameters())?;
        let store = nn::VarStore::new(device);
        let model = TieredModel::new(&store.root(), model_config);
        let passed_over = weights::load_encoder(&store, &file)?;
        if config.model.output_bias == OutputBias::Frequency {
            model.set_output_bias(&train.class_frequencies());
        }
        let network = Network { model, passed_over, store };
        network.freeze(&config.encoder.freeze);
        if !config.encoder.freeze.contains(&Freeze::Embeddings) {
            let embeddings = network.store.root() / ENCODER_PREFIX / "embeddings";
            network.model.encoder.embeddings.train_rows(&embeddings, &train.token_ids());
        }
        Ok(network)
    }

    /// A trained model.
    pub fn trained(model_config: &ModelConfig, file: &Path, device: Device) -> Result<Self> {
        WeightsFile::open(file)?.require_numbers(model_config.least_parameters())?;
        let store = nn::VarStore::new(device);
        let model = TieredModel::new(&store.root(), model_config);
        weights::load(&store, file)?;
        Ok(Network { model, passed_over: Vec::new(), store })
    }

    /// All weights, under the names they are saved with.
    pub fn weights(&self) -> NamedTensors {
        self.model.encoder.embeddings.merge_trained_rows();
        weights::named(&self.store)
    }

    /// What is trained, in the order of the names, with its rate and decay.
    pub fn parameters(&self, config: &TrainConfig) -> Vec<Parameter> {
        let variables: NamedTensors = self.store.variables().into_iter().collect();
        let head_scale = config.head_learning_rate.map_or(1., |rate| rate / config.learning_rate);
        let trained = variables.iter().filter(|(_, tensor)| tensor.requires_grad());
        trained
            .map(|(name, tensor)| {
                let scale = if name.starts_with(ENCODER_PREFIX) { 1. } else { head_scale };
                Parameter::new(name, tensor, scale, tensor.dim() > 1 && !name.contains("embeddings."))
            })
            .collect()
    }

    fn freeze(&self, parts: &[Freeze]) {
        let prefixes = parts.iter().flat_map(|part| match part {
            Freeze::Embeddings => vec![format!("{ENCODER_PREFIX}.embeddings.")],
            Freeze::Layers(k) => (0..*k).map(|layer| format!("{ENCODER_PREFIX}.encoder.layer.{layer}.")).collect(),
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
            Err(Error::config(format!("encoder.freeze: \"{part}\", but the encoder has {layers} layers")))
        }
        None => Ok(()),
    }
}
