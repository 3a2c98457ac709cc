//! Hints while a story is annotated.

use super::rig::Rig;
use crate::support::real_data;
use serde_json::json;
use std::path::Path;
use tiered::annotate::{OnClash, Sender};
use tiered::data::read_file;

fn codes(rig: &mut Rig, story: &str) -> Vec<&'static str> {
    rig.view(story).hints.iter().map(|hint| hint.code).collect()
}

fn label(sentence: u32, open: u8) -> serde_json::Value {
    json!([{"op": "labels", "entity": 2, "sentence": sentence, "values": {"open": open}}])
}

#[test]
fn labels_that_contradict_each_other_are_told() {
    let mut rig = Rig::new();
    rig.with_versions();
    assert!(codes(&mut rig, "1").is_empty());
    rig.ada("1", label(2, 1));
    let hints = rig.view("1").hints;
    let expected = [
        "the box is open after sentence 1, but must be closed before sentence 2; the story is plausible, so one of the \
         labels may be wrong",
        "the box is closed after sentence 2, but must be open before sentence 3; the story is plausible, so one of the \
         labels may be wrong",
    ];
    assert_eq!(hints.iter().map(|hint| hint.message.as_str()).collect::<Vec<_>>(), expected);
    let sentences: Vec<_> = hints.iter().map(|hint| hint.sentences.iter().map(|s| s.0).collect::<Vec<_>>()).collect();
    assert_eq!(sentences, [[1, 2], [2, 3]]);
    assert!(hints.iter().all(|hint| hint.code == "contradiction" && hint.entity.unwrap().0 == 2));
}

#[test]
fn conflicts_that_are_not_marked_not_shown_or_too_many_are_told() {
    let mut rig = Rig::new();
    rig.with_versions();
    // Swapped: close, put in, open. Closed after 1, needed open in 2; that is marked. Then open again before opening.
    assert_eq!(codes(&mut rig, "1-O0"), ["second-conflict"]);
    assert!(codes(&mut rig, "1-C0").is_empty());
    rig.ada("1-C0", json!([{"op": "conflict", "evidence": null, "breakpoint": null}]));
    assert_eq!(codes(&mut rig, "1-C0"), ["unmarked-conflict", "no-breakpoint"]);
    rig.ada("1-C0", json!([{"op": "conflict", "evidence": 4, "breakpoint": 3}]));
    assert_eq!(codes(&mut rig, "1-C0"), ["second-conflict", "conflict-not-shown"]);
}

#[test]
fn what_is_gone_is_used_nowhere() {
    let mut rig = Rig::new();
    rig.with_story();
    let pen = |sentence: u32, location: u8| json!([{"op": "labels", "entity": 3, "sentence": sentence, "values": {"location": location}}]);
    rig.ada("1", pen(1, 1));
    rig.ada("1", pen(2, 6));
    let hints = rig.view("1").hints;
    let expected = "the pen has disappeared after sentence 1, but must be there to be put into a container before sentence 2; \
                    the story is plausible, so one of the labels may be wrong";
    assert_eq!(hints[0].message, expected);
}

#[test]
fn the_rules_of_data_check_hold_while_typing() {
    let mut rig = Rig::new();
    rig.with_versions();
    rig.ada("1", json!([{"op": "text", "sentence": 3, "text": ""}]));
    assert_eq!(codes(&mut rig, "1"), ["empty-sentence"]);
    rig.ada("1", json!([{"op": "text", "sentence": 3, "text": "Rosa chiude il caffÃ¨."}]));
    assert_eq!(codes(&mut rig, "1"), ["garbled-text"]);
    rig.ada("1-O0", json!([{"op": "swap", "sentences": [1, 3]}]));
    assert!(codes(&mut rig, "1-O0").contains(&"no-evidence"));
    rig.ada("1-O0", json!([{"op": "conflict", "evidence": 2, "breakpoint": 3}]));
    assert!(codes(&mut rig, "1-O0").contains(&"same-sentences"));
    rig.ada("1", json!([{"op": "entity", "name": "pencil"}, {"op": "entity", "name": "Pencil"}]));
    rig.ada(
        "1",
        json!([
            {"op": "labels", "entity": 4, "sentence": 1, "values": {"open": 1}},
            {"op": "labels", "entity": 5, "sentence": 1, "values": {"open": 1}},
        ]),
    );
    assert!(codes(&mut rig, "1").contains(&"similar-names"));
}

#[test]
fn a_story_that_is_done_has_labels_wherever_something_is_named() {
    let mut rig = Rig::new();
    rig.with_versions();
    rig.ada("1", json!([{"op": "done", "done": true}]));
    let hints: Vec<_> = rig.view("1").hints.into_iter().map(|hint| hint.message).collect();
    let of = |who: &str, n: u32| format!("the story is done, but {who} has no label in sentence {n}");
    assert_eq!(hints, [of("Rosa", 2), of("Rosa", 3)]);
    rig.ada("1", json!([{"op": "labels", "entity": 1, "sentence": 2, "values": {"conscious": 2, "open": 4}}]));
    let hints: Vec<_> = rig.view("1").hints.into_iter().map(|hint| hint.message).collect();
    assert_eq!(hints, [of("Rosa", 3), "open is an attribute of things, but \"Rosa\" is a person".into()]);
}

/// What the hints about labels say of published annotations: stories with a contradiction among the plausible ones; of the
/// others, those whose marked conflict is shown, and those with a second one.
fn in_published(path: &Path, split: &str) -> [(usize, usize); 3] {
    let mut rig = Rig::new();
    let sender = Sender { who: "Ada", window: "w", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    rig.project().import(sender, &read_file(path).unwrap(), Some(split)).unwrap();
    let mut counts = [(0, 0); 3];
    for line in rig.project().view("main").stories {
        let codes = codes(&mut rig, &line.story);
        let mut count =
            |which: usize, is: bool| counts[which] = (counts[which].0 + usize::from(is), counts[which].1 + 1);
        match line.kind {
            None => count(0, codes.contains(&"contradiction")),
            Some(_) => {
                count(1, !codes.contains(&"conflict-not-shown"));
                count(2, codes.contains(&"second-conflict"));
            }
        }
    }
    counts
}

#[test]
fn docs_say_how_often_hints_come_in_published_annotations() {
    let docs = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/annotate.md")).unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/it.json");
    let files = [
        ("TRIP `dev`", real_data("data/trip/www.json"), "dev"),
        ("GITA", real_data("data/gita/GITA_test.json"), "test"),
        ("`data/sample/it.json` (synthetic)", Some(sample), "test"),
    ];
    let mut missing = Vec::new();
    for (name, path, split) in files {
        let Some(path) = path else { continue };
        let cells = in_published(&path, split).map(|(count, total)| format!("{count} of {total}"));
        let row = format!("| {name} | {} |", cells.join(" | "));
        if !docs.contains(&row) {
            missing.push(row);
        }
    }
    assert!(missing.is_empty(), "docs/annotate.md lacks\n{}", missing.join("\n"));
}
