//! One source of pairs: a split of a story file, or stories that are made while training.

use super::check::all_hold;
use crate::data::Kind;
use crate::language::Language;
use crate::synthetic::Style;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One split of a story file, or synthetic stories. [`DataSource::validate`] allows one of both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(extend("oneOf" = [{ "required": ["file", "split"] }, { "required": ["synthetic"] }]))]
pub struct DataSource {
    // `x-dev` says what differs in `data.dev`. A field without it is a key of `data.train` only.
    /// Story file to train on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "x-resume" = "free",
        "x-type" = "file",
        "x-default" = "required, or `synthetic`",
        "x-dev" = {
            "x-default": "no dev",
            "description": "Story file on which the epoch is chosen; without it the last epoch is kept."
        }
    ))]
    pub file: Option<PathBuf>,
    /// The split of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "x-resume" = "refused",
        "x-default" = "required with a file",
        "x-dev" = { "x-resume": "warned" }
    ))]
    pub split: Option<String>,
    /// Read the file piece by piece while training, so that memory does not grow with it (`docs/data.md`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("x-resume" = "refused", "default" = false))]
    pub streaming: bool,
    /// Stories that are made while training, in place of a file (`docs/stories.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<SyntheticStories>,
    /// Predictions about the pairs of this file, which are learned in place of their labels: a predictions.jsonl of
    /// `tiered eval`, or the mean of several that `tiered score --output` writes (`docs/recipes.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-resume" = "free", "x-type" = "file", "x-default" = "none: learn the labels"))]
    pub soft_labels: Option<PathBuf>,
    /// Use only pairs of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-resume" = "refused", "x-default" = "all", "x-dev" = { "x-resume": "warned" }))]
    pub kind: Option<Kind>,
    /// Use only the first N pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 1),
        extend("x-resume" = "refused", "x-default" = "all", "x-dev" = { "x-resume": "warned" })
    )]
    pub pairs: Option<usize>,
    /// How often an epoch contains each pair; with 0.25 each epoch takes another quarter of the pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "x-resume" = "refused", "default" = 1))]
    pub weight: Option<f64>,
    /// The first epoch that uses this source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-resume" = "refused", "default" = 1))]
    pub first_epoch: Option<u64>,
    /// The last epoch that uses this source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-resume" = "refused", "x-default" = "the last"))]
    pub last_epoch: Option<u64>,
}

/// Stories that are made while training: those of `tiered data synthesize`, each epoch the next ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct SyntheticStories {
    /// The language of the stories.
    #[schemars(extend("x-resume" = "refused", "x-type" = "`en`, `it`"))]
    pub lang: Language,
    /// The data set that they resemble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "x-resume" = "refused",
        "x-type" = "`trip`, `gita`",
        "x-default" = "`trip` for English, `gita` for Italian"
    ))]
    pub style: Option<Style>,
    /// How many pairs each epoch makes; no pair is made twice.
    #[schemars(range(min = 1, max = MAX_PAIRS_PER_EPOCH), extend("x-resume" = "refused"))]
    pub pairs_per_epoch: usize,
    /// The seed of the stories, as for `tiered data synthesize`; the key `seed` does not change them.
    #[serde(default)]
    #[schemars(extend("x-resume" = "refused"))]
    pub seed: u64,
}

/// The largest number of pairs that an epoch makes.
const MAX_PAIRS_PER_EPOCH: usize = 10_000_000;

impl SyntheticStories {
    /// The style, or that of the language.
    pub fn style(&self) -> Style {
        self.style.unwrap_or(self.lang.style())
    }
}

impl DataSource {
    /// The story file and its split; `None` for synthetic stories.
    pub fn story_file(&self) -> Option<(&Path, &str)> {
        self.file.as_deref().zip(self.split.as_deref())
    }

    /// The name of the file as the config writes it; of synthetic stories, what they are.
    pub fn name(&self) -> String {
        match (&self.file, &self.synthetic) {
            (None, Some(made)) => {
                let style = match made.style() {
                    Style::Trip => "trip",
                    Style::Gita => "gita",
                };
                format!("synthetic stories ({}, {style}, seed {})", made.lang.code(), made.seed)
            }
            (file, _) => file.as_deref().map_or(String::new(), |file| file.display().to_string()),
        }
    }

    /// The name of the split; "train" for synthetic stories.
    pub fn split_name(&self) -> &str {
        self.split.as_deref().unwrap_or("train")
    }

    /// The first and the last epoch that train on this source, counted from 1.
    pub(super) fn epochs(&self) -> (u64, u64) {
        (self.first_epoch.unwrap_or(1), self.last_epoch.unwrap_or(u64::MAX))
    }

    /// # Errors
    /// A value that has the right type but is invalid.
    pub(super) fn validate(&self, is_trained_on: bool) -> Result<(), &'static str> {
        let (first, last) = self.epochs();
        let of_training = [self.weight.is_some(), self.first_epoch.is_some(), self.last_epoch.is_some()];
        let is_taught = self.soft_labels.is_some();
        let is_made = self.synthetic.is_some();
        let pairs = 1..=MAX_PAIRS_PER_EPOCH;
        let checks = [
            (is_trained_on || !is_made && !self.streaming, "synthetic and streaming are allowed in data.train only"),
            (
                !(is_made && self.file.is_some()),
                "a source has both file and synthetic; a list (data.train = [{ ... }]) in a sweep replaces the base's sources",
            ),
            (is_made || self.file.is_some(), "each source needs either file (with split) or synthetic"),
            (is_made == self.split.is_none(), "file and split belong together; synthetic stories have no split"),
            (
                !is_made || self.pairs.is_none() && self.weight.is_none() && !self.streaming,
                "synthetic stories have no pairs, weight or streaming; set synthetic.pairs_per_epoch",
            ),
            (
                self.synthetic.is_none_or(|made| pairs.contains(&made.pairs_per_epoch)),
                "synthetic.pairs_per_epoch must be from 1 to 10000000",
            ),
            (
                !is_taught || is_trained_on && !is_made && !self.streaming,
                "soft_labels are allowed for files in data.train only, without streaming",
            ),
            (self.pairs != Some(0), "pairs must be at least 1"),
            (self.weight.is_none_or(|weight| weight > 0. && weight.is_finite()), "weight must be above 0"),
            (self.first_epoch != Some(0), "first_epoch must be at least 1: epochs are counted from 1"),
            (first <= last, "last_epoch must not be before first_epoch"),
            (
                is_trained_on || !of_training.contains(&true),
                "weight, first_epoch and last_epoch are allowed in data.train only",
            ),
        ];
        all_hold(&checks)
    }
}
