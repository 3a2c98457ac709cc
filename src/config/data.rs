//! `[data]`: the splits of story files to train on, and to choose the epoch on.

use super::check::all_hold;
use crate::data::{Fold, Kind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;

/// The section `[data]` of a config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// The pairs to train on; weights and epochs are per source.
    #[schemars(schema_with = "train_sources")]
    pub train: Sources,
    /// The pairs on which the best epoch is chosen. Without them the last epoch is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "dev_sources")]
    pub dev: Option<Sources>,
    /// Leave out one of several folds of the story groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_out: Option<Fold>,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataSource {
    // `x-dev` says what differs in `data.dev`. A field without it is a key of `data.train` only.
    /// Story file to train on.
    #[schemars(extend(
        "x-resume" = "free",
        "x-type" = "file",
        "x-dev" = {
            "x-default": "no dev",
            "description": "Story file on which the epoch is chosen; without it the last epoch is kept."
        }
    ))]
    pub file: PathBuf,
    /// The split of that file.
    #[schemars(extend("x-resume" = "refused", "x-dev" = { "x-resume": "warned", "x-default": "required with a file" }))]
    pub split: String,
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

/// The schema of `data.train`.
fn train_sources(generator: &mut SchemaGenerator) -> Schema {
    one_or_several(generator, |key| {
        key.shift_remove("x-dev");
        true
    })
}

/// The schema of `data.dev`.
fn dev_sources(generator: &mut SchemaGenerator) -> Schema {
    one_or_several(generator, |key| match key.shift_remove("x-dev") {
        Some(Value::Object(differing)) => {
            key.extend(differing);
            true
        }
        _ => false,
    })
}

/// One source or a list. `keep` adapts each key, and says whether it stays.
fn one_or_several(generator: &mut SchemaGenerator, keep: fn(&mut Map<String, Value>) -> bool) -> Schema {
    let mut one = DataSource::json_schema(generator);
    let properties = one.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().for_each(|keys| keys.retain(|_, key| key.as_object_mut().is_some_and(keep)));
    json_schema!({ "anyOf": [one, { "type": "array", "minItems": 1, "items": one }] })
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
        if self.leave_out.is_some_and(|fold| !fold.exists()) {
            return Err("data.leave_out: of must be at least 2, and fold from 1 to of".into());
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
