//! The weights in an encoder's folder, under Hugging Face's names: one file, or several with an index.

use super::encoder::EncoderConfig;
use super::weights::{NamedTensors, WeightsFile, check_fit, named, require_finite};
use crate::error::{Error, ErrorKind, Result};
use crate::outside::{self, MAX_INDEX, MAX_SHARDS, json_error, shown};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tch::nn;

pub const WEIGHTS: &str = "model.safetensors";
pub const INDEX: &str = "model.safetensors.index.json";

/// Tensors of published checkpoints that are no part of an encoder without pooler: heads, and counters.
const HEADS: [&str; 10] = [
    "pooler.",
    "classifier.",
    "cls.",
    "lm_head.",
    "lm_predictions.",
    "mask_predictions.",
    "predictions.",
    "qa_outputs.",
    "score.",
    "embeddings.position_ids",
];

/// What pretraining DeBERTa left: absolute positions for its decoder, and the generator's share of the embeddings.
const LEFT_BY_DEBERTA: [&str; 2] = ["embeddings.word_embeddings._weight", "embeddings.position_embeddings._weight"];

/// The weights of an encoder, of which only headers are read yet.
pub struct PretrainedWeights {
    /// The file or index that was asked for.
    path: PathBuf,
    files: Vec<WeightsFile>,
}

/// Which tensor of which file.
#[derive(Clone, Copy)]
struct Place {
    file: usize,
    tensor: usize,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl PretrainedWeights {
    /// Opens `model.safetensors` of a folder, or where there is none the files that `model.safetensors.index.json`
    /// names.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Refused` if a file is no safetensors file, or a name leads out of the folder; `Config` if
    /// tensors are no floats, or index and files do not say the same.
    pub fn open(folder: &Path) -> Result<Self> {
        let (whole, index) = (folder.join(WEIGHTS), folder.join(INDEX));
        if index.symlink_metadata().is_err() || whole.symlink_metadata().is_ok() {
            return Ok(PretrainedWeights { files: vec![WeightsFile::open(&whole)?], path: whole });
        }
        let tensors_of = read_index(&index)?;
        let files: Result<Vec<WeightsFile>> = tensors_of.iter().map(|(file, _)| WeightsFile::open(file)).collect();
        let files = files?;
        for (file, (_, tensors)) in files.iter().zip(&tensors_of) {
            check_named(file, tensors).map_err(|problem| Error::config(format!("{}: {problem}", index.display())))?;
        }
        Ok(PretrainedWeights { path: index, files })
    }

    /// Refuses weights that hold fewer numbers than a config asks for, before any memory is taken for them.
    ///
    /// # Errors
    /// `Config`.
    pub fn require_numbers(&self, needed: u128) -> Result<()> {
        super::weights::require_numbers(&self.path, self.files.iter().map(WeightsFile::numbers).sum(), needed)
    }

    /// Copies the weights, whose names may carry the family's prefix, into the encoder's variables, and returns the
    /// names that were passed over because they are no part of it.
    ///
    /// # Errors
    /// `Config`, with the lists, if a name is missing or unexpected or a shape differs; nothing is copied then. `Data` if
    /// a number is not finite.
    pub fn load(mut self, store: &nn::VarStore, config: &EncoderConfig) -> Result<Vec<String>> {
        let prefix = format!("{}.", config.prefix());
        let (mut places, mut passed_over) = (BTreeMap::new(), Vec::new());
        for (place, name) in self.tensors() {
            let bare = of_today(name.strip_prefix(&prefix).unwrap_or(name));
            if is_passed_over(&bare, config) {
                passed_over.push(name.to_owned());
            } else if places.insert(format!("{prefix}{bare}"), place).is_some() {
                let message = format!("holds {bare} with and without \"{prefix}\" or under an old name too");
                return Err(Error::config(format!("{}: {message}", self.path.display())));
            }
        }
        passed_over.sort_unstable();
        let variables: NamedTensors = named(store).into_iter().filter(|(name, _)| name.starts_with(&prefix)).collect();
        let shape = |place: &Place| self.files[place.file].shape(place.tensor);
        let shapes = places.iter().map(|(name, place)| (name.as_str(), shape(place))).collect();
        check_fit(&variables, &shapes, &self.path)?;
        for (name, variable) in &variables {
            let Place { file, tensor } = places[name];
            self.files[file].fill(tensor, variable)?;
        }
        require_finite(&variables, &self.path)?;
        Ok(passed_over)
    }

    fn tensors(&self) -> impl Iterator<Item = (Place, &str)> {
        let files = self.files.iter().enumerate();
        files.flat_map(|(file, weights)| {
            weights.names().enumerate().map(move |(tensor, name)| (Place { file, tensor }, name))
        })
    }
}

/// The name of a norm's weight, which converted checkpoints of TensorFlow call otherwise.
fn of_today(name: &str) -> String {
    let new = |old: &str, new: &str| name.strip_suffix(old).map(|stem| format!("{stem}{new}"));
    new("LayerNorm.gamma", "LayerNorm.weight")
        .or_else(|| new("LayerNorm.beta", "LayerNorm.bias"))
        .unwrap_or_else(|| name.to_owned())
}

fn is_passed_over(bare: &str, config: &EncoderConfig) -> bool {
    let of_deberta = config.family.deberta().is_some();
    HEADS.iter().any(|head| bare.starts_with(head))
        || of_deberta && LEFT_BY_DEBERTA.contains(&bare)
        || !config.has_positions() && bare == "embeddings.position_embeddings.weight"
}

/// The files of an index, each with the names of its tensors.
fn read_index(path: &Path) -> Result<Vec<(PathBuf, BTreeSet<String>)>> {
    let wrong = |problem: String| Error::config(format!("{}: {problem}", path.display()));
    let bytes = outside::read_regular(path, MAX_INDEX).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => wrong(format!("not an index of weights: {error}")),
        _ => Error::reading(path, &error),
    })?;
    let index: Index = serde_json::from_slice(&bytes)
        .map_err(|error| wrong(format!("not an index of weights: {}", json_error(&error))))?;
    let mut files: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (tensor, file) in &index.weight_map {
        outside::component(file)
            .map_err(|error| Error::new(ErrorKind::Refused, format!("{}: {error}", path.display())))?;
        files.entry(file).or_default().insert(tensor.clone());
    }
    if files.is_empty() || files.len() > MAX_SHARDS {
        return Err(wrong(format!("names {} files; there must be 1 to {MAX_SHARDS}", files.len())));
    }
    Ok(files.into_iter().map(|(file, tensors)| (path.with_file_name(file), tensors)).collect())
}

/// Whether a file holds just the tensors that the index says.
fn check_named(file: &WeightsFile, tensors: &BTreeSet<String>) -> Result<(), String> {
    let held: BTreeSet<&str> = file.names().collect();
    let is_weight = |name: &&String| !name.ends_with("position_ids");
    let name = file.path().file_name().unwrap_or_default().to_string_lossy();
    if let Some(missing) = tensors.iter().filter(is_weight).find(|tensor| !held.contains(tensor.as_str())) {
        return Err(format!("says that {name} holds {}, which it does not", shown(missing, 80)));
    }
    match held.iter().find(|tensor| !tensors.contains(**tensor)) {
        Some(more) => Err(format!("does not say that {name} holds {}, which it does", shown(more, 80))),
        None => Ok(()),
    }
}
