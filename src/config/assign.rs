//! `--set KEY=VALUE`.

use super::keys::keys;
use crate::error::{Error, Result};
use crate::untrusted::shown;
use toml::{Table, Value};

/// Sets one dotted key. The value is parsed as TOML; if that fails, it is a string. An empty value takes the key or section
/// out, so that its default holds.
pub(super) fn set(table: &mut Table, assignment: &str) -> Result<()> {
    let wrong = |problem: String| Error::config(format!("--set {}: {problem}", shown(assignment, 100)));
    let malformed = || wrong("must be key=value, e.g. train.epochs=3".into());
    let (key, text) = assignment.split_once('=').ok_or_else(malformed)?;
    let parsed: Result<Table, _> = toml::from_str(&format!("value = {text}"));
    let value = parsed.ok().and_then(|mut t| t.remove("value")).unwrap_or_else(|| Value::String(text.to_owned()));
    let is_default = value.as_str() == Some("") && is_optional(key.trim());
    let mut parts: Vec<&str> = key.trim().split('.').collect();
    let last = parts.pop().filter(|last| !last.is_empty()).ok_or_else(malformed)?;
    let mut table = table;
    for part in parts {
        if is_default && !table.contains_key(part) {
            return Ok(());
        }
        let entry = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
        let is_list = entry.is_array();
        table = entry.as_table_mut().ok_or_else(|| match is_list {
            true => wrong(format!("{} is a list here; set the whole list, or change the file", shown(part, 100))),
            false => wrong(format!("{} is not a section", shown(part, 100))),
        })?;
    }
    if is_default {
        table.remove(last);
    } else {
        table.insert(last.to_owned(), value);
    }
    Ok(())
}

/// Whether there is a section of this name, or a key that may be left out. Others must stay in the table, to be refused.
fn is_optional(name: &str) -> bool {
    let is_section_of = |key: &str| key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    keys().iter().any(|key| (key.name == name && !key.is_required) || is_section_of(&key.name))
}
