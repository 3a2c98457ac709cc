//! Every kind of finding, provoked by a small change to a clean file.

use crate::support::{clean_file, read_text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tiered::attribute::Attribute;
use tiered::data::{Code, Conflict, Kind, Severity, Story, StoryFile, pairs};
use tiered::error::ErrorKind;

fn read(file: &Value) -> StoryFile {
    read_text(&file.to_string()).unwrap()
}

/// The clean file, one story of it edited.
fn edited(story: &str, edit: impl FnOnce(&mut Value)) -> StoryFile {
    let mut file = clean_file();
    edit(&mut file["test"][story]);
    read(&file)
}

/// The clean file with one field of a story set.
fn with(story: &str, field: &str, value: Value) -> StoryFile {
    edited(story, |story| story[field] = value)
}

/// The clean file with one field of a story removed.
fn without(story: &str, field: &str) -> StoryFile {
    edited(story, |story| drop(story.as_object_mut().unwrap().shift_remove(field).unwrap()))
}

/// The clean file with one attribute of a row of "1-C0" set.
fn with_labels(attribute: &str, labels: Value) -> StoryFile {
    edited("1-C0", |story| story["states"][1][attribute] = labels)
}

/// The clean file in which story "1-C0" has another key.
fn with_key(key: &str) -> StoryFile {
    let mut file = clean_file();
    let mut story = file["test"]["1-C0"].take();
    file["test"].as_object_mut().unwrap().shift_remove("1-C0");
    story["example_id"] = json!(key);
    file["test"][key] = story;
    read(&file)
}

fn story<'a>(file: &'a StoryFile, id: &str) -> Option<&'a Story> {
    file.splits[0].1.iter().find(|story| story.id == id)
}

/// (code, story, field) of every finding.
fn places(file: &StoryFile) -> Vec<(&'static str, &str, &str)> {
    file.findings.iter().map(|f| (f.code.name(), f.story.as_str(), f.field.as_str())).collect()
}

#[test]
fn a_clean_file_has_no_findings() {
    let file = read(&clean_file());
    assert_eq!(places(&file), []);
    assert_eq!(file.split("test").unwrap().len(), 3);
    file.require_clean().unwrap();
    let cloze = story(&file, "1-C0").unwrap();
    assert_eq!(cloze.conflict, Some(Conflict { evidence: 0, breakpoint: 1 }));
    assert_eq!(cloze.kind, Some(Kind::Cloze));
    assert_eq!(cloze.entities.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["Ada", "chest"]);
    assert_eq!(pairs(file.split("test").unwrap(), 1).len(), 2);
}

#[test]
fn the_order_of_entities_is_that_of_the_file() {
    let file = edited("1", |story| story["states"][0] = json!({"open": [["lid", 0]], "h_location": [["Ada", 0]]}));
    let names: Vec<_> = story(&file, "1").unwrap().entities.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["lid", "Ada", "chest"]);
}

#[test]
fn unlabelled_sentences_have_class_0_and_are_not_annotated() {
    let file = edited("1", |story| story["states"][1] = json!({"open": [["lid", 2]]}));
    let story = story(&file, "1").unwrap();
    let chest = &story.entities[1];
    assert_eq!([0, 1, 2].map(|sentence| chest.is_annotated(sentence)), [true, false, true]);
    assert_eq!(chest.preconditions[1], [0; 20]);
    let lid = &story.entities[2];
    assert_eq!([0, 1, 2].map(|sentence| lid.is_annotated(sentence)), [false, true, false]);
    assert_eq!([Attribute::Open, Attribute::Exist].map(|attribute| lid.label(1, attribute)), [Some(2), None]);
    // Of an annotated entity, an attribute without a label is 0 too, even if its default is 2.
    assert_eq!(lid.effects[1].iter().sum::<u8>(), 2);
}

/// As pandas writes a column with a missing value.
#[test]
fn whole_numbers_may_have_a_point() {
    let file = edited("1-C0", |story| story["breakpoint"] = json!(story["breakpoint"].as_i64().unwrap() as f64));
    assert_eq!(places(&file), places(&edited("1-C0", |_| ())));
}

