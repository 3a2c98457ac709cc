//! The keys of a config, as the fields of its structs declare them.

use super::schema::Config;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// What happens if a key has changed when a run is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResumePolicy {
    /// The result stays the same.
    Free,
    /// The run resumes with a warning; its result differs from the one without the change.
    Warned,
    /// The run is not resumed: the weights, the optimiser's moments or the position would not fit.
    Refused,
}

/// A key of a config.
#[derive(Debug)]
pub struct ConfigKey {
    /// Its dotted name, without numbers of sources: `data.train.file`.
    pub name: String,
    /// Whether its section needs it.
    pub is_required: bool,
    /// What is known of it: type, bounds, `default`, `description`, `x-resume`.
    pub schema: Value,
}

impl ConfigKey {
    /// What happens if it has changed at resume. Every key of [`keys`] says it.
    pub fn resume(&self) -> Option<ResumePolicy> {
        ResumePolicy::deserialize(self.schema.get("x-resume")?).ok()
    }
}

/// The JSON Schema of a config, as `docs/schemas/config.json` has it.
pub fn json_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let mut schema = settings.into_generator().into_root_schema_for::<Config>();
        RecursiveTransform(simplify).transform(&mut schema);
        schema.to_value()
    });
    &SCHEMA
}

/// Every key, in the order of the fields.
pub fn keys() -> &'static [ConfigKey] {
    static KEYS: LazyLock<Vec<ConfigKey>> = LazyLock::new(|| {
        let mut keys = Vec::new();
        collect("", json_schema(), &mut keys);
        keys
    });
    &KEYS
}

/// Whether this section (`model.detector`) has this key, or a section of this name.
pub(super) fn has_key(section: &str, name: &str) -> bool {
    let path = format!("/properties/{}/properties", section.replace('.', "/properties/"));
    json_schema().pointer(&path).is_some_and(|keys| keys.get(name).is_some())
}

fn collect(prefix: &str, section: &Value, keys: &mut Vec<ConfigKey>) {
    let required = section["required"].as_array();
    for (name, schema) in section["properties"].as_object().into_iter().flatten() {
        let one = schema.pointer("/anyOf/0").unwrap_or(schema); // one source, which may also be a list of several
        if one.get("properties").is_some() {
            collect(&format!("{prefix}{name}."), one, keys);
        } else {
            let is_required = required.is_some_and(|required| required.iter().any(|key| key == name));
            keys.push(ConfigKey { name: format!("{prefix}{name}"), is_required, schema: schema.clone() });
        }
    }
}

/// Leaves out what says nothing in TOML: Rust's names of numbers, `null`, line ends of comments, and the defaults of
/// sections, whose keys have their own.
fn simplify(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.retain(|name, value| name != "format" && !(name == "default" && value.is_object()));
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some([kind, _null]) = schema.get("type").and_then(Value::as_array).map(Vec::as_slice) {
        schema["type"] = kind.clone();
    }
    let null = json!({ "type": "null" });
    if schema.get("anyOf").and_then(|either| either.get(1)).is_some_and(|second| *second == null) {
        let either = schema.shift_remove("anyOf");
        let inner = either.as_ref().and_then(|either| either[0].as_object()).cloned().unwrap_or_default();
        for (name, value) in inner {
            schema.entry(name).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_key_says_what_it_means_and_what_happens_at_resume() {
        assert!(keys().len() > 50);
        for key in keys() {
            assert!(key.resume().is_some(), "{}: x-resume", key.name);
            assert!(key.schema["description"].is_string(), "{}: a doc comment", key.name);
            let has_default = ["default", "x-default"].iter().any(|word| key.schema.get(word).is_some());
            assert!(has_default || key.is_required, "{}: a default, x-default where it has none", key.name);
        }
    }

    /// Values just outside the bounds that a key declares.
    fn outside(schema: &Value) -> Vec<String> {
        let is_integer = schema["type"] == "integer";
        let beyond = [("minimum", -1.), ("exclusiveMinimum", 0.), ("maximum", 1.), ("exclusiveMaximum", 0.)];
        let values = beyond.into_iter().filter_map(|(bound, step)| Some(schema.get(bound)?.as_f64()? + step));
        values.map(|value| if is_integer { value.to_string() } else { format!("{value:?}") }).collect()
    }

    /// What must be set for the key to be allowed.
    fn needed(key: &str) -> Option<&str> {
        let needs = [
            ("data.leave_out.", "data.leave_out={ fold = 1, of = 2 }"),
            ("data.train.synthetic.", "data.train={ synthetic = { lang = 'en', pairs_per_epoch = 2 } }"),
            ("model.detector.sentence_layers", "model.detector={ kind = 'joint', context = 'story' }"),
        ];
        needs.into_iter().find_map(|(start, setting)| key.starts_with(start).then_some(setting))
    }

    #[test]
    fn every_bound_that_a_key_declares_is_checked() {
        let config =
            "encoder.path = 'e'\n[data]\ntrain = { file = 'f', split = 's' }\ndev = { file = 'f', split = 's' }";
        let set = |settings: &[String]| Config::parse(Path::new("config"), config.as_bytes(), settings);
        let mut checked = 0;
        for key in keys() {
            for value in outside(&key.schema) {
                let needed = needed(&key.name).map(str::to_owned);
                assert!(needed.as_ref().is_none_or(|needed| set(std::slice::from_ref(needed)).is_ok()), "{needed:?}");
                let settings: Vec<_> = needed.into_iter().chain([format!("{}={value}", key.name)]).collect();
                let error = set(&settings).unwrap_err().message;
                let is_of_bound =
                    !["unknown field", "missing field", "needs"].iter().any(|words| error.contains(words));
                assert!(is_of_bound, "{settings:?}: {error}");
                checked += 1;
            }
        }
        assert!(checked > 40, "{checked}");
    }
}
