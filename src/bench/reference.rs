//! Exports the same pairs and the same model for the reference implementation (`benches/reference/step.py`).

use super::options::BenchOptions;
use super::sample::TimedSample;
use crate::batch::{InputText, Layout, SentBatch};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Trial;
use crate::model::encoder::Family;
use crate::model::{Conflicts, Context, DetectorKind, Mode, Precision, weights};
use crate::schema::SchemaVersion;
use crate::torch::read;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tch::{Kind, Tensor};

/// Writes into a folder the pairs that are measured at the first size (`pairs.json`), all weights but the encoder's
/// (`heads.safetensors`), and the model's outputs for the first pair in float32 (`expected.safetensors`).
///
/// # Errors
/// `Config` if the reference implementation lacks the config's detector, state context or encoder family; `CantCreate`,
/// `Io`.
pub fn export(trial: &Trial, options: &BenchOptions, folder: &Path) -> Result<()> {
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
    let pairs_per_step = *options.pairs_per_step.first().expect("at least one size");
    let sample = TimedSample::new(trial, pairs_per_step, options.steps)?;
    fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
    let path = folder.join("pairs.json");
    let text = serde_json::to_vec(&description(trial, &sample))
        .map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))?;
    fs::write(&path, text).map_err(|error| Error::writing(&path, &error))?;
    let mut heads = trial.weights();
    heads.retain(|name, _| !name.starts_with(trial.model_config.encoder.prefix()));
    weights::write(&folder.join("heads.safetensors"), &heads)?;
    weights::write(&folder.join("expected.safetensors"), &expected(trial, sample.steps[0][0]))
}

/// The settings for the reference implementation, and the pairs with their labels.
fn description(trial: &Trial, sample: &TimedSample) -> Value {
    let (config, model) = (&trial.config, &trial.model_config);
    json!({
        "schema_version": SchemaVersion,
        "encoder": trial.encoder_folder,
        "detector": model.detector,
        "dropout": model.dropout,
        "sentences": model.max_sentences,
        "entities": trial.train.corpus.max_entities(),
        "loss": config.loss,
        "learning_rate": config.train.learning_rate,
        "adamw": config.train.adamw,
        "pairs": sample.pairs().map(|pair| pair_of(trial, pair)).collect::<Vec<_>>(),
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
fn expected(trial: &Trial, pair: usize) -> weights::NamedTensors {
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
