//! Undo and redo.

use super::rig::{ADA, BO, By, Rig, clash, gone, wrong};
use serde_json::{Value, json};
use tiered::annotate::{Direction, OnClash};
use tiered::language::Language;

#[test]
fn everything_can_be_undone_and_redone_also_after_a_restart() {
    let mut rig = Rig::new();
    rig.with_versions();
    let keys = ["1", "1-C0", "1-O0"];
    let whole: Vec<Value> = keys.iter().map(|key| rig.content(key, "main")).collect();
    let edits = rig.project().revision();
    for undone in 0..edits {
        if undone == 4 {
            rig.reopen();
        }
        rig.go(&ADA, Direction::Undo).unwrap();
    }
    assert!(gone(rig.go(&ADA, Direction::Undo)).contains("nothing to undo"));
    assert!(rig.project().view("main").stories.is_empty());
    rig.reopen();
    for _ in 0..edits {
        rig.go(&ADA, Direction::Redo).unwrap();
    }
    assert!(gone(rig.go(&ADA, Direction::Redo)).contains("nothing to redo"));
    let again: Vec<Value> = keys.iter().map(|key| rig.content(key, "main")).collect();
    assert_eq!(again, whole);
    let view = rig.view("1-C0");
    assert_eq!(view.redo, None);
    assert!(view.undo.unwrap().starts_with("label open"), "what is undone next is told");
}

#[test]
fn a_new_edit_ends_redo_and_undo_leaves_others_alone() {
    let mut rig = Rig::new();
    rig.with_story();
    let label = |label: u8| json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"open": label}}]);
    rig.ada("1", label(4));
    rig.send(&BO, "1", json!([{"op": "location", "text": "attic"}])).unwrap();
    rig.send(&By { pass: "second", ..ADA }, "1", label(7)).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    let view = rig.view("1");
    assert!(view.labels.is_empty() && view.location == "attic");
    assert!(view.redo.is_some());
    rig.ada("1", label(3));
    gone(rig.go(&ADA, Direction::Redo));
    rig.go(&BO, Direction::Undo).unwrap();
    assert_eq!(rig.view("1").location, "");
    assert_eq!(rig.project().story("1", "second", "Ada", Language::English).unwrap().labels.len(), 1);
}

#[test]
fn undoing_what_somebody_changed_since_is_a_clash() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 4, "wet": 4}}]));
    rig.send(&BO, "1", json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 3}}])).unwrap();
    let cell = |rig: &mut Rig| rig.view("1").labels.first().map(|cell| serde_json::to_value(&cell.values).unwrap());
    let told = clash(rig.go(&ADA, Direction::Undo));
    assert_eq!((told.len(), &told[0]["yours"], &told[0]["theirs"]), (1, &json!(null), &json!(3)));
    assert_eq!(cell(&mut rig), Some(json!({"wet": 4, "open": 3})));
    rig.go(&By { on_clash: OnClash::Keep, ..ADA }, Direction::Undo).unwrap();
    assert_eq!(cell(&mut rig), Some(json!({"open": 3})));
    assert!(rig.view("1").undo.unwrap().contains("entity"), "the next undo takes the edit before");
    clash(rig.go(&ADA, Direction::Redo));
    rig.go(&By { on_clash: OnClash::Override, ..ADA }, Direction::Redo).unwrap();
    assert_eq!(cell(&mut rig), Some(json!({"wet": 4, "open": 4})));
    rig.send(&BO, "1", json!([{"op": "labels", "entity": 2, "sentence": 1, "values": {"open": 3}}])).unwrap();
    let seen = Some(rig.project().revision() - 1);
    let told = clash(rig.go(&By { on_clash: OnClash::Override, seen, ..ADA }, Direction::Undo));
    assert_eq!((told.len(), &told[0]["theirs"]), (1, &json!(3)));
}

/// Labels of two entities of one name would be mixed up in the story file.
#[test]
fn no_entity_gets_a_name_back_that_another_one_has_by_now() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "rename", "entity": 2, "name": "crate"}]));
    rig.send(&BO, "1", json!([{"op": "entity", "name": "box"}])).unwrap();
    let refused = wrong(rig.go(&By { on_clash: OnClash::Override, ..ADA }, Direction::Undo));
    assert!(refused.contains("named \"box\" by now; rename that one first"), "{refused}");
    rig.send(&BO, "1", json!([{"op": "rename", "entity": 4, "name": "tin"}])).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    let names: Vec<String> = rig.view("1").entities.iter().map(|entity| entity.name.clone()).collect();
    assert_eq!(names, ["Rosa", "box", "pen", "tin"]);
}