/// An error finding: the story is left out, the others are read.
#[test]
fn errors_leave_the_story_out() {
    let cases = [
        (edited("1-C0", |story| *story = json!([])), "wrong-type", ""),
        (with("1-C0", "sentences", json!("one")), "wrong-type", "sentences"),
        (with("1-C0", "sentences", json!(["one", 2, "three"])), "wrong-type", "sentences[1]"),
        (with("1-C0", "plausible", json!("no")), "wrong-type", "plausible"),
        (with("1-C0", "breakpoint", json!(1.5)), "wrong-type", "breakpoint"),
        (with("1-C0", "confl_sents", json!(0)), "wrong-type", "confl_sents"),
        (with("1-C0", "confl_sents", json!([[0], "1"])), "wrong-type", "confl_sents"),
        (with("1-C0", "story_id", json!("1")), "wrong-type", "story_id"),
        (with("1-C0", "type", json!(1)), "wrong-type", "type"),
        (with("1-C0", "states", json!({})), "wrong-type", "states"),
        (edited("1-C0", |story| story["states"][2] = json!([])), "wrong-type", "states[2]"),
        (with_labels("open", json!({})), "wrong-type", "states[1].open"),
        (with_labels("open", json!([["chest", 1], ["chest"]])), "wrong-type", "states[1].open[1]"),
        (with_labels("open", json!([["chest", true]])), "wrong-type", "states[1].open[0]"),
        (without("1-C0", "sentences"), "missing-field", "sentences"),
        (without("1-C0", "states"), "missing-field", "states"),
        (with("1-C0", "sentences", json!([])), "no-sentences", "sentences"),
        (with("1-C0", "states", json!([{}, {"open": []}, {}])), "no-entities", "states"),
        (with_labels("open", json!([["  ", 1]])), "empty-name", "states[1].open[0]"),
        (with_labels("opened", json!([["chest", 1]])), "unknown-attribute", "states[1].opened"),
        (with_labels("open", json!([["chest", 9]])), "label-out-of-range", "states[1].open[0]"),
        (with_labels("open", json!([["chest", -1]])), "label-out-of-range", "states[1].open[0]"),
        (with_labels("h_location", json!([["Ada", 3]])), "label-out-of-range", "states[1].h_location[0]"),
        (with("1-C0", "breakpoint", json!(3)), "breakpoint-out-of-range", "breakpoint"),
        (with("1-C0", "breakpoint", json!(-2)), "breakpoint-out-of-range", "breakpoint"),
        (with("1-C0", "confl_sents", json!([])), "no-evidence", "confl_sents"),
        (with("1-C0", "confl_sents", json!([1, 2])), "no-evidence", "confl_sents"),
        (with("1-C0", "breakpoint", json!(0)), "no-evidence", "confl_sents"),
        (with("1-C0", "breakpoint", json!(-1)), "no-breakpoint", "breakpoint"),
        (with("1-C0", "type", json!("swap")), "unknown-kind", "type"),
    ];
    let ignored = with("1-C0", "confl_sents", json!([1, 2]));
    let ignored = ignored.findings.iter().filter(|finding| finding.code.name() == "ignored-evidence").count();
    assert_eq!(ignored, 2, "what is ignored is said also where nothing is left");
    for (file, code, field) in cases {
        let errors: Vec<_> = file.findings.iter().filter(|f| f.severity == Severity::Error).collect();
        let places: Vec<_> = errors.iter().map(|f| (f.code.name(), f.story.as_str(), f.field.as_str())).collect();
        assert_eq!(places, [(code, "1-C0", field)]);
        assert_eq!(errors[0].split, "test");
        assert!(story(&file, "1-C0").is_none(), "{code}: left out");
        assert_eq!(file.splits[0].1.len(), 2, "{code}: the others are read");
        assert_eq!(file.require_clean().unwrap_err().kind, ErrorKind::Data);
    }
}

