//! The fuzz targets: what must hold for any bytes that one reads.

use std::io::Cursor;
use std::path::Path;
use std::time::Duration;
use tiered::checkpoint::Manifest;
use tiered::config::{Config, expand};
use tiered::data::{Sentences, pairs, read_bytes, read_plain};
use tiered::decode::Decode;
use tiered::error::ErrorKind;
use tiered::metrics::{StateCounts, TierCounts};
use tiered::model::header::Header;
use tiered::prediction::{mean_predictions, parse_predictions, write_lines};
use tiered::sweep::SweepFile;
use tiered::tokenizer::{InputTokenizer, tokenizer_json};
use tiered::untrusted;
use tiered::untrusted::{MAX_EPOCHS, MAX_RUNS};

/// What the file is called in messages.
const NAME: &str = "hostile";

/// A message names the file, and shows little of it and nothing that could deceive.
fn refused(message: &str) {
    assert!(message.starts_with(NAME), "{message}");
    assert!(message.len() < 4000 && !message.chars().any(char::is_control), "{message}");
}

/// The same of a message that quotes a line of a TOML file beneath.
fn refused_toml(message: &str) {
    assert!(message.starts_with(NAME) && message.lines().count() < 8, "{message}");
    assert!(message.lines().all(|line| line.len() < 4000 && !line.chars().any(char::is_control)), "{message}");
}

/// Reads bytes as a story file, and as stories that a person types.
pub fn stories(bytes: &[u8]) {
    match read_bytes(Path::new(NAME), bytes) {
        Err(error) => refused(&error.message),
        Ok(file) => {
            file.findings.iter().for_each(|finding| refused(&finding.to_string()));
            for (_, stories) in &file.splits {
                for story in stories {
                    let sentences = story.sentences.len();
                    assert!(sentences > 0 && !story.entities.is_empty());
                    assert!(story.entities.iter().all(|entity| entity.effects.len() == sentences));
                }
                for pair in pairs(stories, 0) {
                    assert!(pair.conflict.evidence < pair.conflict.breakpoint);
                    assert!(pair.conflict.breakpoint < pair.implausible_story().sentences.len());
                }
            }
        }
    }
    if let Ok(text) = untrusted::text(bytes) {
        for sentences in [Sentences::AsGiven, Sentences::Split] {
            if let Err(error) = read_plain(text, NAME, &[], sentences, &|_| Vec::new()) {
                refused(&error.message);
            }
        }
    }
}

/// Reads bytes as a safetensors file. What is read, the safetensors crate reads too, and finds the same.
pub fn safetensors_header(bytes: &[u8]) {
    match Header::read(&mut Cursor::new(bytes), bytes.len() as u64) {
        Err(error) => {
            assert!([ErrorKind::Refused, ErrorKind::Data].contains(&error.kind), "{error}");
            assert!(error.message.len() < 4000 && !error.message.chars().any(char::is_control), "{error}");
        }
        Ok(header) => {
            let theirs = safetensors::SafeTensors::deserialize(bytes).expect("what we read, safetensors reads");
            assert_eq!(header.tensors.len(), theirs.len());
            for (name, info) in &header.tensors {
                let tensor = theirs.tensor(name).expect("a tensor of that name");
                assert_eq!((tensor.dtype(), tensor.shape()), (info.dtype, info.shape.as_slice()));
                let (begin, end) = info.data_offsets;
                let data_start = header.data_start as usize;
                assert_eq!(tensor.data(), &bytes[data_start + begin..data_start + end]);
            }
        }
    }
}

/// Reads bytes as a file of predictions. What is read can be written, read again and scored.
pub fn predictions(bytes: &[u8]) {
    let path = Path::new(NAME);
    let pairs = match parse_predictions(path, bytes) {
        Err(error) => return refused(&error.message),
        Ok(file) => file.pairs,
    };
    if !pairs.is_empty() {
        let mut written = Vec::new();
        write_lines(&mut written, path, &pairs).expect("what is read holds together");
        assert_eq!(parse_predictions(path, &written).expect("what is written is read").pairs, pairs);
    }
    for decode in Decode::ALL {
        TierCounts::of(&decode.apply(&pairs));
    }
    StateCounts::of(&pairs).scores();
    StateCounts::of_nontrivial(&pairs).scores();
    if let Ok(mean) = mean_predictions(&[pairs.clone(), pairs.clone()]) {
        assert_eq!(mean.len(), pairs.len());
    }
}