#[test]
fn an_insertion_is_undone_though_others_inserted_since() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "insert", "after": 1, "text": "Ada's."}]));
    rig.send(&BO, "1", json!([{"op": "insert", "after": 4, "text": "Bo's."}])).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    let ids = |rig: &mut Rig| rig.view("1").sentences.iter().map(|sentence| sentence.id.0).collect::<Vec<_>>();
    assert_eq!(ids(&mut rig), [1, 5, 2, 3]);
    rig.go(&ADA, Direction::Redo).unwrap();
    assert_eq!(ids(&mut rig), [1, 4, 5, 2, 3]);
}

/// The version was made with it, so it stays there.
#[test]
fn an_insertion_that_is_undone_stays_in_the_versions_of_others() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "insert", "after": 1, "text": "Rosa slept."}]));
    rig.send(&BO, "1", json!([{"op": "version", "kind": "order", "swap": [1, 3]}])).unwrap();
    rig.send(&BO, "1-O0", json!([{"op": "labels", "entity": 1, "sentence": 4, "values": {"conscious": 1}}])).unwrap();
    rig.go(&By { on_clash: OnClash::Override, ..ADA }, Direction::Undo).unwrap();
    let texts = |rig: &mut Rig, story: &str| -> Vec<String> {
        rig.view(story).sentences.iter().map(|sentence| sentence.text.clone()).collect()
    };
    assert_eq!(texts(&mut rig, "1").len(), 3);
    assert!(texts(&mut rig, "1-O0").contains(&"Rosa slept.".to_owned()), "{:?}", texts(&mut rig, "1-O0"));
    rig.go(&ADA, Direction::Redo).unwrap();
    assert_eq!(texts(&mut rig, "1")[1], "Rosa slept.");
}

#[test]
fn a_version_is_there_only_with_its_plausible_story() {
    let mut rig = Rig::new();
    rig.with_versions();
    let stories = |rig: &mut Rig| {
        let lines = rig.project().view("main").stories;
        lines.into_iter().map(|line| (line.story, line.kind)).collect::<Vec<_>>()
    };
    let before = stories(&mut rig);
    rig.ada("1-C0", json!([{"op": "remove_story"}]));
    rig.send(&BO, "1", json!([{"op": "remove_story"}])).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    assert!(stories(&mut rig).is_empty());
    rig.go(&BO, Direction::Undo).unwrap();
    assert_eq!(stories(&mut rig), before, "both came back");
}

/// What one did in another pass is told like what others did.
#[test]
fn a_version_of_another_pass_is_not_taken_away_silently() {
    let mut rig = Rig::new();
    rig.ada("", json!([{"op": "add_story", "sentences": ["Rosa slept.", "Rosa woke up."]}]));
    rig.send(&By { pass: "second", ..ADA }, "1", json!([{"op": "version", "kind": "order", "swap": [1, 2]}])).unwrap();
    assert!(told(&clash(rig.go(&ADA, Direction::Undo))).iter().all(|(who, _)| *who == "Ada"));
    rig.go(&By { on_clash: OnClash::Override, ..ADA }, Direction::Undo).unwrap();
    assert!(rig.project().view("main").stories.is_empty());
}

/// It comes back as what it is said to be.
#[test]
fn an_entity_that_is_added_again_may_be_of_the_other_kind() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "entity", "name": "Ada"}]));
    rig.ada("1", json!([{"op": "drop", "entity": 4}]));
    rig.ada("1", json!([{"op": "entity", "name": "Ada", "person": true}]));
    let entities = serde_json::to_value(&rig.view("1").entities).unwrap();
    assert_eq!((&entities[3]["name"], &entities[3]["person"]), (&json!("Ada"), &json!(true)));
}

const SECOND: By = By { who: "Bea", window: "c", pass: "second", ..ADA };

