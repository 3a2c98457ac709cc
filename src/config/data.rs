//! `[data]`: the pairs to train on, and to choose the epoch on.

use super::source::DataSource;
use crate::data::Fold;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;

/// The section `[data]` of a config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct DataConfig {
    /// The pairs to train on; weights and epochs are per source.
    #[schemars(schema_with = "train_sources")]
    pub train: Sources,
    /// The pairs on which the best epoch is chosen. Without them the last epoch is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "dev_sources")]
    pub dev: Option<Sources>,
    /// Threads that make or read the pairs of the next steps, if a source is `synthetic` or has `streaming`; where a GPU
    /// trains, they make batches of them too. Their number changes no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 1, max = MAX_WORKERS),
        extend("x-resume" = "free", "x-default" = "a quarter of the cores, from 1 to 4")
    )]
    pub workers: Option<usize>,
    /// Leave out one of several folds of the story groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_out: Option<Fold>,
}

/// The largest number of `data.workers`.
const MAX_WORKERS: usize = 256;

/// One source of pairs, or a list of several.
#[derive(Debug, Clone, PartialEq)]
pub struct Sources(pub Vec<DataSource>);

impl Sources {
    /// The names of the files, as the config writes them.
    pub fn files(&self) -> String {
        self.listed(DataSource::name)
    }

    /// The names of the files without their folders, which may be private.
    pub fn file_names(&self) -> String {
        self.listed(|source| source.name().rsplit('/').next().unwrap_or_default().to_owned())
    }

    /// The names of the splits.
    pub fn splits(&self) -> String {
        self.listed(|source| source.split_name().to_owned())
    }

    /// Whether a source is not read into memory as a whole.
    pub fn are_streamed(&self) -> bool {
        self.0.iter().any(|source| source.streaming || source.synthetic.is_some())
    }

    /// Each name once, in the order of the sources.
    fn listed(&self, name: impl Fn(&DataSource) -> String) -> String {
        let mut names: Vec<String> = Vec::new();
        for name in self.0.iter().map(name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
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
                f.write_str("a table with `file` and `split` or with `synthetic`, or a list of such tables")
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

impl DataConfig {
    /// The number of threads that make or read pairs, on a machine with so many cores.
    pub fn workers(&self, cores: usize) -> usize {
        self.workers.unwrap_or((cores / 4).clamp(1, 4))
    }

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
        if self.workers.is_some_and(|workers| !(1..=MAX_WORKERS).contains(&workers)) {
            return Err(format!("data.workers must be from 1 to {MAX_WORKERS}"));
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
