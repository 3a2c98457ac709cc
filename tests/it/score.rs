//! `tiered score` and the files it reads.

use crate::support::{random_prediction, real_data, rng, stderr, stdout, text, tiered, write};
use serde_json::Value;
use tempfile::TempDir;
use tiered::metrics::TierCounts;
use tiered::prediction::{PairPrediction, PredictionFormat, read_predictions, write_predictions};
use tiered::report::Report;

fn predictions() -> Vec<PairPrediction> {
    let mut rng = rng(3);
    (0..20).map(|i| random_prediction(&mut rng, i)).collect()
}

#[test]
fn published_predictions_score_as_published() {
    for (kind, pairs, counts) in [("cloze", 117, [85, 23, 3]), ("order", 122, [71, 2, 1])] {
        let Some(path) = real_data(&format!("data/gita/published/{kind}.json")) else { return };
        let output = tiered(["score", "--json", text(&path)]);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Report = serde_json::from_slice(&output.stdout).unwrap();
        let row = &report.rows[0];
        assert_eq!(
            [row.accuracy, row.consistency, row.verifiability].map(|s| (s.count, s.total)),
            counts.map(|c| (c, pairs))
        );
        assert_eq!(report.data.kind, kind);
        assert_eq!([report.states.preconditions.macro_f1, report.states.conflicts], [None; 2]);
        let output = tiered(["score", text(&path), "--beside", &format!("gita-{kind}")]);
        assert!(stdout(&output).contains("undefined") && stdout(&output).contains("XLM-R (GITA table 4)"));
    }
}

#[test]
fn predictions_survive_their_file() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("predictions.jsonl");
    write_predictions(&path, &predictions()).unwrap();
    let file = read_predictions(&path).unwrap();
    assert_eq!((file.format, file.pairs), (PredictionFormat::Lines, predictions()));
}

#[test]
fn score_prints_the_same_numbers_in_every_format() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("predictions.jsonl");
    write_predictions(&path, &predictions()).unwrap();
    let accurate = TierCounts::of(&predictions()).accurate;
    let cell = format!("{accurate}/20");
    for format in ["--per-attribute", "--markdown"] {
        let output = tiered(["score", text(&path), format]);
        assert!(output.status.success() && stdout(&output).contains(&cell), "{}", stdout(&output));
        assert_eq!(stdout(&output).contains("h_location"), format == "--per-attribute");
    }
    let output = tiered(["score", text(&path), "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["rows"][0]["accuracy"]["count"], accurate);
    assert!(report["states"]["effects"]["macro_f1"].is_number());
}

#[test]
fn wrong_predictions_are_refused_with_their_place() {
    let directory = TempDir::new().unwrap();
    let line = |edit: &dyn Fn(&mut PairPrediction)| {
        let mut prediction = predictions()[0].clone();
        edit(&mut prediction);
        let good = serde_json::to_string(&predictions()[1]).unwrap();
        format!("{good}\n\n{}\n", serde_json::to_string(&prediction).unwrap())
    };
    let cases = [
        (line(&|p| p.gold_plausible = 2), "line 3: gold_plausible: 2 is not below 2"),
        (line(&|p| p.gold_conflict = [0, 99]), "line 3: gold_conflict"),
        (line(&|p| p.gold_conflict = [1, 0]), "evidence must come before"),
        (line(&|p| p.conflict = vec![1, 1]), "sorted"),
        (line(&|p| p.stories[1].entities[0].beliefs.clear()), "stories[1].entities[0].beliefs: 0 items"),
        (line(&|p| p.stories[0].entities[0].effects.predicted[0][0] = 3), "effects.predicted: h_location: 3"),
        (line(&|p| p.story_probs[0] = f32::NAN), "line 3"),
        ("{\"id\": 1}".into(), "line 1"),
        ("[{\"id\": 1}]".into(), "not a published list"),
        ("".into(), "holds no predictions"),
    ];
    for (content, message) in cases {
        let path = write(&directory, "wrong.jsonl", &content);
        let output = tiered(["score", text(&path)]);
        assert_eq!(output.status.code(), Some(65), "{message}");
        assert!(stderr(&output).contains(message) && stderr(&output).contains("wrong.jsonl"), "{}", stderr(&output));
    }
}

#[test]
fn a_missing_prediction_file_exits_66() {
    let output = tiered(["score", "no-such-file.jsonl"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(stderr(&output).contains("no-such-file.jsonl"));
}
