//! Configs and tokenizers that came with an encoder or a run: what no model can be is an error, never a panic.

use super::timed;
use crate::support::{rng, stderr, text, tiered};
use crate::tiny::Tiny;
use rand::RngExt;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tiered::error::ErrorKind;
use tiered::experiment::RunFolder;
use tiered::model::EncoderConfig;
use tiered::tokenizer::InputTokenizer;

const TIME: Duration = Duration::from_secs(1);

const STRANGE: [&str; 14] = [
    "0",
    "-1",
    "1",
    "7",
    "9223372036854775807",
    "1e308",
    "1.5",
    "null",
    "true",
    "\"x\"",
    "[]",
    "{}",
    "[[[[0]]]]",
    "18446744073709551615",
];

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Sets every key below to every strange value in turn.
fn each_changed(value: &Value, mut on: impl FnMut(&str, &Value)) {
    fn pointers(value: &Value, prefix: String, all: &mut Vec<String>) {
        if let Value::Object(fields) = value {
            fields.iter().for_each(|(key, value)| {
                pointers(value, format!("{prefix}/{}", key.replace('~', "~0").replace('/', "~1")), all)
            });
        }
        all.push(prefix);
    }
    let mut places = Vec::new();
    pointers(value, String::new(), &mut places);
    for place in places {
        for strange in STRANGE {
            let mut changed = value.clone();
            *changed.pointer_mut(&place).unwrap() = serde_json::from_str(strange).unwrap();
            on(&format!("{place} = {strange}"), &changed);
        }
    }
}

/// Reading gives a value or a config error that names the file, without panic and at once.
fn check<T>(case: &str, file: &str, read: impl Fn() -> tiered::error::Result<T>) -> bool {
    let (outcome, time) = timed(TIME, read);
    assert!(time < TIME, "{case}: {time:?}");
    match outcome.unwrap_or_else(|| panic!("{case}: panicked")) {
        Ok(_) => false,
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Config, "{case}: {error}");
            assert!(error.message.contains(file) && error.message.len() < 1000, "{case}: {error}");
            true
        }
    }
}

#[test]
fn a_config_json_with_impossible_sizes() {
    let tiny = Tiny::new();
    let path = tiny.encoder().join("config.json");
    let mut refused = 0;
    each_changed(&json_of(&path), |case, config| {
        fs::write(&path, config.to_string()).unwrap();
        refused += usize::from(check(case, "config.json", || EncoderConfig::open(&path)));
    });
    assert!(refused > 100, "{refused}");
}

#[test]
fn no_attention_heads_are_no_division_by_zero() {
    let tiny = Tiny::new();
    let path = tiny.encoder().join("config.json");
    let mut config = json_of(&path);
    config["num_attention_heads"] = json!(0);
    fs::write(&path, config.to_string()).unwrap();
    let message = EncoderConfig::open(&path).unwrap_err().message;
    assert!(message.contains("num_attention_heads is 0; it must be from 1"), "{message}");
}

/// A folder with what a run has but weights.
fn run_folder(tiny: &Tiny) -> PathBuf {
    let run = tiny.path("shared-run");
    fs::create_dir_all(run.join("encoder")).unwrap();
    fs::copy(tiny.encoder().join("config.json"), run.join("encoder/config.json")).unwrap();
    let encoder = json_of(&tiny.encoder().join("config.json"));
    let model = json!({"encoder": encoder, "max_sentences": 5, "dropout": 0.1, "detector": {
        "kind": "paper", "inputs": "both", "context": "sentence", "layers": 1, "width": 64, "heads": 2,
        "feed_forward": 64, "pair_width": 8}});
    fs::write(run.join("model.json"), model.to_string()).unwrap();
    run
}

#[test]
fn a_model_json_with_impossible_sizes() {
    let tiny = Tiny::new();
    let run = run_folder(&tiny);
    let folder = RunFolder::open(&run).unwrap();
    folder.model_config().unwrap();
    let mut refused = 0;
    each_changed(&json_of(&run.join("model.json")), |case, model| {
        fs::write(run.join("model.json"), model.to_string()).unwrap();
        refused += usize::from(check(case, "model.json", || folder.model_config()));
    });
    assert!(refused > 100, "{refused}");
}

#[test]
fn files_of_any_depth_and_length() {
    let tiny = Tiny::new();
    let run = run_folder(&tiny);
    let folder = RunFolder::open(&run).unwrap();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(500_000), "]".repeat(500_000));
    let long = format!("\"{}\"", "x".repeat(300 << 20));
    let (config, tokenizer) = (tiny.encoder().join("config.json"), tiny.encoder().join("tokenizer.json"));
    for (case, text) in [("deep", deep), ("open", "[".repeat(900_000)), ("long", long), ("empty", String::new())] {
        fs::write(&config, &text).unwrap();
        assert!(check(case, "config.json", || EncoderConfig::open(&config)));
        fs::write(&tokenizer, &text).unwrap();
        assert!(check(case, "tokenizer.json", || InputTokenizer::open(&tokenizer)));
        fs::write(run.join("model.json"), &text).unwrap();
        let (outcome, time) = timed(TIME, || folder.model_config());
        let message = outcome.unwrap().unwrap_err().message;
        assert!(time < TIME && message.contains("model.json") && message.len() < 1000, "{message}");
    }
}

