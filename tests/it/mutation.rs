//! Whatever a file holds, reading it is an error or gives stories that hold together; it never panics.

use crate::support::{clean_file, read_text, rng};
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use serde_json::{Value, json};
use tiered::attribute::Attribute;
use tiered::data::{Story, StoryFile, pairs};

const MUTATIONS: u64 = 3000;

#[test]
fn mutated_text_never_panics() {
    let text = clean_file().to_string();
    for seed in 0..MUTATIONS {
        let mut bytes = text.clone().into_bytes();
        let rng = &mut rng(seed);
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            match rng.random_range(0..3) {
                0 => bytes[at] = *b"{}[],:\"0-9.eltn \\\xc3"[..].get(rng.random_range(0..18)).unwrap(),
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at + 1),
            }
        }
        if let Ok(file) = read_text(&String::from_utf8_lossy(&bytes)) {
            check(&file);
        }
    }
}

#[test]
fn mutated_values_never_panic() {
    let mut read = 0;
    for seed in 0..MUTATIONS {
        let rng = &mut rng(seed);
        let mut file = clean_file();
        for _ in 0..rng.random_range(1..4) {
            mutate(&mut file, rng);
        }
        if let Ok(file) = read_text(&file.to_string()) {
            read += file.splits.iter().map(|(_, stories)| stories.len()).sum::<usize>();
            check(&file);
        }
    }
    assert!(read > MUTATIONS as usize, "most stories survive: {read}");
}

/// Replaces, removes or doubles a value somewhere below the splits.
fn mutate(value: &mut Value, rng: &mut ChaCha12Rng) {
    let children = match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    if children == 0 || rng.random_bool(0.1) {
        *value = strange(rng);
        return;
    }
    let chosen = rng.random_range(0..children);
    match value {
        Value::Array(items) if rng.random_bool(0.1) => items.push(items[chosen].clone()),
        Value::Array(items) if rng.random_bool(0.1) => drop(items.remove(chosen)),
        Value::Array(items) => mutate(&mut items[chosen], rng),
        Value::Object(fields) => mutate(fields.values_mut().nth(chosen).unwrap(), rng),
        _ => unreachable!("it has children"),
    }
}

fn strange(rng: &mut ChaCha12Rng) -> Value {
    let values =
        json!([null, true, -1, 0, 1, 2, 9, 1e300, i64::MIN, u64::MAX, "", " ", "cloze", "è", [], [[]], {}, [["a", 1]]]);
    values[rng.random_range(0..18)].clone()
}

pub fn check(file: &StoryFile) {
    for (_, stories) in &file.splits {
        stories.iter().for_each(check_story);
        for pair in pairs(stories, 0) {
            assert_eq!(pair.implausible_story().conflict, Some(pair.conflict));
            assert!(pair.plausible_story().conflict.is_none());
        }
    }
}

fn check_story(story: &Story) {
    let sentences = story.sentences.len();
    assert!(sentences > 0 && !story.entities.is_empty());
    assert_eq!(story.conflict.is_some(), story.kind.is_some());
    if let Some(conflict) = story.conflict {
        assert!(conflict.evidence < conflict.breakpoint && conflict.breakpoint < sentences);
    }
    for entity in &story.entities {
        assert!(!entity.name.is_empty());
        assert_eq!([entity.preconditions.len(), entity.effects.len(), entity.labelled.len()], [sentences; 3]);
        for classes in entity.preconditions.iter().chain(&entity.effects) {
            assert!(Attribute::ALL.iter().all(|a| (classes[a.index()] as usize) < a.classes()));
        }
    }
}
