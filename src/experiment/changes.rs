//! Which keys of a config may change when a run is resumed.

use crate::config::{Config, ResumePolicy, keys};
use crate::error::{Error, ErrorKind, Result};
use crate::machine::PrecisionChoice;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

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
    let policies: BTreeMap<&str, _> = keys().iter().map(|key| (key.name.as_str(), key.resume())).collect();
    let (then, now) = (flat(run)?, flat(wanted)?);
    let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let (mut warned, mut refused) = (Vec::new(), Vec::new());
    for key in keys.into_iter().filter(|key| then.get(*key) != now.get(*key)) {
        let value = |of: &BTreeMap<String, Value>| of.get(key).map_or("not set".to_owned(), Value::to_string);
        let words = format!("{key}: {} then, {} now", value(&then), value(&now));
        match policies.get(without_number(key).as_str()).copied().flatten() {
            Some(ResumePolicy::Free) => {}
            Some(ResumePolicy::Warned) if key == "train.metric_for_best_model" => {
                warned.push(format!("{words}; the best epoch so far stays until a later one is better by this tier"))
            }
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

/// The name in [`keys`] of a key in a list of tables: `data.train[2].file` -> `data.train.file`.
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