/// A warning or note: the story is read.
#[test]
fn irregular_stories_are_read() {
    let cases = [
        (without("1-C0", "plausible"), "assumed-field", "plausible"),
        (without("1-C0", "story_id"), "assumed-field", "story_id"),
        (without("1", "breakpoint"), "assumed-field", "breakpoint"),
        (without("1-C0", "type"), "assumed-field", "type"),
        (without("1", "confl_sents"), "assumed-field", "confl_sents"),
        (with("1-C0", "actor", json!(7)), "ignored-field", "actor"),
        (with("1-C0", "example_id", json!(7)), "ignored-field", "example_id"),
        (with("1-C0", "plausible", json!(true)), "plausible-contradicted", "plausible"),
        (with("1", "plausible", json!(false)), "plausible-contradicted", "plausible"),
        (with("1-C0", "type", json!("order")), "type-contradicted", "type"),
        (with("1-C0", "type", Value::Null), "type-contradicted", "type"),
        (with("1", "type", json!("order")), "type-contradicted", "type"),
        (with_key("1-other"), "key-contradicted", ""),
        (with_key("2-C0"), "group-differs", "story_id"),
        (with("1-C0", "example_id", json!("1-O0")), "example-id-differs", "example_id"),
        (with("1-C0", "length", json!(5)), "length-differs", "length"),
        (edited("1-C0", |story| story["sentences"][2] = json!("  ")), "empty-sentence", "sentences[2]"),
        (edited("1-C0", |story| drop(story["states"].as_array_mut().unwrap().pop())), "missing-state-rows", "states"),
        (
            edited("1-C0", |s| s["states"].as_array_mut().unwrap().push(json!({"oops": 1}))),
            "extra-state-rows",
            "states",
        ),
        (with("1-C0", "sentences", clean_file()["test"]["1"]["sentences"].clone()), "same-sentences", "sentences"),
        (
            edited("1-C0", |story| story["sentences"][2] = json!("Ada mangi\u{c3}\u{b2}.")),
            "garbled-text",
            "sentences[2]",
        ),
        (with_labels("solid", json!([["caff\u{fffd}", 1]])), "garbled-text", "states[1].solid[0]"),
        (with("1-C0", "confl_sents", json!([[0]])), "nested-confl-sents", "confl_sents"),
        (with("1", "confl_sents", json!([[]])), "nested-confl-sents", "confl_sents"),
        (with_labels("open", json!([["Chest", 1]])), "similar-names", "states"),
        (with_labels("open", json!([["chest", 1], ["chest", 2]])), "repeated-label", "states[1].open[1]"),
        (edited("1-C0", |story| story["sentences"][2] = json!(" A. ")), "padded-sentence", "sentences[2]"),
        (with("1-C0", "confl_pairs", json!([[0], [1]])), "odd-confl-pairs", "confl_pairs"),
        (edited("1-C0", |story| story["states"][2] = json!({})), "unannotated-sentence", "states[2]"),
    ];
    for (file, code, field) in cases {
        let found: Vec<_> = places(&file).into_iter().map(|(code, _, field)| (code, field)).collect();
        assert_eq!(found, [(code, field)]);
        assert_eq!(file.splits[0].1.len(), 3, "{code}: read");
        file.require_clean().unwrap();
    }
}

#[test]
fn evidence_is_the_last_conflicting_sentence_before_the_breakpoint() {
    let file = edited("1-C0", |story| {
        story["breakpoint"] = json!(2);
        story["confl_sents"] = json!([0, 1, 2]);
        story["confl_pairs"] = json!([[0, 2], [1, 2], [2, 2]]);
    });
    assert_eq!(places(&file), [("ignored-evidence", "1-C0", "confl_sents")]);
    assert_eq!(story(&file, "1-C0").unwrap().conflict, Some(Conflict { evidence: 1, breakpoint: 2 }));
}

#[test]
fn names_that_differ_in_outer_spaces_are_one_entity() {
    let file = with_labels("open", json!([[" chest ", 5]]));
    let found = [("padded-name", "1-C0", "states[1].open[0]"), ("merged-names", "1-C0", "states[1].open[0]")];
    assert_eq!(places(&file), found);
    let story = story(&file, "1-C0").unwrap();
    assert_eq!(story.entities.len(), 2);
    assert_eq!(story.entities[1].effects[1][12], 1);
}

/// "é" as one character, and as a letter and its accent.
#[test]
fn names_that_differ_in_how_accents_are_written_are_one_entity() {
    let file = with_labels("open", json!([["caf\u{e9}", 5], ["cafe\u{301}", 5]]));
    assert_eq!(places(&file), [("merged-names", "1-C0", "states[1].open[1]")]);
    let story = story(&file, "1-C0").unwrap();
    assert_eq!(story.entities.last().unwrap().name, "caf\u{e9}");
    let file = edited("1-C0", |story| story["sentences"][2] = json!("Ada finished the cafe\u{301}."));
    assert_eq!(self::story(&file, "1-C0").unwrap().sentences[2], "Ada finished the caf\u{e9}.");
    let file = with_states(None, json!({"entities": ["caf\u{e9}", "cafe\u{301}"]}));
    assert_eq!(places(&file)[0], ("merged-names", "1-C0", "entities[1]"));
    assert_eq!(self::story(&file, "1-C0").unwrap().entities.len(), 1);
}

