//! Damaged files of predictions: an error with line or item, or predictions that can be scored.

use super::damage::{Text, WAYS, damage, damage_bytes};
use super::{has_place, timed};
use crate::faults::{count, row};
use crate::support::{random_prediction, rng};
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tiered::decode::Decode;
use tiered::metrics::{StateCounts, TierCounts};
use tiered::prediction::read_predictions;

const TIME: Duration = Duration::from_secs(1);

/// Lines of ours, or the published list, damaged.
fn predictions(rng: &mut ChaCha12Rng) -> Vec<u8> {
    let way = rng.random_range(0..WAYS);
    let damaged = |value: serde_json::Value, rng: &mut ChaCha12Rng| {
        let mut text = Text::from(value);
        damage(&mut text, way, rng);
        let mut written = String::new();
        text.write(&mut written);
        written
    };
    let text = if rng.random_bool(0.5) {
        let prediction = random_prediction(rng, 3);
        let good = serde_json::to_string(&prediction).unwrap();
        format!("{good}\n{}\n", damaged(json!(prediction), rng).replace('\n', ""))
    } else {
        let states = json!({"chest": {"0": {"open": 2}, "1": {"wet": 1}}});
        damaged(
            json!([{"example_id": "12-C0", "story_label": 1, "story_pred": 0, "conflict_label": [0, 1],
                "conflict_pred": [0, 1], "preconditions_label": states, "preconditions_pred": states,
                "effects_label": states, "effects_pred": {}, "story0": "A.\nB.\nC.", "story1": "A.\nD.\nC."}]),
            rng,
        )
    };
    damage_bytes(text, way, rng)
}

/// Whether the file was refused, and rightly; otherwise it is scored.
fn read(path: &Path) -> bool {
    match read_predictions(path) {
        Err(error) => {
            let message = &error.message;
            assert!(message.contains("predictions.jsonl") && message.len() < 1500, "{message}");
            let of_all = ["contains no predictions", "is a JSON document of another kind"];
            let is_of_all = of_all.into_iter().any(|problem| message.contains(problem));
            assert!(has_place(message) || is_of_all, "no place in {message}");
            assert!(!message.chars().any(char::is_control), "{message}");
            true
        }
        Ok(file) => {
            for decode in Decode::ALL {
                TierCounts::of(&decode.apply(&file.pairs));
            }
            StateCounts::of(&file.pairs).scores();
            StateCounts::of_nontrivial(&file.pairs).scores();
            false
        }
    }
}

#[test]
fn damaged_predictions() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("predictions.jsonl");
    let (total, mut refused) = (count(300, 3000), 0);
    for number in 0..total {
        std::fs::write(&path, predictions(&mut rng(number as u64))).unwrap();
        let (outcome, time) = timed(TIME, || read(&path));
        assert!(time < TIME, "file {number}: {time:?}");
        refused += usize::from(outcome.unwrap_or_else(|| panic!("file {number}")));
    }
    assert!(refused * 3 > total, "{refused} of {total}");
    row("damaged predictions", total, total);
}

#[test]
fn stories_that_would_fill_memory() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("predictions.jsonl");
    let states: serde_json::Map<_, _> = (0..50_000).map(|i| (format!("e{i}"), json!({"0": {"open": 2}}))).collect();
    let text = "\n".repeat(100_000);
    let list = json!([{"example_id": "12-C0", "story_label": 1, "story_pred": 0, "conflict_label": [0, 1],
        "conflict_pred": [0, 1], "preconditions_label": states, "preconditions_pred": {}, "effects_label": {},
        "effects_pred": {}, "story0": text, "story1": text}]);
    let mut pair = random_prediction(&mut rng(1), 3);
    pair.prediction.stories.iter_mut().for_each(|story| {
        story.sentences = vec![String::new(); 100_000];
        story.entities.clear();
    });
    for text in [list.to_string(), serde_json::to_string(&pair).unwrap()] {
        std::fs::write(&path, text).unwrap();
        let (outcome, time) = timed(TIME, || read_predictions(&path));
        let message = outcome.unwrap().unwrap_err().message;
        assert!(message.contains("at most 128 are allowed") && has_place(&message), "{message}");
        assert!(time < TIME, "{time:?}");
    }
}
