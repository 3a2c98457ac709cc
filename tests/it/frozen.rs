//! An encoder that isn't trained is run once for each input, and nothing else is different.

use crate::support::{stderr, stdout, text};
use crate::test_device::devices;
use crate::tiny::Tiny;
use std::path::Path;
use tiered::experiment::RunFolder;
use tiered::model::weights::{self, NamedTensors};
use tiered::train::EpochRecord;

fn of_run(run: &Path) -> (NamedTensors, Vec<EpochRecord>) {
    let weights = weights::read(&run.join("last/model.safetensors")).unwrap();
    (weights, RunFolder::open(run).unwrap().epochs().unwrap())
}

/// Without dropout, training on the vectors is training on an encoder that goes nowhere because its rate is next to 0.
#[test]
fn an_encoder_that_is_frozen_and_one_that_does_not_move() {
    // A GPU computes matmuls of other shapes in another order, and AdamW magnifies that where gradients are near 0.
    let tolerance = if devices()[0].device.is_cuda() { 1e-4 } else { 1e-5 };
    for more in [vec![], vec!["model.detector={ kind = 'joint' }"], vec!["train.entities=2"]] {
        let tiny = Tiny::new();
        let train = |name: &str, own: &[&str]| {
            let sets = ["train.adamw.clip_norm=1e9", "train.head_learning_rate=1e-3"];
            let sets: Vec<&str> = sets.iter().chain(own).chain(&more).flat_map(|set| ["--set", set]).collect();
            of_run(&tiny.trained(name, &sets))
        };
        let (frozen, of_frozen) = train("frozen", &["encoder.freeze=['encoder']"]);
        let (still, of_still) = train("still", &["encoder.freeze=['embeddings']", "train.learning_rate=1e-30"]);
        let start = weights::read(&tiny.encoder().join("model.safetensors")).unwrap();
        let mut moved = 0;
        for (name, tensor) in &frozen {
            let difference = |other: &tch::Tensor| (tensor - other).abs().max().double_value(&[]);
            assert!(difference(&still[name]) < tolerance, "{more:?}: {name} differs by {}", difference(&still[name]));
            match start.get(name.trim_start_matches("roberta.")).or(start.get(name)) {
                Some(start) => assert_eq!(difference(start), 0., "{name} was trained"),
                None => moved += 1,
            }
        }
        assert!(moved > 4, "{moved} tensors of heads and detector");
        for (a, b) in of_frozen.iter().zip(&of_still) {
            let [a, b] = [a, b].map(|record| record.dev.as_ref().unwrap());
            assert_eq!((a.threshold, a.pair), (b.threshold, b.pair));
            assert!((a.losses.conflicts - b.losses.conflicts).abs() < 1e-5);
        }
    }
}

#[test]
fn it_says_that_each_input_is_encoded_once() {
    let tiny = Tiny::new();
    let output = tiny.train("frozen", &["--set", "encoder.freeze=['encoder']"]);
    let said = stdout(&output);
    assert!(said.contains("the encoder is frozen: each input is encoded once, "), "{said}");
    for tiny in [&tiny, &Tiny::of("mpnet")] {
        let all_layers = tiny.train("layers", &["--set", "encoder.freeze=['embeddings', 'layers:2']"]);
        assert!(stdout(&all_layers).contains("each input is encoded once"), "{}", stdout(&all_layers));
    }
    let some_layers = tiny.train("some", &["--set", "encoder.freeze=['embeddings', 'layers:1']"]);
    assert!(!stdout(&some_layers).contains("each input is encoded once"), "{}", stdout(&some_layers));
}

/// Runs of different seeds number the inputs differently, and share what the encoder says about them all the same.
#[test]
fn what_is_encoded_is_kept_for_every_seed_and_changes_nothing() {
    let tiny = Tiny::new();
    let kept = tiny.path("vectors");
    let frozen = ["--set", "encoder.freeze=['encoder']", "--set", "seed=7"];
    let alone = of_run(&tiny.trained("single_story", &frozen));
    let first = tiny.train("first", &["--set", "encoder.freeze=['encoder']", "--vectors", text(&kept)]);
    let second = tiny.train("second", &frozen.into_iter().chain(["--vectors", text(&kept)]).collect::<Vec<_>>());
    assert!(stdout(&first).contains("is encoded once") && !stdout(&second).contains("is encoded once"));
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 2, "vectors, and their SHA-256");
    let unfrozen = tiny.train("unfrozen", &["--set", "train.epochs=1", "--vectors", text(&kept)]);
    assert!(stderr(&unfrozen).contains("this run keeps no vectors"), "{}", stderr(&unfrozen));
    assert!(!stderr(&first).contains("this run keeps no vectors"));
    let (weights, _) = of_run(&tiny.path("second"));
    assert!(alone.0.iter().all(|(name, tensor)| weights[name] == *tensor), "other weights than without the file");
    let mut files = std::fs::read_dir(&kept).unwrap().map(|file| file.unwrap().path());
    let vectors = files.find(|file| file.extension().is_some_and(|is| is == "safetensors")).unwrap();
    let mut damaged = std::fs::read(&vectors).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(&vectors, damaged).unwrap();
    let third = tiny.train("third", &["--set", "encoder.freeze=['encoder']", "--vectors", text(&kept)]);
    assert!(stdout(&third).contains("is encoded once"), "they were damaged");
    let fourth = tiny.train("fourth", &["--set", "encoder.freeze=['encoder']", "--vectors", text(&kept)]);
    assert!(!stdout(&fourth).contains("is encoded once"), "and are there again");
    let tf32 = ["--set", "encoder.freeze=['encoder']", "--set", "tf32=true", "--vectors", text(&kept)];
    assert!(stdout(&tiny.train("tf32", &tf32)).contains("is encoded once"), "TF32 gives other vectors");
    let config = tiny.encoder().join("config.json");
    let text_of = std::fs::read_to_string(&config).unwrap();
    let mut other: serde_json::Value = serde_json::from_str(&text_of).unwrap();
    other["layer_norm_eps"] = serde_json::json!(0.5);
    std::fs::write(&config, other.to_string()).unwrap();
    let other = tiny.train("eps", &["--set", "encoder.freeze=['encoder']", "--vectors", text(&kept)]);
    assert!(stdout(&other).contains("is encoded once"), "so does another epsilon");
}
