//! A second annotator's pass.

use super::rig::{BO, By, Rig};
use crate::support::{stdout, text, tiered};
use serde_json::json;

#[test]
fn a_second_pass_is_blind_to_the_first_and_both_can_be_compared() {
    let mut rig = Rig::new();
    rig.with_versions();
    let second = By { pass: "second", ..BO };
    let view = rig.project().story("1-C0", "second", "Bo").unwrap();
    assert!(view.labels.is_empty() && view.conflict.is_none() && view.undo.is_none());
    let told = serde_json::to_string(&rig.project().view("second")).unwrap();
    assert!(!told.contains("\"has_conflict\":true") && !told.contains("\"labelled\":1"), "{told}");
    rig.send(
        &second,
        "1-C0",
        json!([
            {"op": "labels", "entity": 2, "sentence": 4, "values": {"open": 3}},
            {"op": "labels", "entity": 2, "sentence": 2, "values": {"open": 2, "contain": 6}},
            {"op": "conflict", "evidence": 4, "breakpoint": 3},
        ]),
    )
    .unwrap();
    let events = rig.project().events(0, "main").events;
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
