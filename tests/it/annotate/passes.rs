//! A second annotator's pass.

use super::rig::{ADA, BO, By, Rig};
use crate::support::{stdout, text, tiered};
use serde_json::{Value, json};
use tiered::annotate::Direction;
use tiered::language::Language;

const SECOND: By = By { pass: "second", ..BO };

/// 1-C0 in the pass second: its conflict, and the labels of its sentences.
fn answers(rig: &mut Rig) -> [Value; 3] {
    let view = rig.content("1-C0", "second");
    ["conflict", "labels", "done"].map(|field| view[field].clone())
}

/// The pass main shares 1-C0 with Bo's pass, in which its sentences 4 and 3 are in conflict and labelled.
fn with_two_passes() -> Rig {
    let mut rig = Rig::new();
    rig.with_versions();
    rig.send(
        &SECOND,
        "1-C0",
        json!([
            {"op": "labels", "entity": 2, "sentence": 3, "values": {"open": 3, "wet": 1}},
            {"op": "conflict", "evidence": 4, "breakpoint": 3},
            {"op": "done", "done": true},
        ]),
    )
    .unwrap();
    rig
}

#[test]
fn a_copy_of_a_sentence_keeps_the_answers_of_every_pass() {
    let mut rig = with_two_passes();
    let before = answers(&mut rig);
    let what = rig.ada("1-C0", json!([{"op": "own", "sentence": 3}])).revision - 1;
    let after = answers(&mut rig);
    assert_eq!(after[0], json!({"evidence": 4, "breakpoint": 5}), "the mark stays at its position");
    assert_eq!(after[1], json!([{"entity": 2, "sentence": 5, "values": {"wet": 1, "open": 3}}]));
    assert_eq!(after[2], json!(true));
    let told = rig.project().events(what, "main", Language::English).events[0].what.clone();
    assert!(!told.contains("second"), "{told}");
    rig.reopen();
    assert_eq!(answers(&mut rig), after, "the journal has it");
    rig.go(&ADA, Direction::Undo).unwrap();
    assert_eq!(answers(&mut rig), before);
    rig.go(&ADA, Direction::Redo).unwrap();
    assert_eq!(answers(&mut rig), after);
    // That Ada moved Bo's mark is no clash for Bo.
    rig.send(&By { base: Some(what), ..SECOND }, "1-C0", json!([{"op": "conflict", "evidence": 4, "breakpoint": 2}]))
        .unwrap();
}

#[test]
fn a_replaced_sentence_keeps_the_conflict_of_every_pass() {
    let mut rig = with_two_passes();
    rig.ada("1-C0", json!([{"op": "replace", "sentence": 3, "text": "Rosa sat on the box."}]));
    let [conflict, labels, done] = answers(&mut rig);
    assert_eq!(conflict, json!({"evidence": 4, "breakpoint": 5}));
    assert_eq!((labels, done), (json!([]), json!(true)), "a new sentence has no labels");
}

#[test]
fn a_second_pass_is_blind_to_the_first_and_both_can_be_compared() {
    let mut rig = Rig::new();
    rig.with_versions();
    let view = rig.project().story("1-C0", "second", "Bo", Language::English).unwrap();
    assert!(view.labels.is_empty() && view.conflict.is_none() && view.undo.is_none());
    let told = serde_json::to_string(&rig.project().view("second")).unwrap();
    assert!(!told.contains("\"has_conflict\":true") && !told.contains("\"labelled\":1"), "{told}");
    rig.send(
        &SECOND,
        "1-C0",
        json!([
            {"op": "labels", "entity": 2, "sentence": 4, "values": {"open": 3}},
            {"op": "labels", "entity": 2, "sentence": 2, "values": {"open": 2, "contain": 6}},
            {"op": "conflict", "evidence": 4, "breakpoint": 3},
        ]),
    )
    .unwrap();
    let events = rig.project().events(0, "main", Language::English).events;
    assert!(events.iter().all(|event| event.who == "Ada"));
    // Newer than the journal, and not what the journal says: the program was killed while somebody edited.
    std::fs::write(rig.folder().join("main.json"), "{}").unwrap();
    rig.project().refresh_story_files().unwrap();
    let [main, other] = ["main.json", "second.json"].map(|name| rig.folder().join(name));
    let output = tiered(["data", "agreement", text(&main), text(&other), "--format", "json"]);
    let compared: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(compared["stories"], json!(2), "{compared:#}");
    assert!(stdout(&output).contains("\"open\""));
}
