//! Exports a run as a folder that Hugging Face's `transformers` reads.
//!
//! ```text
//! OUT/config.json, model.safetensors     the encoder, for AutoModel
//! OUT/tokenizer.json, tokenizer_config.json, special_tokens_map.json    for AutoTokenizer
//! OUT/tiered_heads.safetensors           state heads and detector, named as in the run
//! OUT/tiered.json                        what their outputs mean, and how to decode them
//! OUT/read_export.py, README.md          a program that predicts with it as `tiered predict` does, in English words
//! ```

mod model_card;
mod tokenizer;

use crate::attribute::{ATTRIBUTES, Attribute, SIDE_CLASSES, Side};
use crate::batch::InputText;
use crate::calibrate::Calibrated;
use crate::checkpoint::SeenSource;
use crate::config::Config;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, EXPORT, RunFolder, own_decode, seen_by};
use crate::model::ModelConfig;
use crate::model::weights::{self, NamedTensors, split};
use crate::report::words::predicate;
use crate::schema::SchemaVersion;
use crate::untrusted::{self, MAX_CONFIG, MAX_TOKENIZER, json_error};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// The program that reads an export. Every export contains it.
const READER: &str = include_str!("../scripts/read_export.py");

/// The numbers of exported tensors.
pub struct Exported {
    /// Those in `model.safetensors`.
    pub encoder_tensors: usize,
    /// Those in `tiered_heads.safetensors`: state heads and detector.
    pub head_tensors: usize,
}

/// Writes a run's model to a temporary folder beside `out`, then renames it to `out`.
///
/// # Errors
/// `CantCreate` if `out` exists; `MissingInput` if `run` is no run folder or has no such weights; `Config` if it is
/// damaged; `Io`.
pub fn export(run: &Path, which: CheckpointKind, out: &Path) -> Result<Exported> {
    if out.exists() || out.is_symlink() {
        return Err(exists(out));
    }
    let folder = RunFolder::open(run)?;
    let weights_file = folder.required_weights(which)?;
    let (run_config, model) = (Config::open(&folder.config_file(), &[])?, folder.model_config()?);
    let config = read_json(&folder.encoder_folder().join("config.json"), MAX_CONFIG)?;
    let tokenizer_file = folder.tokenizer_file();
    let tokenizer = read_json(&tokenizer_file, MAX_TOKENIZER)?;
    let (encoder, heads) = split(weights::read(&weights_file)?, model.encoder.prefix());
    if encoder.is_empty() || heads.is_empty() {
        let problem = "lacks the weights of the encoder or of the heads; train again";
        return Err(Error::config(format!("{}: {problem}", weights_file.display())));
    }
    let tokens = tokenizer::special_tokens(&tokenizer, &config);
    let settings = tokenizer::settings(&tokens, &model.encoder);
    let exported = Exported { encoder_tensors: encoder.len(), head_tensors: heads.len() };
    let calibrated = folder.calibrated(which)?;
    let beside = beside(out)?;
    let part = beside.path().join("export");
    durable::create_folder(&part)?;
    let write_tensors = |name: &str, tensors: &NamedTensors| {
        durable::write_with(&part.join(name), |path| weights::write(path, tensors))
    };
    let write_json = |name: &str, value: &Value| durable::write(&part.join(name), format!("{value:#}\n").as_bytes());
    write_tensors("model.safetensors", &encoder)?;
    write_tensors("tiered_heads.safetensors", &heads)?;
    write_json("config.json", &in_float32(config))?;
    durable::write(&part.join("tokenizer.json"), &read(&tokenizer_file, MAX_TOKENIZER)?)?;
    write_json("tokenizer_config.json", &settings)?;
    write_json("special_tokens_map.json", &Value::Object(tokens))?;
    let seen = folder.inputs()?.map(|_| seen_by(&folder, &run_config)).transpose()?;
    write_json(EXPORT, &description(&run_config, &model, calibrated, seen.as_deref()))?;
    durable::write(&part.join("read_export.py"), READER.as_bytes())?;
    durable::write(&part.join("README.md"), model_card::card(&run_config, &model).as_bytes())?;
    durable::sync_folder(&part)?;
    durable::rename(&part, out).map_err(|error| if out.exists() { exists(out) } else { error })?;
    durable::sync_parent(out)?;
    Ok(exported)
}

fn exists(out: &Path) -> Error {
    let message = format!("{}: already exists; name another folder with --output, or remove it", out.display());
    Error::new(ErrorKind::CantCreate, message)
}

/// The temporary folder beside `out`.
fn beside(out: &Path) -> Result<TempDir> {
    if out.file_name().is_none() {
        let message = format!("{}: does not name a new folder; name one with --output", out.display());
        return Err(Error::new(ErrorKind::CantCreate, message));
    }
    durable::folder_beside(out)
}

/// The config with the type of the weights, in which `transformers` loads them.
fn in_float32(mut config: Value) -> Value {
    if let Some(config) = config.as_object_mut() {
        config.remove("dtype");
        config.insert("torch_dtype".into(), json!("float32"));
    }
    config
}

/// `tiered.json`: everything that a program needs to use the heads.
fn description(
    config: &Config,
    model: &ModelConfig,
    calibrated: Option<Calibrated>,
    seen: Option<&[SeenSource]>,
) -> Value {
    let states = calibrated.as_ref().map_or("argmax".to_owned(), |calibrated| calibrated.states.to_string());
    let mut description = json!({
        "schema_version": SchemaVersion,
        "made_by": concat!("tiered ", env!("CARGO_PKG_VERSION")),
        "input": match model.input_text {
            InputText::Sentence => "tokenizer(entity, sentence); the heads read the last hidden state of its first token",
            InputText::Story => "tokenizer(entity, story); the heads read the mean of the last hidden states of a sentence's tokens",
        },
        "input_text": model.input_text,
        "sizes": {
            "hidden": model.encoder.hidden_size, "attributes": ATTRIBUTES, "side_classes": SIDE_CLASSES,
            "max_sentences": model.max_sentences, "max_tokens": model.encoder.max_tokens(),
        },
        "sides": ["preconditions", "effects"],
        "attributes": Attribute::ALL.map(attribute),
        "state_context": model.state_context,
        "detector": model.detector,
        "no_conflict": model.no_conflict,
        "decode": {
            "conflicts": own_decode(config).name(), "states": states,
            "temperature": calibrated.as_ref().map_or(1., |calibrated| calibrated.temperature), "chosen_on": calibrated.map(|calibrated| calibrated.chosen_on),
        },
    });
    if let Some(seen) = seen {
        description["seen"] = json!(seen);
    }
    description
}

/// The position of an attribute's logits among those of a side, and the meaning of its classes. A class without a
/// meaning is `null`.
fn attribute(attribute: Attribute) -> Value {
    let words = |side: Side| {
        let classes = 0..attribute.classes() as u8;
        classes.map(|class| json!(predicate(attribute, side, class))).collect::<Vec<_>>()
    };
    json!({
        "name": attribute.name(), "offset": attribute.offset(), "classes": attribute.classes(),
        "default": attribute.default_label(),
        "preconditions": words(Side::Precondition), "effects": words(Side::Effect),
    })
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    untrusted::read_regular(path, most).map_err(|error| Error::reading(path, &error))
}

fn read_json(path: &Path, most: u64) -> Result<Value> {
    serde_json::from_slice(&read(path, most)?)
        .map_err(|error| Error::config(format!("{}: {}", path.display(), json_error(&error))).caused_by(error))
}
