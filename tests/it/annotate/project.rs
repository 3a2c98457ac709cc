//! What edits do, and what two people see of each other.

use super::rig::{ADA, BO, By, Rig, clash, gone, wrong};
use serde_json::{Value, json};
use tiered::annotate::{OnClash, Op, Project, Sender, SentenceId};
use tiered::error::ErrorKind;
use tiered::language::Language;

fn texts(rig: &mut Rig, story: &str) -> Vec<String> {
    rig.view(story).sentences.into_iter().map(|sentence| sentence.text).collect()
}

fn ids(rig: &mut Rig, story: &str) -> Vec<u32> {
    rig.view(story).sentences.into_iter().map(|sentence| sentence.id.0).collect()
}

#[test]
fn versions_share_sentences_until_one_is_replaced() {
    let mut rig = Rig::new();
    rig.with_versions();
    assert_eq!(
        (ids(&mut rig, "1"), ids(&mut rig, "1-O0"), ids(&mut rig, "1-C0")),
        (vec![1, 2, 3], vec![3, 2, 1], vec![4, 2, 3])
    );
    rig.ada("1-O0", json!([{"op": "text", "sentence": 2, "text": "  Rosa put  the red pen into the box. "}]));
    assert!(
        ["1", "1-O0", "1-C0"].iter().all(|story| texts(&mut rig, story)[1] == "Rosa put the red pen into the box.")
    );
    let view = rig.view("1-O0");
    assert_eq!(view.sentences[1].r#in, ["1", "1-C0"]);
    assert_eq!((view.plausible.as_str(), view.versions.as_slice()), ("1", &["1-C0".to_owned(), "1-O0".to_owned()][..]));
    rig.ada("1", json!([{"op": "insert", "after": 2, "text": "Rosa sang."}]));
    let orders = ["1", "1-O0", "1-C0"].map(|story| ids(&mut rig, story));
    assert_eq!(orders, [vec![1, 2, 5, 3], vec![3, 2, 5, 1], vec![4, 2, 5, 3]]);
    rig.ada("1", json!([{"op": "insert", "after": 1, "text": "Rosa danced."}]));
    assert_eq!(ids(&mut rig, "1-C0"), [4, 6, 2, 5, 3], "after the one that replaced it");
    rig.ada("1", json!([{"op": "remove", "sentence": 2}, {"op": "remove", "sentence": 6}]));
    rig.ada("1", json!([{"op": "move", "sentence": 1, "after": 3}]));
    rig.ada("1-C0", json!([{"op": "move", "sentence": 3, "after": null}, {"op": "swap", "sentences": [4, 5]}]));
    let orders = ["1", "1-O0", "1-C0"].map(|story| ids(&mut rig, story));
    assert_eq!(orders, [vec![5, 3, 1], vec![3, 5, 1], vec![3, 5, 4]]);
}

#[test]
fn a_version_may_have_a_copy_of_its_own_with_the_labels() {
    let mut rig = Rig::new();
    rig.with_versions();
    rig.ada("1-C0", json!([{"op": "own", "sentence": 2}]));
    assert_eq!(ids(&mut rig, "1-C0"), [4, 5, 3]);
    let view = rig.view("1-C0");
    assert_eq!(view.conflict.unwrap().breakpoint, SentenceId(5), "the mark stays at its position");
    rig.ada("1-C0", json!([{"op": "labels", "entity": 2, "sentence": 5, "values": {"contain": 8}}]));
    let contain = |rig: &mut Rig, story: &str| {
        let cells = rig.view(story).labels;
        let cell = cells.into_iter().find(|cell| cell.values.values().len() == 2).unwrap();
        serde_json::to_value(cell.values).unwrap()
    };
    assert_eq!(contain(&mut rig, "1"), json!({"open": 2, "contain": 6}));
    assert_eq!(contain(&mut rig, "1-C0"), json!({"open": 2, "contain": 8}));
}

#[test]
fn entities_are_proposed_and_go_with_the_plausible_story() {
    let mut rig = Rig::new();
    rig.ada("", json!([{"op": "add_story", "sentences": ["Rosa took the kettle.", "She filled the cup."]}]));
    let proposed = rig.view("1").proposed;
    let names: Vec<_> = proposed.entities.iter().map(|entity| (entity.name.as_str(), entity.person)).collect();
    assert_eq!(
        (names, proposed.actor.as_deref()),
        (vec![("Rosa", true), ("kettle", false), ("cup", false)], Some("Rosa"))
    );
    rig.ada("1", json!([{"op": "entity", "name": "Rosa", "person": true}, {"op": "actor", "name": "Rosa"}]));
    rig.ada("1", json!([{"op": "version", "kind": "cloze", "sentence": 2, "text": "She broke the mug."}]));
    rig.ada("1", json!([{"op": "entity", "name": " kettle"}]));
    rig.ada("1-C0", json!([{"op": "entity", "name": "mug"}]));
    let names = |rig: &mut Rig, story: &str| rig.view(story).entities.into_iter().map(|e| e.name).collect::<Vec<_>>();
    assert_eq!(names(&mut rig, "1"), ["Rosa", "kettle"]);
    assert_eq!(names(&mut rig, "1-C0"), ["Rosa", "kettle", "mug"]);
    assert_eq!(rig.view("1-C0").entities[0].mentioned.len(), 2, "the actor is meant by pronouns");
    rig.ada("1", json!([{"op": "drop", "entity": 2}]));
    assert_eq!(
        (names(&mut rig, "1"), names(&mut rig, "1-C0")),
        (vec!["Rosa".into()], vec!["Rosa".into(), "mug".into()])
    );
    let message = wrong(rig.send(&ADA, "1-C0", json!([{"op": "rename", "entity": 3, "name": "Rosa"}])));
    assert!(message.contains("another entity"), "{message}");
    rig.ada("1-C0", json!([{"op": "rename", "entity": 3, "name": "kettle"}]));
    assert_eq!(names(&mut rig, "1-C0"), ["Rosa", "kettle"], "the name of one that was dropped");
}

#[test]
fn edits_of_others_merge_and_overlapping_ones_are_told() {
    let mut rig = Rig::new();
    rig.with_story();
    let label = |sentence: u32, label: u8| json!([{"op": "labels", "entity": 2, "sentence": sentence, "values": {"open": label}}]);
    let base = Some(rig.project().revision());
    let bo = By { base, ..BO };
    rig.ada("1", label(1, 4));
    rig.send(&bo, "1", label(2, 2)).unwrap();
    rig.send(&bo, "1", label(1, 4)).unwrap(); // the same value is no clash
    let clashes = clash(rig.send(&bo, "1", json!([
        {"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 3, "wet": 4}}, {"op": "location", "text": "attic"},
    ])));
    assert_eq!(clashes.len(), 1);
    let told = &clashes[0];
    assert_eq!((&told["yours"], &told["theirs"], &told["who"]), (&json!(3), &json!(4), &json!("Ada")));
    assert_eq!((&told["entity"], &told["sentence"], &told["attribute"]), (&json!(2), &json!(1), &json!("open")));
    assert_eq!(told["what"], json!("label open of \"box\" in sentence 1"));
    assert_eq!(rig.view("1").location, "", "nothing of it was made");
    let cell = |rig: &mut Rig| serde_json::to_value(&rig.view("1").labels[0].values).unwrap();
    let both = json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 3, "wet": 4}}]);
    rig.send(&By { on_clash: OnClash::Keep, ..bo.clone() }, "1", both.clone()).unwrap();
    assert_eq!(cell(&mut rig), json!({"wet": 4, "open": 4}));
    rig.send(&By { on_clash: OnClash::Override, ..bo }, "1", both).unwrap();
    assert_eq!(cell(&mut rig), json!({"wet": 4, "open": 3}));
    // One's own window has seen all that it did.
    rig.send(&By { base, ..BO }, "1", label(1, 7)).unwrap();
    // Two people insert at the same time, two swap at the same time.
    let base = Some(rig.project().revision());
    rig.ada("1", json!([{"op": "insert", "after": 1, "text": "Ada's."}]));
    rig.send(&By { base, ..BO }, "1", json!([{"op": "insert", "after": 3, "text": "Bo's."}])).unwrap();
    assert_eq!(ids(&mut rig, "1"), [1, 4, 2, 3, 5]);
    let base = Some(rig.project().revision());
    rig.ada("1", json!([{"op": "swap", "sentences": [1, 2]}]));
    clash(rig.send(&By { base, ..BO }, "1", json!([{"op": "swap", "sentences": [1, 2]}])));
    // What is not there any more.
    rig.ada("1", json!([{"op": "remove", "sentence": 5}]));
    let message = gone(rig.send(&By { base, ..BO }, "1", label(5, 1)));
    assert!(message.contains("no sentence with id 5"), "{message}");
    let message = gone(rig.send(&BO, "7", label(5, 1)));
    assert!(message.contains("no story \"7\""), "{message}");
}