/// The clean file in which "1-C0" has these fields beside its own, and these states.
fn with_states(states: Option<Value>, fields: Value) -> StoryFile {
    edited("1-C0", |story| {
        let story = story.as_object_mut().unwrap();
        story.shift_remove("states");
        story.extend(states.map(|states| ("states".to_owned(), states)));
        story.extend(fields.as_object().unwrap().clone());
    })
}

#[test]
fn a_story_without_states_is_read_if_its_entities_are_named() {
    let names = |file: &StoryFile| -> Vec<String> {
        story(file, "1-C0").unwrap().entities.iter().map(|entity| entity.name.clone()).collect()
    };
    for states in [None, Some(Value::Null), Some(json!([])), Some(json!([{}, {"open": []}, {}]))] {
        let listed = with_states(states.clone(), json!({"entities": [" chest", "Ada", "chest"], "objects": "lid"}));
        let spellings = [("padded-name", "1-C0", "entities[0]"), ("merged-names", "1-C0", "entities[2]")];
        assert_eq!(places(&listed), [&spellings[..], &[("no-state-labels", "1-C0", "states")]].concat());
        assert_eq!(names(&listed), ["chest", "Ada"]);
        let nameless = with_states(states.clone(), json!({"entities": ["Ada", "  "]}));
        assert_eq!(places(&nameless), [("empty-name", "1-C0", "entities[1]")]);
        assert!(story(&nameless, "1-C0").is_none());
        let told = with_states(states.clone(), json!({"objects": " chest,lid , , Ada,chest"}));
        assert_eq!(places(&told), [("no-state-labels", "1-C0", "states")]);
        assert_eq!(names(&told), ["Ada", "chest", "lid"]);
        assert!(!story(&told, "1-C0").unwrap().has_states && story(&told, "1").unwrap().has_states);
        assert!(pairs(told.split("test").unwrap(), 0).iter().all(|pair| pair.has_states() == (pair.id == "1-O0")));
        told.require_clean().unwrap();
        // An actor alone is not all that a story is about.
        for fields in [json!({}), json!({"objects": " ,"}), json!({"entities": []})] {
            let file = with_states(states.clone(), fields);
            assert!(story(&file, "1-C0").is_none() && file.count(Severity::Error) == 1);
            let error = file.findings.iter().find(|finding| finding.severity == Severity::Error).unwrap();
            assert!(error.message.contains("name the entities in a list `entities`"), "{error}");
        }
        for fields in [json!({"entities": "Ada, chest"}), json!({"entities": ["Ada", 1]})] {
            let file = with_states(states.clone(), fields);
            assert!(story(&file, "1-C0").is_none() && file.findings[0].code == Code::WrongType, "{:?}", file.findings);
        }
    }
    // Names elsewhere change nothing of a story that has labels.
    assert_eq!(places(&edited("1-C0", |story| story["entities"] = json!(["lid"]))), []);
}

#[test]
fn labels_of_a_row_without_a_sentence_are_no_labels() {
    let rows = json!([{}, {}, {}, {"open": [["chest", 1]]}]);
    let dropped = ("extra-state-rows", "1-C0", "states");
    let named = with_states(Some(rows.clone()), json!({"entities": ["Ada", "chest"]}));
    assert_eq!(places(&named), [dropped, ("no-state-labels", "1-C0", "states")]);
    assert_eq!(story(&named, "1-C0").unwrap().entities.len(), 2);
    assert_eq!(places(&with_states(Some(rows), json!({}))), [dropped, ("no-entities", "1-C0", "states")]);
}

#[test]
fn the_key_decides_the_kind_then_the_type_then_the_sentences() {
    assert_eq!(story(&with("1-C0", "type", json!("order")), "1-C0").unwrap().kind, Some(Kind::Cloze));
    assert_eq!(story(&with_key("1-other"), "1-other").unwrap().kind, Some(Kind::Cloze));
    for (of, kind) in [("1-C0", Kind::Cloze), ("1-O0", Kind::Order)] {
        let mut file = clean_file();
        let mut implausible = file["test"][of].take();
        implausible["type"] = Value::Null;
        implausible["example_id"] = Value::Null;
        let plausible = file["test"]["1"].take();
        let file = read(&json!({"test": {"1": plausible, "1-x": implausible}}));
        assert_eq!(story(&file, "1-x").unwrap().kind, Some(kind));
        let codes: Vec<_> = places(&file).into_iter().map(|(code, ..)| code).collect();
        assert_eq!(codes, ["key-contradicted", "type-contradicted", "inferred-kind"]);
    }
}

