//! `tiered baseline`: what chance scores.

use crate::support::{real_data, stderr, stdout, text, tiered};
use std::path::Path;
use tempfile::TempDir;
use tiered::baseline::Baseline;
use tiered::data::{Kind, Pair, pairs, read_file};
use tiered::decode::Decode;
use tiered::metrics::{TierCounts, reached};
use tiered::prediction::{LabelledPair, differing_pairs, read_predictions};
use tiered::report::comparison::Comparison;

fn sample() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/en.json")
}

fn sample_pairs(seed: u64) -> Vec<Pair> {
    let file = read_file(&sample()).unwrap();
    let (_, stories) = &file.splits[0];
    pairs(stories, seed)
}

#[test]
fn predictions_hold_together_and_depend_on_the_seed_alone() {
    for baseline in [Baseline::Random, Baseline::Contrast, Baseline::Shuffled] {
        let of = |seed| baseline.predict(&sample_pairs(seed), seed);
        of(3).iter().for_each(|prediction| prediction.check().unwrap());
        assert!(of(3) == of(3) && of(3) != of(4));
        let ids: Vec<String> = of(3).into_iter().map(|prediction| prediction.id).collect();
        assert_eq!(ids, sample_pairs(3).into_iter().map(|pair| pair.id).collect::<Vec<_>>());
    }
}

#[test]
fn one_pair_has_no_labels_of_other_pairs() {
    let mut stories: serde_json::Value = serde_json::from_slice(&std::fs::read(sample()).unwrap()).unwrap();
    let split = stories.as_object_mut().unwrap().values_mut().next().unwrap().as_object_mut().unwrap();
    let (first, pair) = (split["0"].clone(), split["0-C0"].clone());
    split.clear();
    split.extend([("0".to_owned(), first), ("0-C0".to_owned(), pair)]);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("one.json");
    std::fs::write(&file, stories.to_string()).unwrap();
    assert!(tiered(["baseline", "--data", text(&file), "--seeds=1"]).status.success());
    let refused = tiered(["baseline", "--data", text(&file), "--seeds=1", "--shuffled"]);
    assert!(refused.status.code() == Some(65) && stderr(&refused).contains("one.json"), "{}", stderr(&refused));
}

#[test]
fn decoding_finds_the_conflict_that_was_drawn() {
    for (baseline, decodings) in [(Baseline::Random, &Decode::REPORTED[..]), (Baseline::Contrast, &Decode::ALL[..])] {
        for pair in baseline.predict(&sample_pairs(1), 1) {
            for decode in decodings {
                assert_eq!(decode.conflict(&pair.prediction), pair.prediction.conflict, "{decode:?}");
            }
        }
    }
}

#[test]
fn where_the_stories_differ_the_conflict_is_found_more_often_by_chance() {
    let consistent = |baseline: Baseline| {
        let predictions = (0..20).flat_map(|seed| baseline.predict(&sample_pairs(seed), seed));
        TierCounts::of(&predictions.collect::<Vec<_>>()).consistent
    };
    assert!(consistent(Baseline::Contrast) > 2 * consistent(Baseline::Random));
}

#[test]
fn a_conflict_is_where_the_stories_differ_but_for_some_that_a_moved_sentence_made() {
    let differs = |pair: &Pair| {
        let [story, other] = [pair.implausible_story(), pair.plausible_story()].map(|story| &story.sentences);
        differing_pairs(story, other).contains(&[pair.conflict.evidence, pair.conflict.breakpoint])
    };
    let (order, cloze): (Vec<Pair>, Vec<Pair>) = sample_pairs(0).into_iter().partition(|pair| pair.kind == Kind::Order);
    assert!(cloze.iter().all(differs));
    let of_order = order.iter().filter(|pair| differs(pair)).count();
    assert!(of_order < order.len() && of_order as f64 > 0.8 * order.len() as f64, "{of_order} of {}", order.len());
}