#[test]
fn events_tell_what_others_did() {
    let mut rig = Rig::new();
    rig.with_story();
    let since = rig.project().revision();
    rig.send(&BO, "1", json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 4, "wet": 4}}])).unwrap();
    rig.send(&By { pass: "second", ..BO }, "1", json!([{"op": "done", "done": true}])).unwrap();
    rig.send(&By { pass: "second", ..BO }, "1", json!([{"op": "text", "sentence": 1, "text": "New."}])).unwrap();
    let events = rig.project().events(since, "main", Language::English);
    let told: Vec<_> = events.events.iter().map(|event| (event.who.as_str(), event.what.as_str())).collect();
    assert_eq!(told, [("Bo", "label wet of \"box\" in sentence 1, and 1 more"), ("Bo", "the text of sentence 1")]);
    assert_eq!((events.revision, events.more), (since + 3, false));
    assert!(rig.project().events(since + 3, "main", Language::English).events.is_empty());
    assert!(rig.project().events(u64::MAX, "main", Language::English).events.is_empty());
}

#[test]
fn an_edit_that_is_sent_again_is_made_once() {
    let mut rig = Rig::new();
    rig.with_story();
    let ops: Vec<Op> = serde_json::from_value(json!([{"op": "insert", "after": null, "text": "Once."}])).unwrap();
    let sender = Sender { who: "Ada", window: "again", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    let first = rig.project().edit(sender, 0, Some("1"), &ops).unwrap();
    for _ in 0..2 {
        let again = rig.project().edit(sender, 0, Some("1"), &ops).unwrap();
        assert!(again.repeated && again.revision == first.revision && again.story == "1");
        rig.reopen();
    }
    assert_eq!(ids(&mut rig, "1"), [4, 1, 2, 3]);
}

#[test]
fn what_is_wrong_is_refused_and_changes_nothing() {
    let mut rig = Rig::new();
    rig.with_versions();
    let before = rig.project().revision();
    let long = "x".repeat(2001);
    let cases: [(&str, Value, &str); 12] = [
        (
            "1",
            json!([{"op": "labels", "entity": 1, "sentence": 1, "values": {"h_location": 3}}]),
            "must be from 0 to 2",
        ),
        ("1", json!([{"op": "conflict", "evidence": 1, "breakpoint": 2}]), "a plausible story has no conflict"),
        ("1-O0", json!([{"op": "conflict", "evidence": 1, "breakpoint": null}]), "two sentences"),
        ("1-O0", json!([{"op": "conflict", "evidence": 1, "breakpoint": 1}]), "two sentences"),
        ("1", json!([{"op": "replace", "sentence": 1, "text": "x"}]), "in a version only"),
        ("1", json!([{"op": "own", "sentence": 1}]), "a version"),
        ("1", json!([{"op": "version", "kind": "cloze", "swap": [1, 2]}]), "needs `sentence`"),
        ("1", json!([{"op": "version", "kind": "order", "sentence": 1}]), "needs `swap`"),
        ("1", json!([{"op": "add_story", "sentences": []}]), "a group of its own"),
        ("1", json!([{"op": "text", "sentence": 1, "text": long}]), "2000 characters"),
        ("1", json!([{"op": "entity", "name": " "}]), "needs a name"),
        ("1", json!([{"op": "location", "text": "ok"}, {"op": "entity", "name": "y".repeat(201)}]), "200 characters"),
    ];
    for (story, ops, expected) in cases {
        let message = wrong(rig.send(&ADA, story, ops.clone()));
        assert!(message.contains(expected), "{ops}: {message}");
    }
    for by in
        [By { who: " ", ..ADA }, By { window: "A/b", ..ADA }, By { pass: "../x", ..ADA }, By { base: Some(99), ..ADA }]
    {
        wrong(rig.send(&by, "1", json!([])));
    }
    assert_eq!(rig.project().revision(), before);
    assert_eq!(rig.ada("1", json!([])).revision, before, "nothing to do is no edit");
    let many: Vec<_> = (0..128).map(|_| json!({"op": "insert", "after": null, "text": "More."})).collect();
    assert!(wrong(rig.send(&ADA, "1", json!(many))).contains("at most 128 sentences"));
}

#[test]
fn one_process_works_on_a_project_and_other_folders_are_left_alone() {
    let rig = Rig::new();
    let kind = |folder: &std::path::Path| Project::open(folder).err().unwrap().kind;
    assert_eq!(kind(&rig.folder()), ErrorKind::CantCreate);
    let other = tempfile::TempDir::new().unwrap();
    std::fs::write(other.path().join("thesis.tex"), "mine").unwrap();
    let error = Project::open(other.path()).err().unwrap();
    assert!(error.kind == ErrorKind::CantCreate && error.message.contains("thesis.tex"), "{error}");
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 1);
}