/// What a clash tells: whose it is, and what.
fn told(clashes: &[Value]) -> Vec<(&str, &str)> {
    clashes.iter().map(|clash| (clash["who"].as_str().unwrap(), clash["what"].as_str().unwrap())).collect()
}

#[test]
fn an_entity_that_others_labelled_is_not_taken_away_silently() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "entity", "name": "lid"}]));
    let label = |label: u8| json!([{"op": "labels", "entity": 4, "sentence": 1, "values": {"open": label}}]);
    rig.send(&BO, "1", label(4)).unwrap();
    rig.send(&SECOND, "1", label(3)).unwrap();
    let revision = rig.project().revision();
    let clashes = clash(rig.go(&ADA, Direction::Undo));
    assert_eq!(
        told(&clashes),
        [("Bo", "label open of \"lid\" in sentence 1"), ("Bea", "answers in the pass \"second\""),]
    );
    assert_eq!((&clashes[0]["yours"], &clashes[0]["theirs"]), (&json!(null), &json!(4)));
    assert_eq!((&clashes[1]["theirs"], &clashes[1]["entity"]), (&json!(null), &json!(null)), "a pass is blind");
    assert_eq!(rig.project().revision(), revision, "nothing changed");
    rig.go(&By { on_clash: OnClash::Keep, ..ADA }, Direction::Undo).unwrap();
    let view = rig.view("1");
    assert_eq!((view.entities.len(), view.labels.len()), (4, 1));
    assert!(!view.undo.unwrap().contains("lid"), "the next undo takes the edit before");
    rig.go(&ADA, Direction::Redo).unwrap();
    rig.go(&By { on_clash: OnClash::Override, ..ADA }, Direction::Undo).unwrap();
    assert_eq!(rig.view("1").entities.len(), 3);
    rig.go(&ADA, Direction::Redo).unwrap();
    assert_eq!(rig.view("1").labels.len(), 1, "redo brings the labels back");
}

#[test]
fn an_entity_whose_labels_others_took_back_can_be_undone() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "entity", "name": "lid"}]));
    rig.ada("1", json!([{"op": "labels", "entity": 4, "sentence": 1, "values": {"wet": 1}}]));
    rig.send(&BO, "1", json!([{"op": "labels", "entity": 4, "sentence": 1, "values": {"open": 4}}])).unwrap();
    rig.go(&BO, Direction::Undo).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    assert_eq!(rig.view("1").entities.len(), 3);
}

#[test]
fn a_version_or_story_on_which_others_worked_is_not_taken_away_silently() {
    let version = json!([{"op": "version", "kind": "cloze", "sentence": 1, "text": "Rosa locked the box."}]);
    let entity = json!([{"op": "entity", "name": "lid"}]);
    let works = [
        (&SECOND, json!([{"op": "done", "done": true}]), ("Bea", "answers in the pass \"second\"")),
        (
            &SECOND,
            json!([{"op": "conflict", "evidence": 4, "breakpoint": 3}]),
            ("Bea", "answers in the pass \"second\""),
        ),
        (&BO, json!([{"op": "conflict", "evidence": 4, "breakpoint": 3}]), ("Bo", "the conflict of story 1-C0")),
        (&BO, json!([{"op": "swap", "sentences": [2, 3]}]), ("Bo", "the sentences of story 1-C0")),
    ];
    for (by, ops, expected) in works {
        let mut rig = Rig::new();
        rig.with_story();
        rig.ada("1", version.clone());
        rig.send(by, "1-C0", ops.clone()).unwrap();
        let before = rig.content("1-C0", by.pass);
        assert_eq!(told(&clash(rig.go(&ADA, Direction::Undo))), [expected], "{ops}");
        assert_eq!(rig.content("1-C0", by.pass), before);
        rig.go(by, Direction::Undo).unwrap();
        rig.go(&ADA, Direction::Undo).unwrap();
        assert!(rig.project().story("1-C0", "main", "Ada", Language::English).is_err());
    }
    let mut rig = Rig::new();
    rig.ada("", json!([{"op": "add_story", "sentences": ["Rosa opened the box."]}]));
    rig.send(&BO, "1", version).unwrap();
    rig.send(&BO, "1", entity).unwrap();
    let clashes = clash(rig.go(&ADA, Direction::Undo));
    let whats: Vec<_> = told(&clashes).into_iter().map(|(_, what)| what).collect();
    assert!(whats.contains(&"story 1-C0") && whats.contains(&"entity \"lid\""), "{whats:?}");
    assert_eq!(rig.project().view("main").stories.len(), 2);
}

