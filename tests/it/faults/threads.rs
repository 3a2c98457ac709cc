//! Fewer threads than were asked for.

use crate::support::{stderr, text};
use crate::tiny::Tiny;
use std::path::Path;
use std::process::{Command, Output};
use tiered::model::weights;
use tiered::prediction::read_predictions;

fn limited(limit: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
    let output = command.args(arguments).envs(limit.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{limit:?}: {}", stderr(&output));
    output
}

/// The system may hand out fewer threads than there are parts of a kernel's work; every part is done all the same.
#[test]
fn every_part_is_done() {
    let tiny = Tiny::new();
    let config = tiny.config();
    let limits: [&[(&str, &str)]; 4] =
        [&[], &[("OMP_THREAD_LIMIT", "1")], &[("OMP_THREAD_LIMIT", "2")], &[("OMP_DYNAMIC", "true")]];
    let run = |threads: &str, limit: &[(&str, &str)]| {
        let run = tiny.path(&format!("{threads}-{}", limit.iter().map(|(a, b)| [*a, *b].concat()).collect::<String>()));
        let threads = format!("threads={threads}");
        limited(limit, &["train", "--config", text(&config), "--output", text(&run), "--set", &threads]);
        limited(limit, &["eval", text(&run), "--data", text(&tiny.stories()), "--split", "train"]);
        run
    };
    let trained = |run: &Path| weights::read(&run.join("last/model.safetensors")).unwrap();
    let conflict_probs = |run: &Path| -> Vec<f32> {
        let pairs = read_predictions(&run.join("eval/stories-train-all/predictions.jsonl")).unwrap().pairs;
        let entities = pairs.iter().flat_map(|pair| &pair.prediction.stories).flat_map(|story| &story.entities);
        entities.flat_map(|entity| entity.conflict_probs.clone()).collect()
    };
    let alone = run("1", &[]);
    let (expected, expected_conflict_probs) = (trained(&alone), conflict_probs(&alone));
    for threads in ["2", "3"] {
        for limit in limits {
            let run = run(threads, limit);
            for (name, tensor) in trained(&run) {
                let difference = (tensor - &expected[&name]).abs().max().double_value(&[]);
                assert!(difference < 1e-3, "{threads} threads, {limit:?}: {name} differs by {difference}");
            }
            let found = conflict_probs(&run);
            assert_eq!(found.len(), expected_conflict_probs.len());
            let differ = found.iter().zip(&expected_conflict_probs).any(|(a, b)| (a - b).abs() > 1e-3);
            assert!(!differ, "{threads} threads, {limit:?}");
        }
    }
}