/// An earlier version kept names as they were typed.
#[test]
fn of_two_names_that_look_alike_none_gets_the_other_ones() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "entity", "name": "apart"}, {"op": "entity", "name": "caffè"}]));
    let journal = rig.folder().join("journal.jsonl");
    rig.project = None;
    let text = std::fs::read_to_string(&journal).unwrap();
    assert!(text.contains("\"name\":\"apart\""), "{text}");
    std::fs::write(&journal, text.replace("\"name\":\"apart\"", "\"name\":\"caffe\u{300}\"")).unwrap();
    rig.reopen();
    let view = rig.view("1");
    let id = |name: &str| view.entities.iter().find(|entity| entity.name == name).unwrap().id;
    for name in ["caffe\u{300}", "caffè"] {
        let refused = rig.send(&ADA, "1", json!([{"op": "rename", "entity": id(name), "name": "caffe\u{300}"}]));
        assert!(wrong(refused).contains("another entity of these stories is named"));
    }
    rig.ada("1", json!([{"op": "drop", "entity": id("caffe\u{300}")}]));
    rig.ada("1", json!([{"op": "entity", "name": "caffè"}]));
    let names: Vec<String> = rig.view("1").entities.into_iter().map(|entity| entity.name).collect();
    assert!(names.contains(&"caffè".to_owned()) && !names.contains(&"caffe\u{300}".to_owned()), "{names:?}");
}

