//! The weights in an encoder's folder, with Hugging Face's names: one file, or several with an index.

use super::encoder::EncoderConfig;
use super::weights::{NamedTensors, WeightsFile, check_fit, named, pickle_beside, require_finite};
use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::{self, MAX_INDEX, MAX_SHARDS, json_error, shown};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tch::nn;

/// The file that holds all weights.
pub const WEIGHTS: &str = "model.safetensors";
/// The file that names the files of weights, where there are several.
pub const INDEX: &str = "model.safetensors.index.json";

/// Tensors of published checkpoints that are not part of an encoder without pooler: heads, and counters.
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

/// The remedy for weights that are not an encoder's alone.
const HOW_TO_SAVE: &str =
    "save the encoder alone, with its config.json: AutoModel.from_pretrained(...).save_pretrained(...)";

/// Tensors left from DeBERTa's pretraining: absolute positions for its decoder, and the generator's share of the
/// embeddings.
const LEFT_BY_DEBERTA: [&str; 2] = ["embeddings.word_embeddings._weight", "embeddings.position_embeddings._weight"];

/// The weights of an encoder. So far only headers have been read.
pub struct PretrainedWeights {
    /// The path that was opened: a file or an index.
    path: PathBuf,
    files: Vec<WeightsFile>,
}

/// The position of a tensor: its file, and its number there.
#[derive(Clone, Copy)]
struct TensorPosition {
    file: usize,
    tensor: usize,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl PretrainedWeights {
    /// Opens `model.safetensors` in a folder; if there is none, the files that `model.safetensors.index.json` names.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Refused` if a file is not safetensors, or a name leads out of the folder; `Config` if
    /// tensors are not floats, or index and files contradict each other.
    pub fn open(folder: &Path) -> Result<Self> {
        let (whole, index) = (folder.join(WEIGHTS), folder.join(INDEX));
        if index.symlink_metadata().is_err() || whole.symlink_metadata().is_ok() {
            let file = WeightsFile::open(&whole).map_err(|error| match error.kind {
                ErrorKind::MissingInput if pickle_beside(&whole).is_none() => {
                    Error { message: format!("{error}; {HOW_TO_SAVE}"), ..error }
                }
                _ => error,
            })?;
            return Ok(PretrainedWeights { files: vec![file], path: whole });
        }
        let tensors_of = read_index(&index)?;
        let files: Result<Vec<WeightsFile>> = tensors_of.iter().map(|(file, _)| WeightsFile::open(file)).collect();
        let files = files?;
        for (file, (_, tensors)) in files.iter().zip(&tensors_of) {
            check_named(file, tensors).map_err(|problem| Error::config(format!("{}: {problem}", index.display())))?;
        }
        Ok(PretrainedWeights { path: index, files })
    }

    /// Refuses weights with fewer numbers than a config needs, before memory is allocated for them.
    ///
    /// # Errors
    /// `Config`.
    pub fn require_numbers(&self, needed: u128) -> Result<()> {
        super::weights::require_numbers(&self.path, self.files.iter().map(WeightsFile::numbers).sum(), needed)
    }

    /// Copies the weights into the encoder's variables. Their names may carry the family's prefix. Returns the names of
    /// tensors that were skipped because they are not part of the encoder.
    ///
    /// # Errors
    /// `Config`, with lists, if a name is missing or unexpected or a shape differs; then nothing is copied. `Data` if a
    /// number is not finite.
    pub fn load(mut self, store: &nn::VarStore, config: &EncoderConfig) -> Result<Vec<String>> {
        let prefix = format!("{}.", config.prefix());
        let variables: NamedTensors = named(store).into_iter().filter(|(name, _)| name.starts_with(&prefix)).collect();
        let (mut positions, mut skipped) = (BTreeMap::new(), Vec::new());
        for (position, name) in self.tensors() {
            let bare = of_today(name.strip_prefix(&prefix).unwrap_or(name));
            let ours = Some(format!("{prefix}{bare}")).filter(|name| variables.contains_key(name));
            if is_skipped(&bare, config) {
                skipped.push(name.to_owned());
            } else if positions.insert(ours.unwrap_or_else(|| name.to_owned()), position).is_some() {
                let message = format!("holds {bare} twice: with and without \"{prefix}\", or under an old name too");
                return Err(Error::config(format!("{}: {message}", self.path.display())));
            }
        }
        skipped.sort_unstable();
        let shape = |position: &TensorPosition| self.files[position.file].shape(position.tensor);
        let shapes = positions.iter().map(|(name, position)| (name.as_str(), shape(position))).collect();
        check_fit(&variables, &shapes, &self.path)
            .map_err(|error| Error { message: format!("{error}\n{HOW_TO_SAVE}"), ..error })?;
        for (name, variable) in &variables {
            let TensorPosition { file, tensor } = positions[name];
            self.files[file].fill(tensor, variable)?;
        }
        require_finite(&variables, &self.path)?;
        Ok(skipped)
    }

    fn tensors(&self) -> impl Iterator<Item = (TensorPosition, &str)> {
        let files = self.files.iter().enumerate();
        files.flat_map(|(file, weights)| {
            weights.names().enumerate().map(move |(tensor, name)| (TensorPosition { file, tensor }, name))
        })
    }
}

/// The current name of a tensor. Checkpoints converted from TensorFlow have other names for the weights of norms.
fn of_today(name: &str) -> String {
    let new = |old: &str, new: &str| name.strip_suffix(old).map(|stem| format!("{stem}{new}"));
    new("LayerNorm.gamma", "LayerNorm.weight")
        .or_else(|| new("LayerNorm.beta", "LayerNorm.bias"))
        .unwrap_or_else(|| name.to_owned())
}

fn is_skipped(bare: &str, config: &EncoderConfig) -> bool {
    let of_deberta = config.family.deberta().is_some();
    HEADS.iter().any(|head| bare.starts_with(head))
        || of_deberta && LEFT_BY_DEBERTA.contains(&bare)
        || !config.has_positions() && bare == "embeddings.position_embeddings.weight"
}

/// The files of weights in a folder, in the order of their names.
///
/// # Errors
/// As [`PretrainedWeights::open`], but only an index is read.
pub fn weights_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (whole, index) = (folder.join(WEIGHTS), folder.join(INDEX));
    match index.symlink_metadata().is_err() || whole.symlink_metadata().is_ok() {
        true => Ok(vec![whole]),
        false => Ok(read_index(&index)?.into_iter().map(|(file, _)| file).collect()),
    }
}