#[test]
fn implausible_stories_need_a_plausible_one() {
    let mut file = clean_file();
    file["test"].as_object_mut().unwrap().shift_remove("1");
    let file = read(&file);
    let found = [("no-plausible-story", "1-C0", "story_id"), ("no-plausible-story", "1-O0", "story_id")];
    assert_eq!(places(&file), found);
    assert!(pairs(file.split("test").unwrap(), 0).is_empty());
}

#[test]
fn a_group_uses_its_first_plausible_story() {
    let mut file = clean_file();
    let mut second = file["test"]["1"].clone();
    second["example_id"] = json!("1b");
    file["test"]["1b"] = second;
    let file = read(&file);
    assert_eq!(places(&file), [("second-plausible-story", "1b", "story_id")]);
    assert!(pairs(file.split("test").unwrap(), 0).iter().all(|pair| pair.plausible_story().id == "1"));
}

/// The text of the clean file with a story's text repeated after it.
fn repeated_key() -> StoryFile {
    let file = clean_file();
    let stories: Vec<_> = ["1", "1-C0"].map(|id| format!("{id:?}: {}", file["test"][id])).into();
    read_text(&format!("{{\"test\": {{{}, {}, {}}}}}", stories[0], stories[1], stories[1])).unwrap()
}

#[test]
fn repeated_keys_keep_both_stories() {
    let file = repeated_key();
    assert_eq!(places(&file), [("repeated-key", "1-C0#2", "")]);
    let ids: Vec<_> = file.splits[0].1.iter().map(|story| story.id.as_str()).collect();
    assert_eq!(ids, ["1", "1-C0", "1-C0#2"]);
    assert_eq!(pairs(&file.splits[0].1, 0).len(), 2);
}

fn repeated_split() -> StoryFile {
    let stories = clean_file()["test"].to_string();
    read_text(&format!("{{\"test\": {stories}, \"test\": {stories}}}")).unwrap()
}

fn repeated_fields() -> StoryFile {
    let text = clean_file().to_string();
    let text = text.replacen("\"story_id\":1", "\"story_id\":7,\"story_id\":1", 1);
    read_text(&text.replacen("\"open\":", "\"open\":[[\"box\",1],[\"box\",99]],\"open\":", 1)).unwrap()
}

#[test]
fn repeated_splits_and_fields_are_told() {
    let file = repeated_split();
    assert_eq!(places(&file), [("repeated-split", "", "")]);
    assert_eq!(file.split("test#2").unwrap().len(), 3);
    let file = repeated_fields();
    assert_eq!(places(&file), [("repeated-field", "1", "story_id"), ("repeated-field", "1", "states[0].open")]);
    let story = story(&file, "1").unwrap();
    assert_eq!(story.group, 1);
    assert!(story.entities.iter().all(|entity| entity.name != "box"), "the last value is used, no other");
}

/// More than is read of one thing: the story is left out, and the others are read.
#[test]
fn more_than_is_read() {
    let long = "x".repeat(201);
    let many = |n: usize| (0..n).map(|i| json!([format!("thing {i}"), 1])).collect::<Vec<_>>();
    let cases = [
        (with("1-C0", "sentences", json!(vec!["A."; 129])), "sentences"),
        (with_labels("open", json!([[long, 1]])), "states[1].open[0]"),
        (with_labels("open", json!(many(200))), "states[1].open[127]"),
        (with("1-C0", "sentences", json!(["x".repeat(1 << 20), "B.", "C."])), ""),
    ];
    for (file, field) in &cases {
        assert!(places(file).contains(&("too-large", "1-C0", field)), "{field}: {:?}", places(file).first());
        assert!(story(file, "1-C0").is_none() && story(file, "1-O0").is_some(), "{field}");
    }
    let mut file = clean_file();
    file["test"][&long] = file["test"]["1"].clone();
    file[&long] = json!({});
    let file = read(&file);
    assert_eq!(file.findings.iter().filter(|finding| finding.code.name() == "too-large").count(), 2);
    assert_eq!((file.splits.len(), file.split("test").unwrap().len()), (1, 3));
}