#[test]
fn an_inserted_sentence_that_others_labelled_is_not_taken_away_silently() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "insert", "after": 1, "text": "Ada's."}]));
    rig.send(&BO, "1", json!([{"op": "labels", "entity": 2, "sentence": 4, "values": {"open": 2}}])).unwrap();
    assert_eq!(told(&clash(rig.go(&ADA, Direction::Undo))), [("Bo", "label open of \"box\" in sentence 2")]);
    assert_eq!(rig.view("1").sentences.len(), 4);
}

/// A redo of a removal takes as much away as an undo of an addition.
#[test]
fn what_others_did_after_an_undo_is_not_taken_away_by_redo() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "drop", "entity": 3}]));
    rig.go(&ADA, Direction::Undo).unwrap();
    rig.send(&BO, "1", json!([{"op": "labels", "entity": 3, "sentence": 2, "values": {"location": 6}}])).unwrap();
    assert_eq!(told(&clash(rig.go(&ADA, Direction::Redo))), [("Bo", "label location of \"pen\" in sentence 2")]);
}

/// The mark moved with the copy, which is nobody's answer.
#[test]
fn a_mark_that_moved_with_a_copy_of_its_sentence_can_be_undone() {
    let mut rig = Rig::new();
    rig.with_versions();
    rig.send(&SECOND, "1-C0", json!([{"op": "conflict", "evidence": 4, "breakpoint": 3}])).unwrap();
    rig.ada("1-C0", json!([{"op": "own", "sentence": 3}]));
    rig.go(&SECOND, Direction::Undo).unwrap();
    assert_eq!(rig.content("1-C0", "second")["conflict"], json!(null));
}

/// What Bea marked since stays, and the mark goes back with its sentence.
#[test]
fn a_copy_is_undone_though_another_pass_marked_another_conflict_since() {
    for (marked, expected) in [([2, 5], [2, 3]), ([4, 2], [4, 2])] {
        let mut rig = Rig::new();
        rig.with_versions();
        let mark = |[evidence, breakpoint]: [u32; 2]| json!([{"op": "conflict", "evidence": evidence, "breakpoint": breakpoint}]);
        rig.send(&SECOND, "1-C0", mark([4, 3])).unwrap();
        rig.ada("1-C0", json!([{"op": "own", "sentence": 3}]));
        rig.send(&SECOND, "1-C0", mark(marked)).unwrap();
        rig.go(&ADA, Direction::Undo).unwrap();
        let conflict = json!({"evidence": expected[0], "breakpoint": expected[1]});
        assert_eq!(rig.content("1-C0", "second")["conflict"], conflict);
    }
}

#[test]
fn what_others_did_meanwhile_is_not_removed_silently() {
    let label = json!([{"op": "labels", "entity": 2, "sentence": 3, "values": {"open": 3}}]);
    for removal in [
        json!([{"op": "remove", "sentence": 3}]),
        json!([{"op": "drop", "entity": 2}]),
        json!([{"op": "remove_story"}]),
    ] {
        let mut rig = Rig::new();
        rig.with_story();
        let base = Some(rig.project().revision());
        rig.send(&BO, "1", label.clone()).unwrap();
        let clashes = clash(rig.send(&By { base, ..ADA }, "1", removal.clone()));
        assert_eq!(told(&clashes)[0], ("Bo", "label open of \"box\" in sentence 3"), "{removal}");
        rig.send(&By { base, on_clash: OnClash::Keep, ..ADA }, "1", removal.clone()).unwrap();
        assert_eq!(rig.view("1").labels.len(), 1);
        // What Bo does in another pass she never sees.
        rig.send(&By { pass: "second", ..BO }, "1", label.clone()).unwrap();
        assert_eq!(clash(rig.send(&ADA, "1", removal.clone())).len(), 1, "{removal}");
        rig.send(&By { on_clash: OnClash::Keep, ..ADA }, "1", removal.clone()).unwrap();
        assert_eq!(rig.view("1").labels.len(), 1);
        let seen = Some(rig.project().revision());
        // With what Bo did before her eyes.
        rig.send(&By { on_clash: OnClash::Override, seen, ..ADA }, "1", removal).unwrap();
        assert!(rig.project().story("1", "main", "Ada", Language::English).map_or(true, |view| view.labels.is_empty()));
    }
}

