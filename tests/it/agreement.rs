//! Agreement of annotators: coefficients against scikit-learn and krippendorff, and `tiered data agreement`.

use crate::support::{clean_file, fixture, stderr, stdout, text, tiered, write};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tiered::metrics::LabelCounts;

/// Labels of two annotators, and what scikit-learn and krippendorff make of them.
#[derive(Deserialize)]
struct Case {
    first: Vec<Option<u8>>,
    second: Vec<Option<u8>>,
    kappa: Option<f64>,
    alpha: Option<f64>,
}

#[test]
fn coefficients_are_those_of_scikit_learn_and_krippendorff() {
    let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(fixture("agreement.json")).unwrap()).unwrap();
    assert!(cases.iter().filter(|case| case.kappa.is_some_and(|kappa| kappa < 0.99)).count() > 10);
    for Case { first, second, kappa, alpha } in cases {
        let both = first.iter().zip(&second).filter_map(|(first, second)| Some([(*first)?, (*second)?]));
        let counts = LabelCounts::of(both);
        for (name, ours, theirs) in
            [("kappa", counts.cohen_kappa(), kappa), ("alpha", counts.krippendorff_alpha(), alpha)]
        {
            let is_near = match (ours, theirs) {
                (Some(ours), Some(theirs)) => (ours - theirs).abs() < 1e-12,
                (ours, theirs) => ours == theirs,
            };
            assert!(is_near, "{name}: {ours:?} is not {theirs:?} for {first:?} and {second:?}");
        }
    }
}

