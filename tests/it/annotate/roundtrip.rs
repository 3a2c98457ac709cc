//! Story files become projects and story files again.

use super::rig::{ADA, Rig};
use crate::support::{real_data, rng};
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tiered::annotate::{Direction, InWords, OnClash, Sender, StoryFormat};
use tiered::attribute::Attribute;
use tiered::data::{Code, Severity, Story, StoryFile, read_bytes, read_file};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name)
}

fn import(rig: &mut Rig, path: &Path, split: &str) -> StoryFile {
    let file = read_file(path).unwrap();
    let sender = Sender { who: "Ada", window: "import", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    rig.project().import(sender, &file, Some(split)).unwrap();
    file
}

/// What must not get lost of a story.
fn essence(story: &Story) -> Value {
    let label = |n: usize| {
        let labels = |entity: &tiered::data::Entity| -> Vec<_> {
            Attribute::ALL.into_iter().filter_map(|a| entity.label(n, a).map(|label| (a, label))).collect()
        };
        let mut all: Vec<_> = story.entities.iter().map(|entity| (entity.name.clone(), labels(entity))).collect();
        all.sort();
        json!(all)
    };
    json!({
        "sentences": story.sentences, "conflict": story.conflict, "kind": story.kind, "group": story.group,
        "labels": (0..story.sentences.len()).map(label).collect::<Vec<_>>(),
    })
}

fn exported(rig: &mut Rig, format: StoryFormat) -> (StoryFile, Vec<(String, String)>) {
    let export = rig.project().stories().export("main", format, "test").unwrap();
    let file = read_bytes("export".as_ref(), export.file.to_string().as_bytes()).unwrap();
    (file, export.left_out.into_iter().map(|left| (left.story, left.why.english())).collect())
}

/// Findings that a project can't have caused by its form.
fn faults(file: &StoryFile) -> Vec<String> {
    let is_fault = |code: Code| !matches!(code, Code::SimilarNames | Code::GarbledText | Code::NoStateLabels);
    let faults = file.findings.iter().filter(|finding| finding.severity != Severity::Note && is_fault(finding.code));
    faults.map(ToString::to_string).collect()
}

fn assert_same(path: &Path, split: &str) -> usize {
    let mut rig = Rig::new();
    let file = import(&mut rig, path, split);
    let stories = file.split(split).unwrap();
    for format in [StoryFormat::Trip, StoryFormat::Gita] {
        let (again, left_out) = exported(&mut rig, format);
        assert_eq!((left_out, faults(&again)), (Vec::new(), Vec::new()));
        if format == StoryFormat::Gita {
            assert_eq!(again.split("test").unwrap().len(), stories.len());
            continue;
        }
        for story in stories {
            let other = again.split("test").unwrap().iter().find(|other| other.id == story.id).unwrap();
            assert_eq!(essence(other), essence(story), "{}", story.id);
        }
    }
    stories.len()
}

#[test]
fn synthetic_stories_come_back_as_they_were() {
    assert_eq!(assert_same(&sample("en-dev.json"), "dev"), 60);
    assert_eq!(assert_same(&sample("it.json"), "test"), 120);
}

#[test]
fn trip_comes_back_as_it_was() {
    let Some(trip) = real_data("data/trip/www.json") else { return };
    assert_eq!(assert_same(&trip, "dev"), 250);
    assert_eq!(assert_same(&trip, "train"), 474);
}

#[test]
fn gita_comes_back_without_its_faults() {
    let Some(gita) = real_data("data/gita/GITA_test.json") else { return };
    let mut rig = Rig::new();
    let file = import(&mut rig, &gita, "test");
    assert!(!faults(&file).is_empty());
    for format in [StoryFormat::Gita, StoryFormat::Trip] {
        let (again, left_out) = exported(&mut rig, format);
        assert_eq!(faults(&again), Vec::<String>::new());
        let left: Vec<_> = left_out.iter().map(|(story, _)| story.as_str()).collect();
        assert_eq!(left, ["32-O0", "69", "69-C0", "69-O0", "74", "74-C0", "74-O0"], "{left_out:?}");
        let stories = again.split("test").unwrap();
        let ids: BTreeSet<_> = stories.iter().map(|story| story.id.as_str()).collect();
        assert_eq!(ids.len(), stories.len());
        for story in file.split("test").unwrap().iter().filter(|story| ids.contains(story.id.as_str())) {
            let other = stories.iter().find(|other| other.id == story.id).unwrap();
            assert_eq!(essence(other), essence(story), "{}", story.id);
        }
    }
}

#[test]
fn a_taken_number_gives_way_and_an_import_is_made_once() {
    let mut rig = Rig::new();
    rig.with_story();
    let file = read_file(&sample("en-dev.json")).unwrap();
    let sender = Sender { who: "Ada", window: "w", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    let imported = rig.project().import(sender, &file, None).unwrap();
    let renamed: Vec<_> = imported.stories.iter().filter(|story| story.story != story.was).collect();
    assert_eq!(renamed.len(), 3, "{renamed:?}");
    assert!(renamed.iter().all(|story| story.was.starts_with('1') && story.story.starts_with("20")));
    // Who did not hear the answer sends it again.
    let revision = rig.project().revision();
    assert_eq!(rig.project().import(sender, &file, None).unwrap(), imported);
    assert_eq!(rig.project().revision(), revision);
}

/// The program was killed after some of the groups.
#[test]
fn an_interrupted_import_goes_on_with_the_groups_that_are_missing() {
    let mut rig = Rig::new();
    rig.with_story();
    let before = rig.project().revision() as usize;
    let file = read_file(&sample("en-dev.json")).unwrap();
    let sender = Sender { who: "Ada", window: "w", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    let whole = rig.project().import(sender, &file, None).unwrap();
    let stories = rig.project().view("main").stories;
    let journal = rig.folder().join("journal.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    for groups in [0, 1, 7] {
        rig.project = None;
        let kept: String = lines.split_inclusive('\n').take(before + groups).collect();
        std::fs::write(&journal, kept).unwrap();
        rig.reopen();
        let again = rig.project().import(sender, &file, None).unwrap();
        assert_eq!(again, whole, "after {groups} groups");
        assert_eq!(rig.project().view("main").stories, stories, "after {groups} groups");
        assert_eq!(rig.project().import(sender, &file, None).unwrap(), whole);
    }
}

/// Splits may count their groups alike, and a person may have labels in one story only.
#[test]
fn groups_are_those_of_a_split_and_people_those_of_a_group() {
    let mut rig = Rig::new();
    let story = |plausible: bool, sentences: [&str; 2]| {
        let conflict = if plausible { json!([]) } else { json!([0]) };
        json!({"story_id": 0, "plausible": plausible, "type": if plausible { Value::Null } else { json!("cloze") },
               "breakpoint": if plausible { -1 } else { 1 }, "confl_sents": conflict, "sentences": sentences,
               "entities": ["Ann", "cup"], "actor": "Bo"})
    };
    let mut broken = story(false, ["Ann took a cup.", "Ann slept."]);
    broken.as_object_mut().unwrap().remove("entities");
    broken["states"] = json!([{"exist": [["cup", 2]]}, {"conscious": [["Ann", 1]]}]);
    let split = |word: &str, version: Value| {
        let plausible = story(true, [&format!("Ann took a {word}."), "Ann left."]);
        json!({"0": plausible, "0-C0": version})
    };
    let hat = story(false, ["Ann took a hat.", "The hat was gone."]);
    let text = json!({"train": split("cup", broken), "test": split("hat", hat)}).to_string();
    let file = read_bytes("two.json".as_ref(), text.as_bytes()).unwrap();
    let sender = Sender { who: "Ada", window: "w", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    let imported = rig.project().import(sender, &file, None).unwrap();
    let keys: Vec<&str> = imported.stories.iter().map(|story| story.story.as_str()).collect();
    assert_eq!(keys, ["0", "0-C0", "1", "1-C0"], "{imported:?}");
    assert_eq!(rig.view("1-C0").sentences[0].text, "Ann took a hat.");
    let entities = serde_json::to_value(&rig.view("0").entities).unwrap();
    let ann = entities.as_array().unwrap().iter().find(|entity| entity["name"] == "Ann").unwrap();
    assert_eq!(ann["person"], json!(true));
}

#[test]
fn the_actor_is_the_first_that_is_an_entity() {
    let mut rig = Rig::new();
    let story = |actor: &str, breakpoint: i64, last: &str| {
        let (kind, conflict) = if breakpoint < 0 { (Value::Null, json!([])) } else { (json!("cloze"), json!([0])) };
        json!({"story_id": 1, "type": kind, "plausible": breakpoint < 0, "breakpoint": breakpoint, "confl_sents": conflict,
               "sentences": ["Ann took a cup.", last], "entities": ["Ann", "cup"], "actor": actor})
    };
    let stories = json!({"1": story("Anna", -1, "Ann left."), "1-C0": story("Ann", 1, "The cup was gone.")});
    let file = read_bytes("actors".as_ref(), json!({"test": stories}).to_string().as_bytes()).unwrap();
    let sender = Sender { who: "Ada", window: "w", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    rig.project().import(sender, &file, None).unwrap();
    let view = rig.view("1");
    let actor = view.entities.iter().find(|entity| Some(entity.id) == view.actor);
    assert_eq!(actor.map(|actor| actor.name.as_str()), Some("Ann"));
}

#[test]
fn a_number_that_is_too_large_is_not_kept() {
    let mut rig = Rig::new();
    let text = format!(
        r#"{{"test": {{"a": {{"story_id": {}, "sentences": ["Rosa slept."], "entities": ["Rosa"]}}}}}}"#,
        i64::MAX
    );
    let file = read_bytes("large".as_ref(), text.as_bytes()).unwrap();
    let sender = Sender { who: "Ada", window: "w", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    let imported = rig.project().import(sender, &file, None).unwrap();
    assert_eq!((imported.stories[0].story.as_str(), imported.stories[0].was.as_str()), ("1", "a"));
    assert_eq!(rig.ada("", json!([{"op": "add_story", "sentences": []}])).story, "2");
}

/// An operation, mostly a sensible one.
fn random_op(rng: &mut impl RngExt, rig: &mut Rig) -> (String, Value) {
    let stories = rig.project().view("main").stories;
    if stories.is_empty() || rng.random_bool(0.05) {
        let sentences = ["Rosa opened the box.", "Rosa slept.", "", "She broke the cup."];
        return (String::new(), json!({"op": "add_story", "sentences": &sentences[..rng.random_range(0..=4)]}));
    }
    let story = stories[rng.random_range(0..stories.len())].story.clone();
    let view = rig.view(&story);
    let sentence = |rng: &mut dyn FnMut(usize) -> usize| match view.sentences.len() {
        0 => 9,
        length => view.sentences[rng(length)].id.0,
    };
    let mut pick = |below: usize| rng.random_range(0..below);
    let (a, b) = (sentence(&mut pick), sentence(&mut pick));
    let entity = if view.entities.is_empty() { 9 } else { view.entities[pick(view.entities.len())].id.0 };
    let name = ["box", "Rosa", "cup", " pen", "Box"][pick(5)];
    let text = ["Rosa closed it.", "", "Rosa opened the box."][pick(3)];
    let attribute = Attribute::ALL[pick(20)];
    let label = pick(usize::from(attribute.max_label()) + 1);
    let op = match pick(18) {
        0 => json!({"op": "version", "kind": "cloze", "sentence": a, "text": text}),
        1 => json!({"op": "version", "kind": "order", "swap": [a, b]}),
        2 => json!({"op": "text", "sentence": a, "text": text}),
        3 => json!({"op": "replace", "sentence": a, "text": text}),
        4 => json!({"op": "insert", "after": a, "text": text}),
        5 => json!({"op": "move", "sentence": a, "after": b}),
        6 => json!({"op": "swap", "sentences": [a, b]}),
        7 => json!({"op": "own", "sentence": a}),
        8 => json!({"op": "entity", "name": name, "person": pick(2) == 0}),
        9 => json!({"op": "drop", "entity": entity}),
        10 => json!({"op": "rename", "entity": entity, "name": name}),
        11 => json!({"op": "actor", "entity": entity}),
        12 => json!({"op": "remove", "sentence": a}),
        13 if pick(5) == 0 => json!({"op": "remove_story"}),
        13 | 14 => json!({"op": "conflict", "evidence": a, "breakpoint": b}),
        _ => json!({"op": "labels", "entity": entity, "sentence": a, "values": {attribute.name(): label}}),
    };
    (story, op)
}

#[test]
fn whatever_is_edited_the_export_has_no_faults_and_the_journal_has_it_all() {
    for seed in 0..12 {
        let (mut rig, mut rng) = (Rig::new(), rng(seed));
        let mut made = 0;
        for _ in 0..150 {
            let (story, op) = random_op(&mut rng, &mut rig);
            made += usize::from(rig.send(&ADA, &story, json!([op])).is_ok());
            if rng.random_bool(0.1) {
                let _ = rig.go(&ADA, if rng.random_bool(0.7) { Direction::Undo } else { Direction::Redo });
            }
        }
        assert!(made > 60, "{made}");
        let keys: Vec<_> = rig.project().view("main").stories.into_iter().map(|line| line.story).collect();
        let content = |rig: &mut Rig| keys.iter().map(|key| rig.content(key, "main")).collect::<Vec<_>>();
        let before = content(&mut rig);
        rig.reopen();
        assert_eq!(content(&mut rig), before);
        for format in [StoryFormat::Trip, StoryFormat::Gita] {
            let export = rig.project().stories().export("main", format, "dev").unwrap();
            if export.left_out.len() < keys.len() {
                let file = read_bytes("export".as_ref(), export.file.to_string().as_bytes()).unwrap();
                assert_eq!(faults(&file), Vec::<String>::new());
                assert_eq!(file.split("dev").unwrap().len() + export.left_out.len(), keys.len());
            }
        }
        while rig.go(&ADA, Direction::Undo).is_ok() {}
        assert!(rig.project().view("main").stories.is_empty(), "seed {seed}");
    }
}