/// Some keyboards send a letter and its accent as two characters.
#[test]
fn names_and_sentences_that_look_alike_are_the_same() {
    let mut rig = Rig::new();
    let apart = "Rosa bevve il caffe\u{300} perche\u{301} aveva sonno.";
    let sentences = [apart, "Rosa posò il caffè."];
    rig.ada("", json!([{"op": "add_story", "sentences": sentences}, {"op": "entity", "name": "caffe\u{300}"}]));
    rig.ada("1", json!([{"op": "entity", "name": "caffè"}, {"op": "location", "text": "caffe\u{300}"}]));
    let view = rig.view("1");
    assert_eq!(view.sentences[0].text, "Rosa bevve il caffè perché aveva sonno.");
    assert_eq!((view.entities.len(), view.entities[0].name.as_str(), view.location.as_str()), (1, "caffè", "caffè"));
    assert_eq!(view.entities[0].mentioned.len(), 2);
    let story = |key: &str, sentences: [&str; 2], entity: &str, kind: Value| {
        let (breakpoint, conflicts) = if kind.is_null() { (-1, json!([])) } else { (1, json!([0])) };
        let states = [json!({"exist": [[entity, 2]]}), json!({"exist": [[entity, 2]]})];
        json!({"story_id": 7, "type": kind, "actor": "Rosa", "location": "", "sentences": sentences, "length": 2, "example_id": key,
            "plausible": breakpoint < 0, "breakpoint": breakpoint, "confl_sents": conflicts, "confl_pairs": [], "states": states})
    };
    let file = json!({"test": {
        "7": story("7", sentences, "caffe\u{300}", json!(null)),
        "7-C0": story("7-C0", ["Rosa uscì.", "Rosa poso\u{300} il caffè."], "caffè", json!("cloze")),
    }});
    let file = tiered::data::read_bytes("file".as_ref(), file.to_string().as_bytes()).unwrap();
    let sender = Sender { who: "Ada", window: "i", n: 1, pass: "main", on_clash: OnClash::Tell, seen: None };
    rig.project().import(sender, &file, None).unwrap();
    let (plausible, version) = (rig.view("7"), rig.view("7-C0"));
    assert_eq!(plausible.sentences[0].text, view.sentences[0].text);
    assert_eq!((plausible.entities.len(), version.entities[0].id), (1, plausible.entities[0].id), "one entity");
    assert_eq!(plausible.sentences[1].id, version.sentences[1].id, "one sentence");
}

#[test]
fn a_project_that_took_the_place_of_another_is_another() {
    let mut rig = Rig::new();
    let first = rig.project().id().to_owned();
    rig.reopen();
    assert_eq!(rig.project().id(), first);
    for removed in [false, true] {
        match removed {
            true => std::fs::remove_dir_all(rig.folder()).unwrap(),
            false => std::fs::rename(rig.folder(), rig.folder().with_file_name("moved")).unwrap(),
        }
        rig.reopen();
        assert_ne!(rig.project().id(), first);
    }
}