#[test]
fn an_order_that_is_taken_back_keeps_the_sentences_of_others() {
    let mut rig = Rig::new();
    rig.with_versions();
    rig.ada("1-O0", json!([{"op": "swap", "sentences": [1, 2]}]));
    rig.send(&BO, "1", json!([{"op": "insert", "after": 2, "text": "Rosa sneezed."}])).unwrap();
    clash(rig.go(&ADA, Direction::Undo));
    rig.go(&By { on_clash: OnClash::Override, ..ADA }, Direction::Undo).unwrap();
    let sentences = rig.view("1-O0").sentences;
    assert_eq!(sentences.len(), 4);
    assert!(sentences.iter().any(|sentence| sentence.text == "Rosa sneezed."));
}

#[test]
fn a_dropped_entity_leaves_its_name_and_its_part() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "rename", "entity": 2, "name": "crate"}]));
    rig.send(&BO, "1", json!([{"op": "entity", "name": "box"}])).unwrap();
    rig.send(&BO, "1", json!([{"op": "drop", "entity": 4}])).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    assert_eq!(rig.view("1").entities[1].name, "box");
    rig.ada("1", json!([{"op": "drop", "entity": 1}]));
    let stories = rig.project().stories().clone();
    let exported = stories.export("main", Default::default(), "test").unwrap();
    assert_eq!(exported.file["test"]["1"]["actor"], json!(""));
}

#[test]
fn a_name_that_another_entity_has_got_since_does_not_end_undo() {
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "location", "text": "attic"}]));
    rig.ada("1", json!([{"op": "rename", "entity": 2, "name": "crate"}]));
    rig.send(&BO, "1", json!([{"op": "entity", "name": "box"}])).unwrap();
    let told = clash(rig.go(&ADA, Direction::Undo));
    assert_eq!((told.len(), &told[0]["who"]), (1, &json!("Bo")), "{told:?}");
    let seen = Some(rig.project().revision());
    let refused = rig.go(&By { on_clash: OnClash::Override, seen, ..ADA }, Direction::Undo);
    assert!(wrong(refused).contains("is named \"box\" by now"));
    rig.go(&By { on_clash: OnClash::Keep, seen, ..ADA }, Direction::Undo).unwrap();
    rig.go(&ADA, Direction::Undo).unwrap();
    let view = rig.view("1");
    let names: Vec<&str> = view.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!((names.as_slice(), view.location.as_str()), (&["Rosa", "crate", "pen", "box"][..], ""));
}

#[test]
fn an_entity_whose_name_was_given_to_another_one_stays_away() {
    let keep = By { on_clash: OnClash::Keep, ..ADA };
    let named = |rig: &mut Rig| rig.view("1").entities.iter().map(|entity| entity.name.clone()).collect::<Vec<_>>();
    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "drop", "entity": 2}]));
    rig.send(&BO, "1", json!([{"op": "rename", "entity": 3, "name": "box"}])).unwrap();
    assert_eq!(clash(rig.go(&ADA, Direction::Undo))[0]["who"], json!("Bo"));
    rig.go(&keep, Direction::Undo).unwrap();
    assert_eq!(named(&mut rig), ["Rosa", "box"]);

    let mut rig = Rig::new();
    rig.with_story();
    rig.ada("1", json!([{"op": "entity", "name": "lid"}]));
    rig.go(&ADA, Direction::Undo).unwrap();
    rig.send(&BO, "1", json!([{"op": "entity", "name": "lid"}])).unwrap();
    assert_eq!(clash(rig.go(&ADA, Direction::Redo))[0]["who"], json!("Bo"));
    rig.go(&keep, Direction::Redo).unwrap();
    assert_eq!(named(&mut rig), ["Rosa", "box", "pen", "lid"]);
    rig.reopen();
    assert_eq!(named(&mut rig), ["Rosa", "box", "pen", "lid"]);
}
