//! `[data]`: the splits of story files to train on, and to choose the epoch on.

use super::check::all_hold;
use crate::data::Kind;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;

/// The section `[data]` of a config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// The pairs to train on; weights and epochs are per source.
    pub train: Sources,
    /// The pairs on which the best epoch is chosen. Without them the last epoch is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<Sources>,
}

/// One split of a story file, or a list of several.
#[derive(Debug, Clone, PartialEq)]
pub struct Sources(pub Vec<DataSource>);

impl Sources {
    /// The names of the files, as the config writes them.
    pub fn files(&self) -> String {
        self.listed(|source| source.file.display().to_string())
    }

    /// The names of the splits.
    pub fn splits(&self) -> String {
        self.listed(|source| source.split.clone())
    }

    /// Each name once, in the order of the sources.
    fn listed(&self, name: impl Fn(&DataSource) -> String) -> String {
        let mut names: Vec<String> = self.0.iter().map(name).collect();
        names.dedup();
        names.join(", ")
    }
}

impl Serialize for Sources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Sources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrSeveral;

        impl<'de> Visitor<'de> for OneOrSeveral {
            type Value = Sources;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a table with `file` and `split`, or a list of such tables")
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Sources, M::Error> {
                DataSource::deserialize(MapAccessDeserializer::new(map)).map(|one| Sources(vec![one]))
            }

            fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<Sources, S::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Sources)
            }
        }

        deserializer.deserialize_any(OneOrSeveral)
    }
}

/// One split of a story file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSource {
    /// `${NAME}` stands for an environment variable.
    pub file: PathBuf,
    /// The name of the split in the file, such as "train".
    pub split: String,
    /// If set, only pairs of this kind are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// If set, only this many pairs are read: the first ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<usize>,
    /// How often each pair is seen in an epoch of training. If absent, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The first and last epoch that train on this source, counted from 1. If absent, all epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_epoch: Option<u64>,
    /// The last of these epochs, included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_epoch: Option<u64>,
}

impl DataSource {
    /// The first and the last epoch that train on this source, counted from 1.
    fn epochs(&self) -> (u64, u64) {
        (self.first_epoch.unwrap_or(1), self.last_epoch.unwrap_or(u64::MAX))
    }

    /// # Errors
    /// A value that has the right type but is invalid.
    fn validate(&self, is_trained_on: bool) -> Result<(), &'static str> {
        let (first, last) = self.epochs();
        let of_training = [self.weight.is_some(), self.first_epoch.is_some(), self.last_epoch.is_some()];
        let checks = [
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

impl DataConfig {
    /// # Errors
    /// An empty list, an invalid source, or an epoch that no source covers.
    pub(super) fn validate(&self, epochs: u64) -> Result<(), String> {
        let Sources(train) = &self.train;
        let dev = self.dev.as_ref().map_or(&[][..], |Sources(dev)| dev);
        if train.is_empty() || self.dev.is_some() && dev.is_empty() {
            return Err("data: a list of sources must not be empty; for no dev pairs, leave data.dev out".into());
        }
        for (name, sources, is_trained_on) in [("data.train", train.as_slice(), true), ("data.dev", dev, false)] {
            let valid = sources.iter().try_for_each(|source| source.validate(is_trained_on));
            valid.map_err(|problem| format!("{name}: {problem}"))?;
        }
        match idle_epoch(train, epochs) {
            Some(epoch) => Err(format!("data.train: no source covers epoch {epoch}; check first_epoch and last_epoch")),
            None => Ok(()),
        }
    }
}

/// The first epoch that no source covers, of `epochs` epochs.
fn idle_epoch(train: &[DataSource], epochs: u64) -> Option<u64> {
    let mut trained: Vec<(u64, u64)> = train.iter().map(DataSource::epochs).collect();
    trained.sort_unstable();
    let follows = |upto: u64, (first, last)| if first <= upto.saturating_add(1) { upto.max(last) } else { upto };
    let upto = trained.into_iter().fold(0, follows);
    (upto < epochs).then(|| upto + 1)
}
