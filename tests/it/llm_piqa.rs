//! `tiered llm piqa`: the prompt, and scoring of submissions. The items are invented.

use crate::support::{stderr, stdout, text, tiered, write};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Situation, the two solutions, the right one.
const ITEMS: [(&str, &str, &str, u8); 4] = [
    ("Čaj je prevroč.", "Počakaj, da se ohladi.", "Zavri ga še enkrat.", 0),
    ("Okno je umazano.", "Obriši ga s kamnom.", "Obriši ga z mokro krpo.", 1),
    ("V kleti je temno.", "Prižgi luč.", "Zapri oči.", 0),
    ("The floor is wet.", "Pour water on it.", "Mop it dry.", 1),
];

/// A folder with the data set `piqa-sl`.
pub fn data() -> TempDir {
    of_items(ITEMS.len())
}

/// The same with so many items: the four again and again.
pub fn of_items(count: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    let line = |(prompt, solution0, solution1, label): (&str, &str, &str, u8)| {
        json!({"prompt": prompt, "solution0": solution0, "solution1": solution1, "label": label}).to_string() + "\n"
    };
    let lines: String = ITEMS.into_iter().cycle().take(count).map(line).collect();
    write(&folder, "piqa-sl.jsonl", &lines);
    folder
}

/// A file of predictions about `piqa-sl`.
pub fn submission(folder: &TempDir, name: &str, system: &str, predictions: &Value) -> PathBuf {
    let of_set = json!({"train": "NA (zero-shot)", "test": "piqa-sl", "predictions": predictions});
    write(folder, name, &json!({"system": system, "predictions": [of_set]}).to_string())
}

