//! Which keys of a config may change when a run is resumed.

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::machine::PrecisionChoice;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// What happens if a key has changed when a run is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumePolicy {
    /// The result stays the same.
    Free,
    /// The run resumes with a warning; its result differs from the one without the change.
    Warned,
    /// The run is not resumed: the weights, the optimiser's moments or the position would not fit.
    Refused,
}

impl ResumePolicy {
    /// The word used in `docs/config.md`.
    pub const fn name(self) -> &'static str {
        match self {
            ResumePolicy::Free => "free",
            ResumePolicy::Warned => "warned",
            ResumePolicy::Refused => "refused",
        }
    }
}

/// Every key of a config. The contents of `data` files are compared by SHA-256, wherever the files are.
pub const KEYS: [(&str, ResumePolicy); 59] = [
    ("seed", ResumePolicy::Refused),
    ("device", ResumePolicy::Warned),
    ("precision", ResumePolicy::Warned),
    ("threads", ResumePolicy::Warned),
    ("deterministic", ResumePolicy::Warned),
    ("init_from", ResumePolicy::Free),
    ("encoder.path", ResumePolicy::Free),
    ("encoder.freeze", ResumePolicy::Refused),
    ("data.train.file", ResumePolicy::Free),
    ("data.train.split", ResumePolicy::Refused),
    ("data.train.kind", ResumePolicy::Refused),
    ("data.train.pairs", ResumePolicy::Refused),
    ("data.train.weight", ResumePolicy::Refused),
    ("data.train.first_epoch", ResumePolicy::Refused),
    ("data.train.last_epoch", ResumePolicy::Refused),
    ("data.dev.file", ResumePolicy::Free),
    ("data.dev.split", ResumePolicy::Warned),
    ("data.dev.kind", ResumePolicy::Warned),
    ("data.dev.pairs", ResumePolicy::Warned),
    ("model.max_sentences", ResumePolicy::Refused),
    ("model.dropout", ResumePolicy::Refused),
    ("model.output_bias", ResumePolicy::Refused),
    ("model.state_context", ResumePolicy::Refused),
    ("model.detector.kind", ResumePolicy::Refused),
    ("model.detector.inputs", ResumePolicy::Refused),
    ("model.detector.context", ResumePolicy::Refused),
    ("model.detector.pair_width", ResumePolicy::Refused),
    ("model.detector.sentence_layers", ResumePolicy::Refused),
    ("model.detector.entities", ResumePolicy::Refused),
    ("model.detector.layers", ResumePolicy::Refused),
    ("model.detector.norm", ResumePolicy::Refused),
    ("model.detector.residual_scale", ResumePolicy::Refused),
    ("model.detector.standardize", ResumePolicy::Refused),
    ("model.detector.width", ResumePolicy::Refused),
    ("model.detector.heads", ResumePolicy::Refused),
    ("model.detector.feed_forward", ResumePolicy::Refused),
    ("loss.preconditions", ResumePolicy::Warned),
    ("loss.effects", ResumePolicy::Warned),
    ("loss.conflicts", ResumePolicy::Warned),
    ("loss.story", ResumePolicy::Warned),
    ("loss.single_story", ResumePolicy::Refused),
    ("loss.normalization", ResumePolicy::Warned),
    ("train.epochs", ResumePolicy::Warned),
    ("train.pairs_per_step", ResumePolicy::Refused),
    ("train.entities", ResumePolicy::Warned),
    ("train.state_sample_ratio", ResumePolicy::Warned),
    ("train.metric_for_best_model", ResumePolicy::Warned),
    ("train.patience", ResumePolicy::Warned),
    ("train.learning_rate", ResumePolicy::Warned),
    ("train.head_learning_rate", ResumePolicy::Warned),
    ("train.schedule", ResumePolicy::Warned),
    ("train.warmup", ResumePolicy::Warned),
    ("train.adamw.beta1", ResumePolicy::Warned),
    ("train.adamw.beta2", ResumePolicy::Warned),
    ("train.adamw.epsilon", ResumePolicy::Warned),
    ("train.adamw.weight_decay", ResumePolicy::Warned),
    ("train.adamw.clip_norm", ResumePolicy::Warned),
    ("checkpoint.every", ResumePolicy::Free),
    ("checkpoint.keep", ResumePolicy::Free),
];

/// Sets what `wanted` leaves unset to what the run resolved it to.
pub fn resolve_as(run: &Config, wanted: &mut Config) {
    if wanted.precision == PrecisionChoice::Auto {
        wanted.precision = run.precision;
    }
    wanted.model.max_sentences = wanted.model.max_sentences.or(run.model.max_sentences);
}

/// Compares the config of a run with the one to resume it with; returns the warnings.
///
/// # Errors
/// `Config`, naming every key that must not change.
pub fn compare(run: &Config, wanted: &Config) -> Result<Vec<String>> {
    let changes: BTreeMap<&str, ResumePolicy> = KEYS.into_iter().collect();
    let (then, now) = (flat(run)?, flat(wanted)?);
    let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let (mut warned, mut refused) = (Vec::new(), Vec::new());
    for key in keys.into_iter().filter(|key| then.get(*key) != now.get(*key)) {
        let value = |of: &BTreeMap<String, Value>| of.get(key).map_or("not set".to_owned(), Value::to_string);
        let words = format!("{key}: {} then, {} now", value(&then), value(&now));
        match changes.get(without_number(key).as_str()) {
            Some(ResumePolicy::Free) => {}
            Some(ResumePolicy::Warned) => {
                warned.push(format!("{words}; the result will differ from that of an unchanged run"))
            }
            Some(ResumePolicy::Refused) | None => refused.push(words),
        }
    }
    match refused.is_empty() {
        true => Ok(warned),
        false => Err(Error::config(format!(
            "these keys can't change when a run is resumed (docs/config.md); start another run with --output:\n  {}",
            refused.join("\n  ")
        ))),
    }
}

/// The keys that are set, as dotted names.
pub fn flat(config: &Config) -> Result<BTreeMap<String, Value>> {
    let table = Table::try_from(config)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the config can't be written: {error}")))?;
    let mut keys = BTreeMap::new();
    flatten("", table, &mut keys);
    Ok(keys)
}

/// The name in [`KEYS`] of a key in a list of tables: `data.train[2].file` -> `data.train.file`.
fn without_number(key: &str) -> String {
    match (key.find('['), key.find(']')) {
        (Some(start), Some(end)) => format!("{}{}", &key[..start], &key[end + 1..]),
        _ => key.to_owned(),
    }
}

fn flatten(prefix: &str, table: Table, keys: &mut BTreeMap<String, Value>) {
    for (key, value) in table {
        match value {
            Value::Table(inner) => flatten(&format!("{prefix}{key}."), inner, keys),
            Value::Array(list) if list.iter().any(Value::is_table) => {
                for (number, item) in list.into_iter().enumerate() {
                    flatten(prefix, Table::from_iter([(format!("{key}[{}]", number + 1), item)]), keys);
                }
            }
            value => drop(keys.insert(format!("{prefix}{key}"), value)),
        }
    }
}