#[test]
fn damaged_tokenizers_are_errors() {
    let tiny = Tiny::new();
    let path = tiny.encoder().join("tokenizer.json");
    let good = json_of(&path);
    let mut small = good.clone();
    let words = small["model"]["vocab"].as_object_mut().unwrap();
    while words.len() > 6 {
        words.pop_last_entry();
    }
    let mut refused = 0;
    each_changed(&small, |case, tokenizer| {
        fs::write(&path, tokenizer.to_string()).unwrap();
        refused += usize::from(check(case, "tokenizer.json", || {
            InputTokenizer::open(&path)?.encode(vec![("Ada".into(), "Ada opened the chest.".into())]).or(Ok(Vec::new()))
        }));
    });
    assert!(refused > 50, "{refused}");
    let bytes = good.to_string().into_bytes();
    for seed in 0..300 {
        let (rng, mut bytes) = (&mut rng(seed), bytes.clone());
        let at = rng.random_range(0..bytes.len());
        bytes[at] = rng.random();
        fs::write(&path, bytes).unwrap();
        check(&format!("byte {at}"), "tokenizer.json", || InputTokenizer::open(&path));
    }
}

/// `serde_json` has no such thing for its ordered map.
trait PopLast {
    fn pop_last_entry(&mut self);
}

impl PopLast for serde_json::Map<String, Value> {
    fn pop_last_entry(&mut self) {
        let last = self.keys().next_back().cloned().unwrap();
        self.shift_remove(&last);
    }
}

#[test]
fn a_tokenizer_on_which_the_library_panics_is_an_error() {
    let tiny = Tiny::new();
    let path = tiny.encoder().join("tokenizer.json");
    let mut tokenizer = json_of(&path);
    tokenizer["normalizer"] = json!({"type": "Lowercase"});
    let good = tokenizer.to_string();
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for text in [
        good.replacen("\"decoder\":null", "\"decoder\":nonsense", 1),
        good.replacen("\"decoder\":null", &format!("\"decoder\":{deep}"), 1),
    ] {
        assert_ne!(text, good);
        fs::write(&path, text).unwrap();
        assert!(check("decoder", "tokenizer.json", || InputTokenizer::open(&path)));
    }
}

#[test]
fn a_tokenizer_of_another_encoder_is_refused() {
    let tiny = Tiny::new();
    let path = tiny.encoder().join("tokenizer.json");
    let mut tokenizer = json_of(&path);
    let words = tokenizer["model"]["vocab"].as_object_mut().unwrap();
    words.values_mut().skip(4).for_each(|id| *id = json!(id.as_u64().unwrap() + 1000));
    fs::write(&path, tokenizer.to_string()).unwrap();
    let output = tiny.train("run", &["--dry-run"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(78), "{message}");
    assert!(
        message.contains("the encoder's vocab_size is")
            && message.contains("use the tokenizer.json and the config.json of the same model"),
        "{message}"
    );
}

/// Hugging Face gives tokens with the padding's id no position of their own.
#[test]
fn a_tokenizer_whose_first_token_has_the_id_of_the_padding_is_refused() {
    let tiny = Tiny::new();
    let path = tiny.encoder().join("config.json");
    let mut config = json_of(&path);
    config["pad_token_id"] = json!(0);
    fs::write(&path, config.to_string()).unwrap();
    let output = tiny.train("run", &["--dry-run"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(78), "{message}");
    assert!(
        message.contains("the tokenizer produces a token with the encoder's pad_token_id, 0; use the"),
        "{message}"
    );
}

#[test]
fn threads_without_end_are_refused() {
    let tiny = Tiny::new();
    let output = tiny.train("run", &["--set", "threads=4294967295"]);
    assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
}

#[test]
fn a_config_of_any_depth_and_length() {
    let tiny = Tiny::new();
    let config = tiny.path("hostile.toml");
    let tables = format!("[{}a]", "a.".repeat(300_000));
    for text_of in
        ["#".repeat(2 << 20), format!("a = {}", "[".repeat(900_000)), format!("a{} = 1", ".a".repeat(400_000)), tables]
    {
        fs::write(&config, text_of).unwrap();
        let output = tiered(["train", "--config", text(&config), "--output", text(&tiny.path("run"))]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(78), "{}", &message[..message.len().min(500)]);
        assert!(message.contains("hostile.toml"), "{}", &message[..message.len().min(500)]);
    }
}