#[test]
fn the_prompt_is_printed_as_a_model_gets_it() {
    let folder = TempDir::new().unwrap();
    let path = write(&folder, "p.jsonl", r#"{"prompt": "P", "solution0": "A", "solution1": "B"}"#);
    let output = tiered(["llm", "piqa", "prompt", "--data", text(&path)]);
    let hash: String = Sha256::digest(&output.stdout).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "f330ae3d2e3dcc822b8508dfda3197f46fda576fb239b8e82e884a0c2ce5dcf8", "{}", stderr(&output));
    let output = tiered(["llm", "piqa", "prompt", "--data", text(&path), "--format", "json"]);
    let line: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&line["sha256"], &line["set"], &line["item"]), (&json!(hash), &json!("p"), &json!(0)));
    let output = tiered(["llm", "piqa", "prompt", "--data", text(&path), "--item", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("holds 1 items, numbered from 0"), "{}", stderr(&output));
    let path = write(&folder, "turned.jsonl", r#"{"prompt": "P\u202e\u0007", "solution0": "A", "solution1": "B"}"#);
    let output = tiered(["llm", "piqa", "prompt", "--data", text(&path)]);
    assert!(stdout(&output).contains("P\u{202e}\u{7}"), "as it is: {}", stdout(&output));
}

#[test]
fn submissions_are_scored_in_every_format() {
    let (data, folder) = (data(), TempDir::new().unwrap());
    let marked = submission(&folder, "submission-a.json", "gemma3:27b", &json!([0, 1, 1, 2]));
    std::fs::write(&marked, format!("\u{feff}{}", std::fs::read_to_string(&marked).unwrap())).unwrap();
    submission(&folder, "submission-b.json", "other", &json!([0, 1, 0, 1]));
    let scored = |more: &[&str]| {
        let arguments = ["llm", "piqa", "score", text(folder.path()), "--data", text(data.path())];
        let output = tiered(arguments.iter().chain(more).copied());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let document: Value = serde_json::from_str(&scored(&["--format", "json"])).unwrap();
    let first = &document["scores"][0];
    assert_eq!((&first["system"], &first["unanswered"]), (&json!("gemma3:27b"), &json!(1)));
    assert_eq!((&first["accuracy"]["count"], &first["accuracy"]["total"]), (&json!(2), &json!(4)));
    assert_eq!(document["scores"][1]["accuracy"]["fraction"], 1.0);
    let shown = scored(&[]);
    assert!(shown.contains("2/4") && !shown.contains("(published)"), "{shown}");
    assert!(shown.contains("answers to the benchmark's prompt") && !shown.contains("likelihood"), "{shown}");
    assert!(scored(&["--format", "markdown"]).contains("| other | piqa-sl | 100.0 [51.0, 100.0] 4/4 | 0 |"));
    assert!(scored(&["--format", "csv"]).starts_with("answers to the benchmark's prompt,set,"));
    assert!(scored(&["--format", "latex"]).contains("\\begin{tabular}{lrrr}"));
    let names = |folder: &TempDir| fs::read_dir(folder).unwrap().count();
    assert_eq!((names(&folder), names(&data)), (2, 1), "nothing was written");
}

/// What is named like a set of the benchmark stands in its column only if it may be that set.
#[test]
fn published_scores_stand_beside_sets_of_the_same_size_only() {
    let folder = TempDir::new().unwrap();
    let scored = |data: &TempDir, predictions: &Value, more: &[&str]| {
        let path = submission(&folder, "submission-a.json", "a", predictions);
        let arguments = ["llm", "piqa", "score", text(&path), "--data", text(data.path())];
        tiered(arguments.iter().chain(more).copied())
    };
    let published = ["--published", "south-slavic-piqa"];
    let (few, results) = (json!([0, 1, 1, 2]), folder.path().join("results"));
    let refused = scored(&data(), &few, &[&published[..], &["--output", text(&results)]].concat());
    assert_eq!(refused.status.code(), Some(65), "{}", stderr(&refused));
    for part in ["submission-a.json", "piqa-sl has 4 items, the benchmark's has 100; leave --published out"] {
        assert!(stderr(&refused).contains(part), "{part}: {}", stderr(&refused));
    }
    assert!(!results.exists() && scored(&data(), &few, &[]).status.success());
    let shown = scored(&of_items(100), &json!([0, 1, 0, 1].repeat(25)), &published);
    let table = stdout(&shown);
    let row = table.lines().find(|line| line.starts_with("a ") && line.contains("100.0") && !line.contains("100/100"));
    assert!(row.is_some() && table.contains("gpt-5-2025-08-07 (published)"), "{table}{}", stderr(&shown));
}

#[test]
fn a_second_run_replaces_the_rows_of_results() {
    let (data, folder, results) = (data(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let run = |predictions: Value| {
        let path = submission(&folder, "submission-a.json", "a", &predictions);
        let [path, data, results] = [path.as_path(), data.path(), results.path()].map(text);
        let arguments = ["llm", "piqa", "score", path, "--data", data, "--output", results, "--format=json"];
        let output = tiered(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(serde_json::from_str::<Value>(&stdout(&output)).is_ok(), "nothing else is printed");
    };
    let other = json!([{"Model": "b", "Test Dataset": "piqa-sl", "Accuracy": 0.625, "Language-Specific Scores": {}}]);
    write(&results, "results.json", &other.to_string());
    run(json!([0, 1, 1, 2]));
    run(json!([0, 1, 0, 0]));
    let rows: Value = serde_json::from_slice(&fs::read(results.path().join("results.json")).unwrap()).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    assert_eq!(rows[0], other[0]);
    assert_eq!(rows[1]["Language-Specific Scores"], json!({"sl": {"Accuracy": 0.75}}));
    let table = fs::read_to_string(results.path().join("results-piqa-sl.md")).unwrap();
    assert!(table.starts_with("## piqa-sl\n\n| Model | Test Dataset | Accuracy |\n"), "{table}");
    assert!(
        table.find("| a     | piqa-sl      |    0.750 |") < table.find("| b     | piqa-sl      |    0.625 |"),
        "{table}"
    );
}

#[test]
fn what_can_not_be_scored_is_refused_with_its_file_and_nothing_is_written() {
    let (data, folder) = (data(), TempDir::new().unwrap());
    let results = folder.path().join("results");
    let refused = |path: &PathBuf, code: i32, why: &str| {
        let arguments = ["llm", "piqa", "score", text(path), "--data", text(data.path()), "--output", text(&results)];
        let output = tiered(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(why) && stderr(&output).contains(text(path)), "{}", stderr(&output));
        assert!(!results.exists());
    };
    let short = submission(&folder, "submission-short.json", "a", &json!([0, 1, 0]));
    refused(&short, 65, "3 predictions, and ");
    let misnamed = submission(&folder, "a.json", "a", &json!([0, 1, 0, 1]));
    refused(&misnamed, 65, "its name must hold \"submission-\"");
    let unknown = write(
        &folder,
        "submission-xx.json",
        r#"{"system": "a", "predictions": [{"test": "piqa-xx", "predictions": []}]}"#,
    );
    refused(&unknown, 66, "piqa-xx.jsonl: cannot be read");
    let empty = TempDir::new().unwrap();
    refused(&empty.path().to_owned(), 66, "holds no submission");
}