#[test]
fn pairs_that_would_fill_memory_are_left_out() {
    let mut file = clean_file();
    let story = file["test"]["1-C0"].clone();
    file["test"]["1"]["sentences"][0] = json!("x".repeat(1_000_000));
    for i in 1..200 {
        file["test"][format!("1-C{i}")] = story.clone();
    }
    let file = read(&file);
    let left_out = file.findings.iter().filter(|finding| finding.code.name() == "too-large").count();
    let made = pairs(file.split("test").unwrap(), 0).len();
    assert!(made > 50 && left_out > 50 && made + left_out == 201, "{made} {left_out}");
}

/// In memory they are far larger than in the file.
#[test]
fn many_pairs_without_labels_are_read() {
    let story = |group: i64, breakpoint: i64| {
        let (kind, conflict) = if breakpoint < 0 { (Value::Null, json!([])) } else { (json!("cloze"), json!([1])) };
        let last = format!("Ada ate the {}.", if breakpoint < 0 { "soup" } else { "hat" });
        json!({
            "story_id": group, "type": kind, "plausible": breakpoint < 0, "breakpoint": breakpoint,
            "confl_sents": conflict,
            "sentences": ["Ada took a pot out of the cupboard.", "Ada cooked some soup.", "Ada laid the table.", last],
            "entities": [
                "Ada", "pot", "cupboard", "soup", "table", "hat", "spoon", "plate", "kitchen", "lamp", "chair", "window",
            ],
        })
    };
    let mut stories = serde_json::Map::new();
    for group in 0..6000 {
        stories.insert(group.to_string(), story(group, -1));
        stories.insert(format!("{group}-C0"), story(group, 3));
    }
    let file = read(&json!({"test": stories}));
    let other = file.findings.iter().find(|finding| finding.code != Code::NoStateLabels);
    assert_eq!((other, file.split("test").unwrap().len()), (None, 12_000));
}

#[test]
fn a_large_file_may_have_many_warnings() {
    let story = json!({"sentences": ["x".repeat(800)], "entities": ["Ada"]});
    let stories: serde_json::Map<_, _> = (0..21_000).map(|i| (i.to_string(), story.clone())).collect();
    let file = read(&json!({"test": stories}));
    file.require_clean().unwrap();
    assert_eq!((file.findings.len(), file.split("test").unwrap().len()), (105_000, 21_000));
}

#[test]
fn findings_without_end_stop_the_reading() {
    let noisy = json!({"sentences": vec![" "; 128], "states": vec![json!({}); 128]});
    let stories: serde_json::Map<_, _> = (0..1000).map(|i| (i.to_string(), noisy.clone())).collect();
    let file = read(&json!({"test": stories, "later": clean_file()["test"]}));
    let findings = file.findings.len();
    assert!((100_000..110_000).contains(&findings), "{findings}");
    assert_eq!(file.findings.last().map(|finding| finding.code.name()), Some("too-many-findings"));
    assert!(file.require_clean().is_err() && file.splits.iter().all(|(name, _)| name == "test"));
}

#[test]
fn what_is_shown_of_a_file_can_not_move_the_cursor() {
    let mut file = clean_file();
    file["test"]["\u{1b}[2J"] = json!(null);
    let file = read(&file);
    assert_eq!(places(&file), [("wrong-type", "\\u{1b}[2J", "")]);
    assert!(!file.findings[0].to_string().chars().any(char::is_control));
}

#[test]
fn a_split_must_be_an_object() {
    let file = read(&json!({"train": [], "test": clean_file()["test"]}));
    assert_eq!(places(&file), [("wrong-type", "", "")]);
    assert_eq!(file.splits.len(), 2);
    assert!(file.split("dev").unwrap_err().message.contains("[\"train\", \"test\"]"));
}

#[test]
fn unknown_fields_are_ignored_unless_they_look_misspelt() {
    assert_eq!(places(&with("1", "colour", json!("red"))), []);
    let file = edited("1-C0", |story| {
        let story = story.as_object_mut().unwrap();
        let breakpoint = story.shift_remove("breakpoint").unwrap();
        story.insert("break_point".into(), breakpoint);
    });
    let found = [("misspelt-field", "1-C0", "break_point"), ("no-breakpoint", "1-C0", "breakpoint")];
    assert_eq!(places(&file)[..1], found[..1]);
    assert!(file.findings[0].message.contains("did you mean `breakpoint`?"));
    assert_eq!(places(&with("1-C0", "sentence", json!("one"))), [], "the known field is there");
    let file = edited("1", |story| {
        let story = story.as_object_mut().unwrap();
        story.shift_remove("states");
        story.insert("entites".into(), json!(["box"]));
    });
    assert!(places(&file).contains(&("misspelt-field", "1", "entites")), "{:?}", file.findings);
}

