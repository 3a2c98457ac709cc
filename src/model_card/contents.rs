//! The contents of a card, and how it names files and sets.

use crate::data::Kind;
use crate::report::{DataDescription, Report};
use crate::say::counted;

/// The longest name that is shown, in characters.
pub(super) const LONGEST: usize = 120;

/// The contents of a card.
#[derive(Debug, Clone, PartialEq)]
pub struct CardContents {
    /// The name of the run.
    pub name: String,
    /// Name and type of the pretrained encoder.
    pub encoder: String,
    /// Its family: "xlm-roberta".
    pub encoder_type: String,
    /// The kind of conflict detector.
    pub detector: String,
    /// The run whose weights the training began with.
    pub init_from: Option<String>,
    /// The splits that the weights were trained on.
    pub train: Vec<CardSource>,
    /// The fold that was left out of them ("1 of 3").
    pub left_out: Option<String>,
    /// The splits that the best epoch was chosen on. Empty if the last epoch was kept.
    pub dev: Vec<CardSource>,
    /// Of all random choices of the training.
    pub seed: u64,
    /// The number of runs of whose weights these are the mean, if they are.
    pub averaged: Option<usize>,
    /// The number of trained epochs.
    pub epochs: u64,
    /// The epoch of the best weights.
    pub best_epoch: Option<u64>,
    /// Reports of the best weights, one for each set.
    pub reports: Vec<Report>,
}

/// A split of a story file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardSource {
    /// The path in the config; its folder may be private.
    pub file: String,
    /// The split's name in the file.
    pub split: String,
    /// The kind of its pairs that were read, if not all.
    pub kind: Option<Kind>,
    /// The largest number of pairs that were read, if not all.
    pub limit: Option<usize>,
    /// The SHA-256 of the file.
    pub sha256: Option<String>,
    /// The file of predictions that were learned in place of the labels.
    pub soft_labels: Option<String>,
}

/// "it.json, test: 48 pairs (all)".
pub(super) fn set_name(data: &DataDescription) -> String {
    let file = data.file.as_deref().map_or("stories", file_name);
    let split = data.split.as_ref().map_or(String::new(), |split| format!(", {split}"));
    format!("{file}{split}: {} ({}){}", counted(data.pairs, "pair"), data.kind, data.remark())
}

/// The name of a file without its folder, which may be private.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