/// The files in an index, each with the names of its tensors.
fn read_index(path: &Path) -> Result<Vec<(PathBuf, BTreeSet<String>)>> {
    let wrong = |problem: String| Error::config(format!("{}: {problem}", path.display()));
    let bytes = untrusted::read_regular(path, MAX_INDEX).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => wrong(format!("not an index of weights: {error}")),
        _ => Error::reading(path, &error),
    })?;
    let index: Index = serde_json::from_slice(&bytes)
        .map_err(|error| wrong(format!("not an index of weights: {}", json_error(&error))).caused_by(error))?;
    let mut files: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (tensor, file) in &index.weight_map {
        untrusted::component(file)
            .map_err(|error| Error::new(ErrorKind::Refused, format!("{}: {error}", path.display())))?;
        files.entry(file).or_default().insert(tensor.clone());
    }
    if files.is_empty() || files.len() > MAX_SHARDS {
        return Err(wrong(format!("names {} files; there must be 1 to {MAX_SHARDS}", files.len())));
    }
    Ok(files.into_iter().map(|(file, tensors)| (path.with_file_name(file), tensors)).collect())
}

/// Checks that a file holds exactly the tensors that the index lists.
fn check_named(file: &WeightsFile, tensors: &BTreeSet<String>) -> Result<(), String> {
    let held: BTreeSet<&str> = file.names().collect();
    let is_weight = |name: &&String| !name.ends_with("position_ids");
    let name = file.path().file_name().unwrap_or_default().to_string_lossy();
    if let Some(missing) = tensors.iter().filter(is_weight).find(|tensor| !held.contains(tensor.as_str())) {
        return Err(format!("says that {name} holds {}, but it does not", shown(missing, 80)));
    }
    match held.iter().find(|tensor| !tensors.contains(**tensor)) {
        Some(more) => Err(format!("does not say that {name} holds {}, but it does", shown(more, 80))),
        None => Ok(()),
    }
}
