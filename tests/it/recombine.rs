//! `scripts/recombine.py`.

use crate::support::{interpreter, stderr, text, tiered};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn recombined(arguments: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/recombine.py");
    Command::new(interpreter()).arg(script).args(arguments).output().unwrap()
}

/// A story of (sentence, its people, its thing).
fn story(group: u64, actor: &str, sentences: &[(&str, &[&str], &str)]) -> Value {
    let states = |people: &[&str], thing: &str| {
        let people: Vec<Value> = people.iter().map(|name| json!([name, 2])).collect();
        json!({"conscious": people, "exist": [[thing, 2]]})
    };
    json!({
        "story_id": group, "actor": actor, "plausible": true, "breakpoint": -1, "confl_sents": [], "confl_pairs": [],
        "sentences": sentences.iter().map(|(text, ..)| text).collect::<Vec<_>>(),
        "states": sentences.iter().map(|(_, people, thing)| states(people, thing)).collect::<Vec<_>>(),
    })
}

fn labelled() -> Value {
    json!({"train": {
        "1": story(1, "Tom", &[
            ("Tom opened the fridge.", &["Tom"], "fridge"),
            ("Tom took the milk.", &["Tom"], "milk"),
            ("Tom drank the milk.", &["Tom"], "milk"),
        ]),
        "2": story(2, "Ann", &[
            ("Ann poured the milk.", &["Ann"], "milk"),
            ("Ann washed her cup.", &["Ann"], "cup"),
            ("Ann closed the fridge.", &["Ann"], "fridge"),
        ]),
        // With two people, it only lends the sentence that is about one.
        "3": story(3, "John", &[
            ("John spilled his milk.", &["John"], "milk"),
            ("John showed Ann the milk.", &["John", "Ann"], "milk"),
        ]),
    }})
}

