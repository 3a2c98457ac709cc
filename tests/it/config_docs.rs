//! What docs/ says of the keys of a config is what the structs declare: the table of docs/config.md, and
//! docs/schemas/config.json. `make snapshots` writes both anew.

use serde_json::Value;
use snapbox::{Data, assert_data_eq, data::DataFormat};
use std::path::{Path, PathBuf};
use tiered::config::{ConfigKey, json_schema, keys};

const BEGIN: &str = "<!-- keys: make snapshots -->\n";
const END: &str = "<!-- end of keys -->";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of docs/ that must have this text.
fn assert_written(text: String, name: &str) {
    let written = Data::read_from(&root().join("docs").join(name), Some(DataFormat::Text));
    assert_data_eq!(text, written.raw());
}

#[test]
fn the_table_of_keys_is_up_to_date() {
    let text = std::fs::read_to_string(root().join("docs/config.md")).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let rows: String = keys().iter().map(row).collect();
    let header = "| key | type | default | at resume | meaning |\n|---|---|---|---|---|\n";
    assert_written(format!("{head}{BEGIN}\n{header}{rows}\n{END}{tail}"), "config.md");
}

#[test]
fn the_schema_is_up_to_date() {
    assert!(jsonschema::draft202012::meta::is_valid(json_schema()));
    assert_written(format!("{:#}\n", json_schema()), "schemas/config.json");
}

/// A config with values that no config of configs/ has.
const RARE: &str = "device = 'cuda:1'
[encoder]
path = 'e'
freeze = ['embeddings', 'layers:6', 'encoder']
[[data.train]]
file = 'f'
split = 's'
kind = 'order'
weight = 0.5
[[data.train]]
file = 'g'
split = 's'
first_epoch = 2
[train]
[checkpoint]
every = '20 minutes'
";

#[test]
fn the_schema_accepts_every_config_that_ships_and_refuses_other_keys() {
    let validator = jsonschema::draft202012::new(json_schema()).unwrap();
    let files = std::fs::read_dir(root().join("configs")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert!(files.len() > 10);
    let read = |path: &PathBuf| (path.display().to_string(), std::fs::read_to_string(path).unwrap());
    for (name, text) in files.iter().map(read).chain([("rare".to_owned(), RARE.to_owned())]) {
        let mut config: Value = toml::from_str(&text).unwrap();
        let problems: Vec<String> =
            validator.iter_errors(&config).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(problems.is_empty(), "{name}: {}", problems.join("\n"));
        config["train"]["epoch"] = 1.into();
        assert!(!validator.is_valid(&config), "{name}");
    }
}

fn row(key: &ConfigKey) -> String {
    let resume = key.schema["x-resume"].as_str().unwrap();
    format!("| `{}` | {} | {} | {resume} | {} |\n", key.name, kind(key), default(key), meaning(key))
}

/// The type in words.
fn kind(key: &ConfigKey) -> String {
    if let Some(words) = key.schema["x-type"].as_str() {
        return words.to_owned();
    }
    if let Some(choices) = key.schema["oneOf"].as_array() {
        let names: Vec<String> = choices.iter().map(|choice| code(choice["const"].as_str().unwrap())).collect();
        return names.join(", ");
    }
    match key.schema["type"].as_str().unwrap() {
        "array" => "list".into(),
        "boolean" => "true, false".into(),
        "integer" => format!("integer {}", bounds(&key.schema)).trim().into(),
        "number" => bounds(&key.schema),
        other => other.into(),
    }
}

/// What a number may be.
fn bounds(schema: &Value) -> String {
    let [least, above, most, below] =
        ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"].map(|bound| schema.get(bound).map(number));
    match (least.as_deref(), above.as_deref(), most.as_deref(), below.as_deref()) {
        (Some("1"), None, None, None) => "> 0".into(),
        (Some(least), None, None, None) => format!(">= {least}"),
        (None, Some(above), None, None) => format!("> {above}"),
        (Some(least), None, Some(most), None) => format!("from {least} to {most}"),
        (Some(least), None, None, Some(below)) => format!("{least} to below {below}"),
        (None, Some(above), Some(most), None) => format!("above {above} to {most}"),
        _ => panic!("no words for the bounds of {schema}"),
    }
}

fn default(key: &ConfigKey) -> String {
    match (key.schema["x-default"].as_str(), &key.schema["default"]) {
        (Some(words), _) => words.to_owned(),
        (None, Value::Null) => "required".into(),
        (None, Value::String(text)) => code(text),
        (None, Value::Array(items)) if items.is_empty() => code("[]"),
        (None, value) => number(value),
    }
}

/// A number without a fraction of 0, with commas in millions; other values as they are.
fn number(value: &Value) -> String {
    let text = match value.as_f64() {
        Some(small) if small > 0. && small < 1e-3 => format!("{small:e}"),
        _ => value.to_string(),
    };
    let text = text.strip_suffix(".0").unwrap_or(&text);
    match text.parse::<u64>() {
        Ok(large) if large >= 1_000_000 => {
            let digits: Vec<&str> =
                text.as_bytes().rchunks(3).rev().map(|three| str::from_utf8(three).unwrap()).collect();
            digits.join(",")
        }
        _ => text.to_owned(),
    }
}

/// The doc comment as a cell of the table: no capital, no full stop, links to other documents.
fn meaning(key: &ConfigKey) -> String {
    let text = key.schema["description"].as_str().unwrap();
    let text = text.strip_suffix('.').unwrap_or(text).replace('|', "\\|");
    let parts = text.split('`').enumerate().map(|(i, part)| match part.strip_prefix("docs/") {
        Some(link) if i % 2 == 1 => format!("[{}]({link})", link.split('#').next().unwrap()),
        _ if i % 2 == 1 => code(part),
        _ => part.to_owned(),
    });
    let text: String = parts.collect();
    let first = text.chars().next().unwrap();
    first.to_lowercase().chain(text.chars().skip(1)).collect()
}

fn code(text: &str) -> String {
    format!("`{text}`")
}
