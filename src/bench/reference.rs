//! Exports the same pairs and the same model for the reference implementation (`benches/reference/step.py`).

use super::options::BenchOptions;
use super::sample::TimedSample;
use crate::batch::{InputText, Layout, SentBatch};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Trial;
use crate::model::encoder::Family;
use crate::model::weights::{self, NamedTensors, split};
use crate::model::{Conflicts, Context, DetectorKind, Mode, Precision};
use crate::schema::SchemaVersion;
use crate::torch::read;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tch::{Kind, Tensor};

/// The files of [`export`], beside the encoder's.
pub const REFERENCE_FILES: [&str; 3] = ["pairs.json", "heads.safetensors", "expected.safetensors"];

/// Writes into a folder the steps that are measured and their pairs (`pairs.json`), the encoder if its weights are random
/// (`encoder/`), all other weights (`heads.safetensors`), and the model's outputs for the first pair in float32
/// (`expected.safetensors`).
///
/// # Errors
/// `Config` if the reference implementation lacks the config's detector, state context or encoder family; `CantCreate`,
/// `Io`.
pub fn export(trial: &Trial, options: &BenchOptions, folder: &Path) -> Result<()> {
    check(trial)?;
    let sizes = options.pairs_per_step.iter();
    let samples: Vec<TimedSample> =
        sizes.map(|&pairs| TimedSample::new(trial, pairs, options.steps)).collect::<Result<_>>()?;
    let pairs: Vec<usize> = samples.iter().flat_map(TimedSample::pairs).collect::<BTreeSet<_>>().into_iter().collect();
    let weights = trial.weights();
    let (encoder, heads) = split(weights, trial.model_config.encoder.prefix());
    fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
    let encoder_folder = match trial.is_random_encoder {
        true => write_encoder(trial, &encoder, folder)?,
        false => trial.encoder_folder.clone(),
    };
    let [of_pairs, of_heads, of_answers] = REFERENCE_FILES.map(|file| folder.join(file));
    write_json(&of_pairs, &description(trial, &encoder_folder, &samples, &pairs))?;
    weights::write(&of_heads, &heads)?;
    weights::write(&of_answers, &expected(trial, pairs[0]))
}

/// Whether the reference implementation has such a model.
fn check(trial: &Trial) -> Result<()> {
    if trial.config.model.detector.kind != DetectorKind::Paper {
        return Err(Error::config(
            "the reference implementation only has the paper's detector; use model.detector.kind = \"paper\"",
        ));
    }
    if trial.model_config.input_text != InputText::Sentence || trial.config.model.state_context != Context::Sentence {
        return Err(Error::config(
            "the reference implementation reads single sentences; use model.input_text = \"sentence\" and \
             model.state_context = \"sentence\"",
        ));
    }
    let encoder = &trial.model_config.encoder;
    if !matches!(encoder.family, Family::Roberta { .. } | Family::XlmRoberta { .. }) {
        let family = encoder.family.name();
        return Err(Error::config(format!(
            "the reference implementation can't compute a {family} encoder; use a RoBERTa or XLM-RoBERTa"
        )));
    }
    Ok(())
}

/// Writes the encoder as `transformers` reads it, and returns its folder.
fn write_encoder(trial: &Trial, weights: &NamedTensors, folder: &Path) -> Result<PathBuf> {
    let encoder = folder.join("encoder");
    fs::create_dir_all(&encoder).map_err(|error| Error::writing(&encoder, &error))?;
    write_json(&encoder.join("config.json"), &trial.model_config.encoder)?;
    weights::write(&encoder.join("model.safetensors"), weights)?;
    Ok(encoder)
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(value).map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))?;
    fs::write(path, text).map_err(|error| Error::writing(path, &error))
}

/// The settings for the reference implementation, the pairs with their labels, and the steps as indices of `pairs`.
fn description(trial: &Trial, encoder: &Path, samples: &[TimedSample], pairs: &[usize]) -> Value {
    let (config, model) = (&trial.config, &trial.model_config);
    let index = |pair: &usize| pairs.binary_search(pair).expect("the pairs of all samples, in order");
    let indices = |step: &Vec<usize>| step.iter().map(index).collect::<Vec<_>>();
    let steps = samples
        .iter()
        .map(|sample| (sample.pairs_per_step.to_string(), json!(sample.steps.iter().map(indices).collect::<Vec<_>>())));
    json!({
        "schema_version": SchemaVersion,
        "encoder": encoder,
        "tokenizer": trial.encoder_folder.join("tokenizer.json").display().to_string(),
        "detector": model.detector,
        "dropout": model.dropout,
        "sentences": model.max_sentences,
        "entities": trial.train.corpus.max_entities(),
        "loss": config.loss,
        "learning_rate": config.train.learning_rate,
        "adamw": config.train.adamw,
        "pairs": pairs.iter().map(|&pair| pair_of(trial, pair)).collect::<Vec<_>>(),
        "steps": steps.collect::<Map<_, _>>(),
    })
}

fn pair_of(trial: &Trial, pair: usize) -> Value {
    let pair = &trial.train.corpus.pairs[pair];
    let stories = pair.stories.each_ref().map(|story| {
        let entities = story.entities.iter().map(|entity| {
            let conflict = story.conflict_target(entity).map(|c| [c.evidence, c.breakpoint]);
            json!({"name": entity.name, "preconditions": entity.preconditions, "effects": entity.effects,
                   "conflict": conflict})
        });
        json!({"sentences": story.sentences, "entities": entities.collect::<Vec<_>>()})
    });
    json!({"id": pair.id, "plausible": pair.plausible, "stories": stories})
}

/// The logits of states and conflict probabilities for each (entity, sentence) of a pair, without padding, story by
/// story; and the scores of the stories.
fn expected(trial: &Trial, pair: usize) -> NamedTensors {
    let _guard = tch::no_grad_guard();
    let layout = Layout { sentences: trial.model_config.max_sentences, pad_to_entities: None };
    let (batch, targets) = SentBatch::new(trial.train.corpus.batch(&[pair], layout), trial.compute.device).arrive();
    let output = trial.model().forward(&batch, Mode::eval(Precision::Fp32));
    let Conflicts::Sentences { logits } = &output.conflicts else { unreachable!("the detector is the paper's") };
    let here = |tensor: &Tensor| read::to_cpu(&tensor.to_kind(Kind::Float));
    let of_cells = |logits: &Tensor| here(&logits.index_select(0, &targets.cell_input));
    [
        ("precondition_logits", of_cells(&output.precondition_logits)), // [S, 66]
        ("effect_logits", of_cells(&output.effect_logits)),             // [S, 66]
        ("conflict_logits", here(&logits.view([-1]).index_select(0, &targets.cell_index))), // [S]
        ("story_scores", here(&output.story_scores)),                   // [1, 2]
    ]
    .map(|(name, tensor)| (name.to_owned(), tensor))
    .into()
}
