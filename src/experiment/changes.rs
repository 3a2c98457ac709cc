//! Which keys of a config may change when a run is resumed.

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::machine::PrecisionChoice;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// What changing a key at a resume comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The result is the same.
    Free,
    /// It goes on, and ends otherwise than without the change.
    Warned,
    /// The weights, the moments or the position would not fit: that is another run.
    Refused,
}

impl Change {
    /// The word of `docs/config.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Change::Free => "free",
            Change::Warned => "warned",
            Change::Refused => "refused",
        }
    }
}

/// Every key of a config. What the files of `data` hold is compared by SHA-256, wherever they are.
pub const KEYS: [(&str, Change); 59] = [
    ("seed", Change::Refused),
    ("device", Change::Warned),
    ("precision", Change::Warned),
    ("threads", Change::Warned),
    ("deterministic", Change::Warned),
    ("init_from", Change::Free),
    ("encoder.path", Change::Free),
    ("encoder.freeze", Change::Refused),
    ("data.train.file", Change::Free),
    ("data.train.split", Change::Refused),
    ("data.train.kind", Change::Refused),
    ("data.train.pairs", Change::Refused),
    ("data.train.weight", Change::Refused),
    ("data.train.first_epoch", Change::Refused),
    ("data.train.last_epoch", Change::Refused),
    ("data.dev.file", Change::Free),
    ("data.dev.split", Change::Warned),
    ("data.dev.kind", Change::Warned),
    ("data.dev.pairs", Change::Warned),
    ("model.max_sentences", Change::Refused),
    ("model.dropout", Change::Refused),
    ("model.output_bias", Change::Refused),
    ("model.state_context", Change::Refused),
    ("model.detector.kind", Change::Refused),
    ("model.detector.inputs", Change::Refused),
    ("model.detector.context", Change::Refused),
    ("model.detector.pair_width", Change::Refused),
    ("model.detector.sentence_layers", Change::Refused),
    ("model.detector.entities", Change::Refused),
    ("model.detector.layers", Change::Refused),
    ("model.detector.norm", Change::Refused),
    ("model.detector.residual_scale", Change::Refused),
    ("model.detector.standardize", Change::Refused),
    ("model.detector.width", Change::Refused),
    ("model.detector.heads", Change::Refused),
    ("model.detector.feed_forward", Change::Refused),
    ("loss.preconditions", Change::Warned),
    ("loss.effects", Change::Warned),
    ("loss.conflicts", Change::Warned),
    ("loss.story", Change::Warned),
    ("loss.alone", Change::Refused),
    ("loss.normalization", Change::Warned),
    ("train.epochs", Change::Warned),
    ("train.pairs_per_step", Change::Refused),
    ("train.entities", Change::Warned),
    ("train.state_inputs", Change::Warned),
    ("train.metric_for_best_model", Change::Warned),
    ("train.patience", Change::Warned),
    ("train.learning_rate", Change::Warned),
    ("train.head_learning_rate", Change::Warned),
    ("train.schedule", Change::Warned),
    ("train.warmup", Change::Warned),
    ("train.adamw.beta1", Change::Warned),
    ("train.adamw.beta2", Change::Warned),
    ("train.adamw.epsilon", Change::Warned),
    ("train.adamw.weight_decay", Change::Warned),
    ("train.adamw.clip_norm", Change::Warned),
    ("checkpoint.every", Change::Free),
    ("checkpoint.keep", Change::Free),
];

/// Fills what `wanted` leaves open with what the run resolved it to.
pub fn resolve_as(run: &Config, wanted: &mut Config) {
    if wanted.precision == PrecisionChoice::Auto {
        wanted.precision = run.precision;
    }
    wanted.model.max_sentences = wanted.model.max_sentences.or(run.model.max_sentences);
}

/// Compares the config of a run with the one it is to be resumed with, and returns the warnings.
///
/// # Errors
/// `Config`, naming every key that must not change.
pub fn compare(run: &Config, wanted: &Config) -> Result<Vec<String>> {
    let changes: BTreeMap<&str, Change> = KEYS.into_iter().collect();
    let (then, now) = (flat(run)?, flat(wanted)?);
    let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let (mut warned, mut refused) = (Vec::new(), Vec::new());
    for key in keys.into_iter().filter(|key| then.get(*key) != now.get(*key)) {
        let value = |of: &BTreeMap<String, Value>| of.get(key).map_or("not set".to_owned(), Value::to_string);
        let words = format!("{key}: {} then, {} now", value(&then), value(&now));
        match changes.get(without_number(key).as_str()) {
            Some(Change::Free) => {}
            Some(Change::Warned) => warned.push(format!("{words}; it ends otherwise than without the change")),
            Some(Change::Refused) | None => refused.push(words),
        }
    }
    match refused.is_empty() {
        true => Ok(warned),
        false => Err(Error::config(format!(
            "these keys can't change when a run is resumed (docs/config.md); start another run with --out:\n  {}",
            refused.join("\n  ")
        ))),
    }
}

/// The keys that are set, by their dotted names.
pub fn flat(config: &Config) -> Result<BTreeMap<String, Value>> {
    let table = Table::try_from(config)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the config can't be written: {error}")))?;
    let mut keys = BTreeMap::new();
    flatten("", table, &mut keys);
    Ok(keys)
}

/// The name that a key of a list of tables has in [`KEYS`]: `data.train[2].file` -> `data.train.file`.
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