#[test]
fn one_sentence_is_replaced_by_another_story_s_about_the_same_thing() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out, again) =
        (folder.path().join("in.json"), folder.path().join("new/out.json"), folder.path().join("again.json"));
    fs::write(&file, labelled().to_string()).unwrap();
    for out in [&out, &again] {
        let output = recombined(&[text(&file), "train", "6", text(out)]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let made = fs::read_to_string(&out).unwrap();
    assert_eq!(made, fs::read_to_string(&again).unwrap());
    let checked = tiered(["data", "check", text(&out)]);
    assert!(checked.status.success(), "{}", stderr(&checked));

    let made: Value = serde_json::from_str(&made).unwrap();
    let mut new: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (key, made) in made["train"].as_object().unwrap() {
        assert!(made.get("states").is_none());
        let original = &labelled()["train"][made["story_id"].to_string()];
        let texts = |story: &Value| -> Vec<String> { serde_json::from_value(story["sentences"].clone()).unwrap() };
        let (old, texts) = (texts(original), texts(made));
        let replaced: Vec<usize> = (0..old.len()).filter(|&i| old[i] != texts[i]).collect();
        assert_eq!(replaced.len(), usize::from(key.contains("-C")), "{key}");
        assert_eq!(made["entities"][0], original["actor"]);
        if let [i] = replaced[..] {
            let text = made["sentences"][i].as_str().unwrap();
            new.entry(key.split('-').next().unwrap()).or_default().insert(text);
            let conflict = &made["confl_pairs"][0];
            let other = [0, 1].map(|end| conflict[end].as_u64().unwrap() as usize).into_iter().find(|&end| end != i);
            let thing = &original["states"][other.unwrap()]["exist"][0][0];
            assert!(text.contains(thing.as_str().unwrap()), "{text} does not name the {thing}");
            assert!(made["entities"].as_array().unwrap().contains(thing));
        }
    }
    // "her cup" is not Tom's, "his milk" not Ann's.
    let expected = [
        ("1", BTreeSet::from(["Tom poured the milk.", "Tom closed the fridge.", "Tom spilled his milk."])),
        ("2", BTreeSet::from(["Ann opened the fridge.", "Ann took the milk.", "Ann drank the milk."])),
    ];
    assert_eq!(new, BTreeMap::from(expected));
}

#[test]
fn as_many_pairs_are_made_as_are_possible() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.json", "out.json"].map(|n| folder.path().join(n));
    // John's sentences make four pairs of Tom's story, more than its share of six, and one of each other story.
    let stories = json!({"train": {
        "1": story(1, "Tom", &[("Tom opened the milk.", &["Tom"], "milk"), ("Tom drank the milk.", &["Tom"], "milk")]),
        "2": story(2, "Ann", &[("Ann washed the cup.", &["Ann"], "cup"), ("Ann dried the cup.", &["Ann"], "cup")]),
        "3": story(3, "Mary", &[("Mary washed the jar.", &["Mary"], "jar"), ("Mary dried the jar.", &["Mary"], "jar")]),
        "4": story(4, "John", &[
            ("John took the milk.", &["John"], "milk"),
            ("John bought the milk.", &["John"], "milk"),
            ("John found the milk.", &["John"], "milk"),
            ("John hid the milk.", &["John"], "milk"),
            ("John broke the cup.", &["John"], "cup"),
            ("John broke the jar.", &["John"], "jar"),
            ("John met Ann.", &["John", "Ann"], "bus"),
        ]),
    }});
    // A byte order mark counts for nothing.
    fs::write(&file, format!("\u{feff}{stories}")).unwrap();
    let output = recombined(&[text(&file), "train", "7", text(&out)]);
    assert!(stderr(&output).contains("only 6 of 7 pairs can be made of split train; ask for at most 6"));
    let output = recombined(&[text(&file), "train", "6", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn no_pair_has_the_same_story_twice() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.json", "out.json"].map(|n| folder.path().join(n));
    let sentences = ["opened", "poured", "took", "closed"].map(|verb| format!("Tom {verb} the milk."));
    let people: &[&str] = &["Tom"];
    let tom = sentences.each_ref().map(|text| (text.as_str(), people, "milk"));
    let john =
        story(2, "John", &[("John took the milk.", &["John"], "milk"), ("John met Ann.", &["John", "Ann"], "bus")]);
    fs::write(&file, json!({"train": {"1": story(1, "Tom", &tom), "2": john}}).to_string()).unwrap();
    let output = recombined(&[text(&file), "train", "1", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let made: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_ne!(made["train"]["1"]["sentences"], made["train"]["1-C0"]["sentences"]);
}

#[test]
fn a_story_is_plausible_if_it_has_no_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.json", "out.json"].map(|n| folder.path().join(n));
    let mut stories = labelled();
    stories["train"]["1"]["breakpoint"] = json!(2);
    stories["train"]["2"]["plausible"] = json!(false);
    fs::write(&file, stories.to_string()).unwrap();
    let output = recombined(&[text(&file), "train", "3", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let made: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    let keys: Vec<&String> = made["train"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["2", "2-C0", "2-C1", "2-C2"]);

    stories["train"]["2"]["confl_sents"] = json!([[1]]);
    fs::write(&file, stories.to_string()).unwrap();
    let output = recombined(&[text(&file), "train", "3", text(&folder.path().join("none.json"))]);
    assert!(stderr(&output).contains("no pair can be made of split train"), "{}", stderr(&output));
}

#[test]
fn a_sentence_without_a_row_of_states_has_no_labels() {
    let folder = tempfile::tempdir().unwrap();
    let [file, short, long] = ["in.json", "short.json", "long.json"].map(|n| folder.path().join(n));
    let mut stories = labelled();
    stories["train"]["2"]["states"].as_array_mut().unwrap().pop();
    fs::write(&file, stories.to_string()).unwrap();
    let output = recombined(&[text(&file), "train", "2", text(&short)]);
    assert!(output.status.success(), "{}", stderr(&output));
    // A row without a sentence counts for nothing.
    stories["train"]["2"]["states"].as_array_mut().unwrap().extend([json!({"conscious": [], "exist": []}), json!({})]);
    fs::write(&file, stories.to_string()).unwrap();
    let output = recombined(&[text(&file), "train", "2", text(&long)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read(&short).unwrap(), fs::read(&long).unwrap());
}

#[test]
fn a_file_that_exists_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.json", "out.json"].map(|n| folder.path().join(n));
    fs::write(&file, labelled().to_string()).unwrap();
    fs::write(&out, "mine").unwrap();
    for (target, code, problem) in [(&out, 1, "exists; remove it first"), (&file, 2, "would be lost")] {
        let before = fs::read(target).unwrap();
        let output = recombined(&[text(&file), "train", "1", text(target)]);
        assert!(output.status.code() == Some(code) && stderr(&output).contains(problem), "{}", stderr(&output));
        assert_eq!(fs::read(target).unwrap(), before);
    }
}

#[test]
fn what_can_not_be_recombined_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let [file, unknown, bare, twice, named, out] =
        ["in.json", "unknown.json", "bare.json", "twice.json", "named.json", "out.json"].map(|n| folder.path().join(n));
    let stranger = story(1, "Zelda", &[("Zelda slept.", &["Zelda"], "bed")]);
    fs::write(&file, labelled().to_string()).unwrap();
    fs::write(&unknown, json!({"train": {"1": stranger}}).to_string()).unwrap();
    fs::write(&bare, json!({"train": {"1": {"actor": "Ann", "sentences": []}}}).to_string()).unwrap();
    fs::write(&twice, labelled().to_string().replacen("\"2\":", "\"1\":", 1)).unwrap();
    let mut stories = labelled();
    stories["train"]["2"]["story_id"] = json!("2");
    fs::write(&named, stories.to_string()).unwrap();
    for (arguments, problem) in [
        ([text(&twice), "train", "1", text(&out)], "an object has the key '1' more than once"),
        ([text(&named), "train", "1", text(&out)], "story_id of story '2' is \"2\"; write it as an integer"),
        ([text(&file), "train", "7", text(&out)], "only 6 of 7 pairs can be made"),
        ([text(&file), "dev", "1", text(&out)], "has no split 'dev'; its splits are ['train']"),
        ([text(&file), "train", "²", text(&out)], "usage: recombine.py"),
        ([text(&file), "train", "0", text(&out)], "usage: recombine.py"),
        ([text(&file), "train", "1", "/dev/null/out.json"], "can't be written"),
        ([text(&unknown), "train", "1", text(&out)], "is Zelda a woman or a man?"),
        ([text(&bare), "train", "1", text(&out)], "'story_id' is missing"),
        (["missing.json", "train", "1", text(&out)], "missing.json: No such file"),
    ] {
        let output = recombined(&arguments);
        assert!(!output.status.success() && stderr(&output).contains(problem), "{problem}: {}", stderr(&output));
        assert!(!out.exists(), "{problem}");
    }
}