/// Reads bytes as the manifest of a checkpoint, as they are and with the hash that belongs to them. What is read is
/// written as it was, and names no file of another folder.
pub fn manifest(bytes: &[u8]) {
    manifest_as_it_is(bytes);
    if let Ok(Manifest { step, best, inputs, made_with, files, .. }) = serde_json::from_slice(bytes) {
        let honest = Manifest::new(step, best, inputs, made_with, files).expect("it can be written");
        manifest_as_it_is(&honest.to_json().expect("it can be written"));
    }
}

fn manifest_as_it_is(bytes: &[u8]) {
    match Manifest::parse(Path::new(NAME), bytes) {
        Err(damage) => refused(&damage.to_string()),
        Ok(manifest) => {
            assert_eq!(manifest.to_json().expect("it can be written"), bytes);
            let mut names = manifest.files.keys().chain(&manifest.best);
            assert!(names.all(|name| untrusted::component(name).is_ok()));
        }
    }
}

/// Reads bytes as the config of an experiment, and those after a zero as `--set`, one a line. What is read can be used,
/// and written and read again.
pub fn config(bytes: &[u8]) {
    let (path, mut parts) = (Path::new(NAME), bytes.splitn(2, |byte| *byte == 0));
    let text = parts.next().unwrap_or_default();
    let overrides = parts.next().and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    let overrides: Vec<String> = overrides.lines().map(str::to_owned).collect();
    match Config::parse(path, text, &overrides) {
        Err(error) if error.message.starts_with("--set ") => refused_toml(&error.about(NAME).message),
        Err(error) => refused_toml(&error.message),
        Ok(config) => {
            let written = toml::to_string(&config).expect("what is read can be written");
            assert_eq!(Config::parse(path, written.as_bytes(), &[]).expect("what is written is read"), config);
            assert!(config.train.epochs <= MAX_EPOCHS);
            let _ = (config.checkpoint.every.is_due(1, 0, Duration::ZERO), expand(&config.encoder.path));
        }
    }
}

/// Reads bytes as a sweep file. What is read has names that stay in their folder, and no runs without end.
pub fn sweep(bytes: &[u8]) {
    match SweepFile::parse(Path::new(NAME), bytes) {
        Err(error) => refused_toml(&error.message),
        Ok(sweep) => {
            let mut names = std::iter::once(&sweep.name).chain(sweep.evaluate.iter().map(|set| &set.name));
            assert!(names.all(|name| untrusted::component(name).is_ok()));
            let runs = sweep.axes.iter().map(|axis| axis.values.len()).fold(sweep.seeds.len().max(1), |n, m| n * m);
            assert!((1..=MAX_RUNS).contains(&runs), "{runs}");
        }
    }
}

/// Reads bytes as a `tokenizer.json`; where they have zeros, as the files that one is made of.
pub fn tokenizer(bytes: &[u8]) {
    let names: &[&str] = match bytes.iter().filter(|byte| **byte == 0).count() {
        0 => return tokenizer_of(bytes),
        1 => &["vocab.txt", "tokenizer_config.json"],
        _ => &["vocab.json", "merges.txt", "tokenizer_config.json"],
    };
    let folder = tempfile::TempDir::new().expect("a folder");
    for (name, part) in names.iter().zip(bytes.split(|byte| *byte == 0)) {
        std::fs::write(folder.path().join(name), part).expect("written");
    }
    match tokenizer_json(folder.path()) {
        Err(error) => refused(&error.message.replace(&folder.path().display().to_string(), NAME)),
        Ok(made) => tokenizer_of(&made),
    }
}

/// What is read makes tokens of stories, each of one sentence of them.
fn tokenizer_of(json: &[u8]) {
    let tokenizer = match InputTokenizer::from_json(json) {
        Err(error) => return refused(&error.about(NAME).message),
        Ok(tokenizer) => tokenizer,
    };
    let sentences = ["The lid is open.", "È l'1 a  Roma\u{301}?", ""].map(str::to_owned);
    match tokenizer.encode(sentences.iter().map(|sentence| ("lid".to_owned(), sentence.clone())).collect()) {
        Err(error) => refused(&error.about(NAME).message),
        Ok(inputs) => {
            assert_eq!(inputs.len(), sentences.len());
            assert!(inputs.iter().all(|input| input.ids.len() == input.types.len()));
        }
    }
    match tokenizer.encode_stories(&[sentences.to_vec()]) {
        Err(error) => refused(&error.about(NAME).message),
        Ok(stories) => {
            assert_eq!(stories[0].tokens.len(), stories[0].sentences.len());
            assert!(stories[0].sentences.iter().flatten().all(|&sentence| sentence < sentences.len()));
        }
    }
}