/// One error with the remedy, instead of one for each story.
#[test]
fn stories_without_a_split_are_refused() {
    let stories = clean_file()["test"].clone();
    let list = json!([stories["1"], stories["1-C0"]]);
    let cases = [
        (stories.clone(), "these stories are in no split; put them into one"),
        (stories["1"].clone(), "these stories are in no split; put them into one"),
        (list, "not a list"),
        (json!({}), "this one has no stories"),
        (json!({"train": {}, "test": {}}), "this one has no stories"),
    ];
    for (file, words) in cases {
        let error = read_text(&file.to_string()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data);
        assert!(error.message.contains(words) && error.message.contains("{\"test\": {\"1\": {...}, ...}}"), "{error}");
    }
}

#[test]
fn what_is_no_story_file_is_said_in_plain_words() {
    let text = read_text("entities: Mia\nMia slept.\n").unwrap_err().message;
    assert!(text.contains("stories in plain text are for `tiered predict`"), "{text}");
    let folder = tiered::data::read_file(std::env::temp_dir().as_path()).unwrap_err().message;
    assert!(folder.contains("is a folder; name a file"), "{folder}");
}

#[test]
fn a_finding_names_its_place_and_what_stands_there() {
    for (value, name) in [
        (json!(null), "null"),
        (json!(true), "a boolean"),
        (json!(3), "an integer"),
        (json!(2.5), "a number that is not an integer"),
        (json!("one"), "a string"),
    ] {
        let file = with("1-C0", "sentences", value);
        let finding = file.findings.iter().find(|finding| finding.field == "sentences").unwrap();
        assert!(finding.place().ends_with(": test/1-C0 sentences"), "{}", finding.place());
        assert!(finding.message.contains(name), "{} does not name {name}", finding.message);
    }
    let boolean = read_text("true").unwrap_err().message;
    assert!(boolean.contains("not a boolean"), "{boolean}");
}

#[test]
fn the_labels_of_attributes_add_up() {
    let stats = tiered::data::SplitStats::of("test", read(&clean_file()).split("test").unwrap()).all;
    assert!(stats.nontrivial_labels > 0);
    assert_eq!(stats.nontrivial_by_attribute.values().sum::<usize>(), stats.nontrivial_labels);
    assert_eq!(stats.nontrivial_by_attribute.len(), 20);
}

#[test]
fn kinds_and_decodings_have_names() {
    assert_eq!(Kind::ALL.map(|kind| kind.to_string()), ["cloze", "order"]);
    let names = tiered::decode::Decode::ALL.map(tiered::decode::Decode::name);
    assert_eq!(names, ["threshold", "pair", "contrast"]);
}

#[test]
fn broken_json_names_line_and_column() {
    for (text, place) in
        [("{\"test\": {\n  \"1\": }", "line 2 column 8"), ("", "line 1 column 0"), ("[]", "not a list")]
    {
        let error = read_text(text).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data);
        assert!(error.message.contains(place) && error.message.contains("stories.json"), "{error}");
    }
}

#[test]
fn a_missing_file_is_a_missing_input() {
    let error = tiered::data::read_file("no/such/file.json".as_ref()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::MissingInput);
    assert!(error.message.contains("no/such/file.json"));
}

#[test]
fn require_clean_lists_the_first_five_errors_and_the_remedy() {
    let mut file = clean_file();
    for i in 0..7 {
        file["test"][format!("{i}-C9")] = json!(null);
    }
    let message = read(&file).require_clean().unwrap_err().message;
    assert!(message.contains("(errors: 7)") && message.contains("`tiered data check "), "{message}");
    assert_eq!(message.matches("error[wrong-type]").count(), 5);
}

/// Keeps this file complete: whatever kind of finding is added needs a test above.
#[test]
fn every_kind_of_finding_is_provoked_here() {
    let source = include_str!("findings.rs");
    let untested: BTreeSet<_> =
        Code::ALL.iter().map(|code| code.name()).filter(|name| !source.contains(&format!("\"{name}\""))).collect();
    assert!(untested.is_empty(), "{untested:?}");
}