#[test]
fn chance_is_right_as_often_as_chance_is() {
    // The story half of the time, and then one of all pairs of its sentences.
    let predictions: Vec<LabelledPair> =
        (0..60).flat_map(|seed| Baseline::Random.predict(&sample_pairs(seed), seed)).collect();
    let consistent = |p: &LabelledPair| {
        let n = p.implausible_story().prediction.sentences.len() as f64;
        0.5 / (n * (n - 1.) / 2.)
    };
    let expected = predictions.iter().map(consistent).sum::<f64>() / predictions.len() as f64;
    let counts = TierCounts::of(&predictions);
    let share = |count: u64| count as f64 / counts.pairs as f64;
    assert!(counts.pairs > 2000, "{counts:?}");
    assert!((share(counts.accurate) - 0.5).abs() < 0.04, "{counts:?}");
    assert!((share(counts.consistent) - expected).abs() < 0.02 && counts.verifiable == 0, "{counts:?}");
}

#[test]
fn no_pair_gets_its_own_labels() {
    // Of one length, so that every story has the sentences that another's conflict is in.
    let five = |pair: &Pair| pair.stories.iter().all(|story| story.sentences.len() == 5);
    let pairs: Vec<Pair> = sample_pairs(0).into_iter().filter(five).collect();
    let predictions = Baseline::Shuffled.predict(&pairs, 0);
    let gold = |p: &LabelledPair| (p.gold.plausible, p.gold.conflict.to_vec());
    let mut answers: Vec<_> =
        predictions.iter().map(|p| (p.prediction.plausible, p.prediction.conflict.clone())).collect();
    let mut golds: Vec<_> = predictions.iter().map(gold).collect();
    assert_ne!(answers, golds);
    answers.sort();
    golds.sort();
    assert_eq!(answers, golds, "the same answers in another order");
}

#[test]
fn the_table_is_of_the_predictions_that_are_saved() {
    let folder = TempDir::new().unwrap();
    let (data, saved) = (sample(), folder.path().join("saved"));
    let arguments =
        ["baseline", "--data", text(&data), "--split", "train", "--seeds", "3", "--shuffled", "--format=json"];
    let output = tiered(arguments.into_iter().chain(["--output", text(&saved)]));
    assert!(output.status.success(), "{}", stderr(&output));
    let comparison: Comparison = serde_json::from_slice(&output.stdout).unwrap();
    let section = &comparison.sections[0];
    let names: Vec<&str> = section.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["random", "labels of other pairs"]);
    let share = |seed: u64| {
        let pairs = read_predictions(&saved.join(format!("random-{seed}.jsonl"))).unwrap().pairs;
        reached(&pairs).iter().filter(|tiers| tiers[0]).count() as f64 / pairs.len() as f64
    };
    let mean = (0..3).map(share).sum::<f64>() / 3.;
    assert!((section.rows[0].scores.unwrap().accuracy.mean - mean).abs() < 1e-9);
    let contrast = folder.path().join("contrast");
    let output =
        tiered(["baseline", "--data", text(&data), "--split", "train", "--contrast", "--output", text(&contrast)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(contrast.join("random-by-contrast-0.jsonl").is_file(), "a name without a comma");
    let file = saved.join("random-0.jsonl");
    let scored = tiered(["score", text(&file)]);
    assert!(scored.status.success() && stdout(&scored).contains("as recorded"), "{}", stderr(&scored));
}

#[test]
fn the_random_row_of_trip() {
    let Some(path) = real_data("data/trip/www.json") else { return };
    let output =
        tiered(["baseline", "--data", text(&path), "--split", "dev", "--published", "trip-dev", "--format=json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let comparison: Comparison = serde_json::from_slice(&output.stdout).unwrap();
    let section = &comparison.sections[0];
    assert_eq!(section.published[0].system, "random (TRIP table 2)");
    let scores = section.rows[0].scores.unwrap();
    let means = scores.each().map(|estimate| estimate.unwrap().mean);
    assert!((means[0] - 0.5).abs() < 0.05 && (0.01..0.09).contains(&means[1]) && means[2] < 0.005, "{means:?}");
}

#[test]
fn command_lines_that_make_no_sense() {
    let data = sample();
    let code = |more: &[&str]| {
        tiered(["baseline", "--data", text(&data)].into_iter().chain(more.iter().copied())).status.code()
    };
    assert_eq!(code(&["--seeds", "0"]), Some(2));
    assert_eq!(code(&["--split", "train", "--published", "gita-stories"]), Some(2));
    assert_eq!(code(&["--split", "nowhere"]), Some(65));
    // Published for 122 pairs of other names.
    assert_eq!(code(&["--split", "train", "--published", "gita-order"]), Some(65));
    assert_eq!(code(&["--split", "train", "--format=csv", "--format=json"]), Some(2));
}