fn coefficients(labels: impl IntoIterator<Item = [u8; 2]>) -> [Option<f64>; 2] {
    let counts = LabelCounts::of(labels);
    [counts.cohen_kappa(), counts.krippendorff_alpha()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn coefficients_are_symmetric_and_at_most_1(labels in prop::collection::vec([0..9_u8, 0..9_u8], 0..40)) {
        let ours = coefficients(labels.iter().copied());
        prop_assert_eq!(ours, coefficients(labels.iter().map(|&[first, second]| [second, first])));
        prop_assert!(ours.iter().flatten().all(|value| (-1. ..=1.).contains(value)), "{:?}", ours);
        let agree = coefficients(labels.iter().map(|&[first, _]| [first; 2]));
        prop_assert!(agree.iter().flatten().all(|&value| value == 1.), "{:?}", agree);
    }
}

#[test]
fn the_documented_example_is_what_the_command_prints() {
    let read = |file: &str| std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let snapshots = read("tests/cmd/tables.md");
    let command = "$ tiered data agreement tests/cmd/annotator-a.json tests/cmd/annotator-b.json\n";
    let (_, rest) = snapshots.split_once(command).unwrap();
    let (printed, _) = rest.split_once("\n\n```").unwrap();
    assert!(
        read("docs/data.md").contains(&format!("{command}{printed}")),
        "write into docs/data.md:\n{command}{printed}"
    );
}

/// Compares a clean file with the same one after a change.
fn compared(change: impl FnOnce(&mut Value), arguments: &[&str]) -> std::process::Output {
    let directory = TempDir::new().unwrap();
    let mut changed = clean_file();
    change(&mut changed);
    let [a, b] =
        [("a.json", clean_file()), ("b.json", changed)].map(|(name, file)| write(&directory, name, &file.to_string()));
    tiered(["data", "agreement", text(&a), text(&b)].into_iter().chain(arguments.iter().copied()))
}

fn compared_json(change: impl FnOnce(&mut Value)) -> Value {
    let output = compared(change, &["--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn row<'a>(answer: &'a Value, attribute: &str) -> &'a Value {
    answer["rows"].as_array().unwrap().iter().find(|row| row["attribute"] == attribute).unwrap()
}

#[test]
fn the_same_labels_agree_perfectly_or_where_there_is_only_one_not_at_all() {
    let answer = compared_json(|_| ());
    assert_eq!((&answer["stories"], &answer["groups"]), (&json!(3), &json!(1)));
    assert_eq!((&answer["disagreements"], &answer["left_out"]), (&json!([]), &json!([])));
    let perfect = json!({"value": 1.0, "interval_95": null});
    for row in [&answer["rows"][0], &answer["rows"][1], &answer["rows"][2], row(&answer, "open")] {
        assert_eq!((&row["kappa"], &row["alpha"]), (&perfect, &perfect));
    }
    let totals = [0, 1, 2].map(|tier: usize| answer["rows"][tier]["agreed"]["total"].clone());
    assert_eq!(totals, [3, 6, 27].map(|total| json!(total)), "3 stories, 6 sentences of 2, 9 sentences with 3 labels");
    // All are 2, its default.
    let exist = row(&answer, "exist");
    assert_eq!((&exist["kappa"], &exist["alpha"]), (&Value::Null, &Value::Null));
    assert_eq!((&exist["agreed"]["total"], &exist["agreed_nontrivial"]["total"]), (&json!(9), &json!(0)));
    let output = compared(|_| (), &[]);
    assert!(stdout(&output).ends_with("\n0 disagreements\n") && stderr(&output).is_empty(), "{}", stdout(&output));
}

/// macOS, for one, writes "é" as two characters.
#[test]
fn accents_may_be_written_in_two_ways() {
    let directory = TempDir::new().unwrap();
    let plain = clean_file().to_string();
    assert!(plain.contains("chest"));
    let [a, b] = [("a.json", "ch\u{e9}st"), ("b.json", "che\u{301}st")]
        .map(|(name, word)| write(&directory, name, &plain.replace("chest", word)));
    let output = tiered(["data", "agreement", text(&a), text(&b), "--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["disagreements"], &answer["left_out"]), (&json!([]), &json!([])));
    assert_eq!(answer["rows"][2]["agreed"]["total"], json!(27));
}

#[test]
fn another_label_is_told_in_words() {
    let change = |file: &mut Value| file["test"]["1-C0"]["states"][1]["open"][0][1] = json!(6);
    let output = compared(change, &[]);
    let expected = "1 disagreement:\ntest/1-C0, sentence 2: Ada looked into the chest.\n  \
                    chest, open: A 2 (open → open), B 6 (? → open)\n";
    assert!(stdout(&output).ends_with(expected), "{}", stdout(&output));
    let answer = compared_json(change);
    let agreed = &row(&answer, "open")["agreed"];
    assert_eq!((&agreed["count"], &agreed["total"]), (&json!(8), &json!(9)));
    let table = stdout(&compared(change, &["--format", "csv", "--verbose"]));
    let line = "3,test,1-C0,2,Ada looked into the chest.,chest,open,2 (open → open),6 (? → open)";
    assert!(table.ends_with(&format!("\n{line}\n")), "{table}");
    assert!(!stdout(&compared(change, &["--format", "csv"])).contains(line), "only with --verbose");
}

#[test]
fn other_conflicts_and_plausible_stories_are_disagreements() {
    let plausible = |file: &mut Value| {
        let story = &mut file["test"]["1-O0"];
        for (field, value) in [("plausible", json!(true)), ("breakpoint", json!(-1)), ("type", Value::Null)] {
            story[field] = value;
        }
        story["confl_sents"] = json!([]);
        file["test"]["1-C0"]["breakpoint"] = json!(2);
    };
    let shown = stdout(&compared(plausible, &[]));
    assert!(shown.contains("disagreements:\ntest/1-O0\n  A implausible, B plausible\n"), "{shown}");
    let conflict = "test/1-C0, sentence 2: Ada looked into the chest.\n  A in the conflict, B not in the conflict\n\
                    test/1-C0, sentence 3: Ada shut the chest.\n  A not in the conflict, B in the conflict\n";
    assert!(shown.contains(conflict), "{shown}");
}

#[test]
fn a_label_that_only_one_annotator_gives_is_told_with_its_attribute() {
    let without = |file: &mut Value| file["test"]["1"]["states"][0]["open"] = json!([]);
    let answer = compared_json(without);
    let [told] = &answer["disagreements"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!(
        (&told["attribute"], &told["labels"][1], &told["says"][1]),
        (&json!("open"), &Value::Null, &json!("no label"))
    );
    assert!(told["labels"][0].is_u64() && told["says"][0].as_str().unwrap().contains('→'), "{told}");
}

#[test]
fn what_one_annotator_leaves_out_is_counted_apart() {
    let without = |file: &mut Value| {
        let states = &mut file["test"]["1"]["states"][0];
        states["open"] = json!([]);
        states["exist"] = json!([["lid", 2]]);
    };
    let answer = compared_json(without);
    assert_eq!(answer["rows"][2]["only"], json!([2, 1]));
    assert_eq!(answer["rows"][2]["kappa"]["value"], json!(1.0));
    assert_eq!(answer["rows"][2]["agreed"]["total"], json!(25));
    let expected = "2 disagreements:\ntest/1, sentence 1: Ada opened the chest.\n  \
                    chest: A alone labels 2 attributes, B leaves them out\n  \
                    lid: A leaves them out, B alone labels 1 attribute\n";
    let shown = stdout(&compared(without, &[]));
    assert!(shown.ends_with(expected), "{shown}");
}

#[test]
fn stories_that_differ_or_are_missing_are_told_and_left_out() {
    let change = |file: &mut Value| {
        file["test"]["1-C0"]["sentences"][2] = json!("Ada slept.");
        let story = file["test"].as_object_mut().unwrap().remove("1-O0").unwrap();
        file["dev"] = json!({"1-O0": story});
    };
    let answer = compared_json(change);
    assert_eq!(answer["stories"], json!(1));
    let left_out =
        [("test", "1-C0", "other_sentences"), ("test", "1-O0", "only_first"), ("dev", "1-O0", "only_second")]
            .map(|(split, story, why)| json!({"split": split, "story": story, "why": why}));
    assert_eq!(answer["left_out"], json!(left_out));
    let told = stderr(&compared(change, &["--split", "test"]));
    assert!(told.contains("warning: 1 story with different sentences, left out: test/1-C0\n"), "{told}");
    assert!(told.contains("a.json, left out: test/1-O0\n") && !told.contains("dev/1-O0"), "{told}");
}

#[test]
fn without_a_shared_story_there_is_no_agreement() {
    let renamed = |file: &mut Value| *file = json!({"dev": file["test"]});
    let output = compared(renamed, &[]);
    assert_eq!(output.status.code(), Some(65));
    assert!(stderr(&output).contains("have no story in common"), "{}", stderr(&output));
    let output = compared(renamed, &["--split", "test"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(stderr(&output).contains("has no split \"test\""), "{}", stderr(&output));
    let output = tiered(["data", "agreement", "no-such-file.json", "no-such-file.json"]);
    assert_eq!(output.status.code(), Some(66));
    assert_eq!(tiered(["data", "agreement", "a.json"]).status.code(), Some(2));
}

#[test]
fn only_the_first_disagreements_are_listed_unless_all_are_asked_for() {
    let shut = |file: &mut Value| {
        for story in file["test"].as_object_mut().unwrap().values_mut() {
            for row in story["states"].as_array_mut().unwrap() {
                *row = json!({"h_location": [["Ada", 2]], "open": [["chest", 0]], "exist": [["chest", 0]]});
            }
        }
    };
    let [first, all] = [&[][..], &["--verbose"]].map(|arguments| stdout(&compared(shut, arguments)));
    assert_eq!([&first, &all].map(|shown| shown.matches(": A ").count()), [20, 27]);
    assert!(first.contains("27 disagreements:") && first.ends_with("and 7 more: --verbose\n"), "{first}");
    assert!(!all.contains("more: --verbose"), "{all}");
}
