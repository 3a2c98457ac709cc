//! The network with which a run starts, as its config says.

use super::folder::{CheckpointKind, RunFolder};
use crate::config::{Config, Freeze, OutputBias, expand};
use crate::durable::{Digests, sha256};
use crate::error::{Error, Result};
use crate::model::{DetectorKind, EncoderConfig, ModelConfig, NewDetector, PretrainedWeights, weights_files};
use crate::tokenizer::tokenizer_json;
use crate::train::{Network, TrainPairs};
use serde_json::{Map, Value};
use std::path::Path;
use tch::Device;

/// An untrained model on a pretrained encoder.
pub fn pretrained(
    config: &Config,
    model: &ModelConfig,
    encoder_folder: &Path,
    train: &TrainPairs,
    device: Device,
    detector: NewDetector,
) -> Result<Network> {
    let weights = PretrainedWeights::open(encoder_folder)?;
    weights.require_numbers(model.encoder.least_parameters())?;
    starting(config, model, train, device, detector, |network| network.load_encoder(weights))
}

/// An untrained model on an untrained encoder.
pub fn random(
    config: &Config,
    model: &ModelConfig,
    train: &TrainPairs,
    device: Device,
    detector: NewDetector,
) -> Result<Network> {
    starting(config, model, train, device, detector, |network| {
        network.draw_word_embeddings();
        Ok(())
    })
}

/// The model of a checkpoint, to continue training.
pub fn resumed(
    config: &Config,
    model: &ModelConfig,
    file: &Path,
    train: &TrainPairs,
    device: Device,
) -> Result<Network> {
    let network = Network::to_train_on(model, file, device)?;
    choose_trained(&network, &config.encoder.freeze, train);
    Ok(network)
}

/// The SHA-256 of the weights with which a new run of this config starts
/// ([`Inputs::initial_weights`](crate::checkpoint::Inputs)).
///
/// # Errors
/// `MissingInput`, `Io`; errors of an index of weights.
pub fn initial_weights(digests: &Digests, config: &Config) -> Result<String> {
    let files = match &config.init_from {
        Some(run) => vec![RunFolder::open(&expand(run)?)?.required_weights(CheckpointKind::Best)?],
        None => weights_files(&config.encoder.folder()?)?,
    };
    let sha256: Result<Vec<String>> = files.iter().map(|file| digests.of(file)).collect();
    Ok(sha256?.join(" "))
}

/// A model whose weights will be set to those of another process.
pub fn unset(config: &Config, model: &ModelConfig, train: &TrainPairs, device: Device) -> Network {
    let mut network = Network::new(model);
    network.move_to(device);
    choose_trained(&network, &config.encoder.freeze, train);
    network
}

/// `fill` sets the encoder's weights.
fn starting(
    config: &Config,
    model: &ModelConfig,
    train: &TrainPairs,
    device: Device,
    detector: NewDetector,
    fill: impl FnOnce(&mut Network) -> Result<()>,
) -> Result<Network> {
    check_freeze(&config.encoder.freeze, model)?;
    tch::manual_seed(crate::seed::key(config.seed, "initial weights", 0) as i64);
    let mut network = Network::with_detector(model, detector);
    fill(&mut network)?;
    if config.model.output_bias == OutputBias::Frequency {
        network.model.set_output_bias(&train.corpus.class_frequencies());
    }
    if let Some(run) = &config.init_from {
        load_run(&mut network, config, model, &RunFolder::open(&expand(run)?)?)
            .map_err(|error| error.about("init_from"))?;
    }
    network.move_to(device);
    choose_trained(&network, &config.encoder.freeze, train);
    Ok(network)
}

/// Sets the weights to the best ones of a run with the same model and tokenizer.
fn load_run(network: &mut Network, config: &Config, model: &ModelConfig, run: &RunFolder) -> Result<()> {
    let file = run.required_weights(CheckpointKind::Best)?;
    let (there, here) = (settings(&run.model_config()?), settings(model));
    if let Some((key, value)) = here.iter().find(|(key, value)| there.get(*key) != Some(value)) {
        let of_run = there.get(key).cloned().unwrap_or_default();
        let problem = format!("{key} is {of_run} there and {value} here; its weights need the same model");
        return Err(Error::config(problem).about(run.path().display()));
    }
    let encoder = config.encoder.folder()?;
    if run.required_inputs()?.tokenizer != sha256(&tokenizer_json(&encoder)?) {
        let problem = format!("has another tokenizer.json than {}; its weights need the same", encoder.display());
        return Err(Error::config(problem).about(run.path().display()));
    }
    network.load(&file)
}

/// What the weights of a model mean, beside their shapes, by config key.
fn settings(model: &ModelConfig) -> Map<String, Value> {
    let json = |part: serde_json::Result<Value>| part.expect("a config can be written as JSON");
    let detector = json(serde_json::to_value(&model.detector));
    let of_detector = detector.as_object().into_iter().flatten();
    let of_detector = of_detector.map(|(key, value)| (format!("model.detector.{key}"), value.clone()));
    let others = [
        ("model.input_text", json(serde_json::to_value(model.input_text))),
        ("model.state_context", json(serde_json::to_value(model.state_context))),
        ("loss.single_story", if model.no_conflict { "above 0" } else { "0" }.into()),
    ];
    // Dropout is not part of what the weights compute.
    let encoder = json(serde_json::to_value(&model.encoder));
    let of_encoder = encoder.as_object().into_iter().flatten().filter(|(key, _)| !key.ends_with("dropout_prob"));
    let of_encoder = of_encoder.map(|(key, value)| (format!("config.json's {key}"), value.clone()));
    let has_fixed_length = model.detector.kind == DetectorKind::Paper;
    let length = has_fixed_length.then(|| ("model.max_sentences", model.max_sentences.into()));
    others
        .into_iter()
        .chain(length)
        .map(|(key, value)| (key.to_owned(), value))
        .chain(of_detector)
        .chain(of_encoder)
        .collect()
}

/// Freezes parts. If the embeddings are not frozen, trains those of their rows that occur in training.
fn choose_trained(network: &Network, freeze: &[Freeze], train: &TrainPairs) {
    network.freeze(&frozen_prefixes(freeze, &network.model.encoder.config));
    if !freeze.iter().any(|part| matches!(part, Freeze::Embeddings | Freeze::Encoder)) {
        network.train_rows(&train.token_ids(network.model.encoder.config.vocab_size));
    }
}

/// The beginnings of the names of frozen variables.
fn frozen_prefixes(parts: &[Freeze], encoder: &EncoderConfig) -> Vec<String> {
    let encoder = encoder.prefix();
    let prefixes = parts.iter().flat_map(|part| match part {
        Freeze::Embeddings => vec![format!("{encoder}.embeddings.")],
        Freeze::Layers(0) => Vec::new(),
        // Frozen layers read these tables of distances too, and must compute what they did.
        Freeze::Layers(k) => {
            let layers = (0..*k).map(|layer| format!("layer.{layer}."));
            let tables = ["relative_attention_bias.", "rel_embeddings.", "LayerNorm.", "conv."].map(str::to_owned);
            layers.chain(tables).map(|part| format!("{encoder}.encoder.{part}")).collect()
        }
        Freeze::Encoder => vec![format!("{encoder}.")],
    });
    prefixes.collect()
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
