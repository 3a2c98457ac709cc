//! Stories that carry conflicts but no state labels: accuracy and consistency are scored, and nothing that needs states.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::{Tiny, sample};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tiered::data::read_file;

/// Twelve of the Italian sample stories with their labels, and the same without: the entities are named instead.
fn files(tiny: &Tiny) -> [PathBuf; 2] {
    let stories: serde_json::Map<_, _> = sample("it").into_iter().take(12).collect();
    let [labelled, bare] = ["labelled.json", "bare.json"].map(|name| tiny.path(name));
    std::fs::write(&labelled, json!({"test": stories}).to_string()).unwrap();
    let mut without = stories;
    for story in read_file(&labelled).unwrap().split("test").unwrap() {
        let names: Vec<&str> = story.entities.iter().map(|entity| entity.name.as_str()).collect();
        without[&story.id]["entities"] = json!(names);
        without[&story.id].as_object_mut().unwrap().remove("states");
    }
    std::fs::write(&bare, json!({"test": without}).to_string()).unwrap();
    [labelled, bare]
}

fn json_of(arguments: &[&str]) -> Value {
    let output = tiered(arguments.iter().copied());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn shown(arguments: &[&str]) -> String {
    let output = tiered(arguments.iter().copied());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

fn refused(arguments: &[&str], says: &[&str]) {
    let output = tiered(arguments.iter().copied());
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(says.iter().all(|words| stderr(&output).contains(words)), "{}", stderr(&output));
}

/// Every row is as the labelled one in the two tiers that need no states, and has nothing else.
fn has_two_tiers(bare: &Value, labelled: &Value) {
    assert_eq!((&bare["data"]["without_states"], &bare["data"]["pairs"]), (&labelled["data"]["pairs"], &json!(8)));
    let [of_bare, of_labelled] = [bare, labelled].map(|report| report["rows"].as_array().unwrap());
    assert_eq!(of_bare.len(), of_labelled.len());
    for (bare, labelled) in of_bare.iter().zip(of_labelled) {
        assert_eq!(["accuracy", "consistency"].map(|t| &bare[t]), ["accuracy", "consistency"].map(|t| &labelled[t]));
        assert!(
            ["verifiability", "predicted_states", "verifiable_states"].iter().all(|tier| bare[tier].is_null()),
            "{bare}"
        );
        assert!(labelled["verifiability"]["total"] == 8);
    }
    let states = &bare["states"];
    assert!(states["conflicts"].is_null() && states["predicted_states"].is_null(), "{states}");
    for side in ["preconditions", "effects"] {
        assert!(states[side]["macro_f1"].is_null());
        assert!(states[side]["by_attribute"].as_object().unwrap().values().all(Value::is_null));
    }
    assert_eq!(bare["calibration"], labelled["calibration"]);
}

/// The line of a table that begins so.
fn line<'a>(shown: &'a str, name: &str) -> &'a str {
    shown.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {shown}"))
}

#[test]
fn stories_without_states_are_scored_by_two_tiers() {
    let tiny = Tiny::new();
    let joint = ["--set", "model.detector.kind=joint", "--set", "model.max_sentences=6"];
    let runs = [tiny.trained("a", &joint), tiny.trained("b", &[&joint[..], &["--set", "seed=2"]].concat())];
    let [labelled, bare] = files(&tiny);
    let both = [&labelled, &bare].map(|file| json_of(&["eval", text(&runs[0]), "--data", text(file), "--format=json"]));
    has_two_tiers(&both[1], &both[0]);

    let eval = shown(&["eval", text(&runs[1]), "--data", text(&bare), "--per-attribute", "--verbose"]);
    assert!(eval.contains("8 of 8 pairs have no state labels: verifiability and all figures of states are undefined"));
    assert!(line(&eval, "verifiability").ends_with('–') && line(&eval, "consistency").ends_with("/8"), "{eval}");
    assert!(line(&eval, "running").ends_with('–') && line(&eval, "conflicts").ends_with('–'), "{eval}");

    // So does everything that reads what was kept.
    let kept = |run: &Path, file: &str| run.join(format!("eval/{file}-test-all/predictions.jsonl"));
    let scored = ["labelled", "bare"].map(|file| json_of(&["score", text(&kept(&runs[0], file)), "--format=json"]));
    has_two_tiers(&scored[1], &scored[0]);
    let several = shown(&["score", text(&kept(&runs[0], "bare")), text(&kept(&runs[1], "bare"))]);
    assert!(line(&several, "verifiability").ends_with('–'), "{several}");
    let compared = ["compare", text(&runs[0]), text(&runs[1]), "--evaluation", "bare-test-all"];
    let table = shown(&compared);
    assert!(line(&table, "1 ").ends_with('–') && table.contains("no verifiability"), "{table}");
    let compared = json_of(&[&compared[..], &["--format=json"]].concat());
    let section = &compared["comparison"]["sections"][0];
    assert!(
        section["rows"][0]["scores"]["verifiability"].is_null() && section["rows"][0]["scores"]["accuracy"].is_object()
    );
    assert!(section["differences"][0]["tiers"]["verifiability"].is_null(), "{section}");
    let card = std::fs::read_to_string(runs[1].join("README.md")).unwrap();
    assert!(card.contains("without state labels") && card.contains("| – |"), "{card}");
    let page = tiny.path("page.html");
    shown(&["report", "html", text(&runs[1]), "--output", text(&page)]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("without state labels") && page.contains("not labelled"));
    assert!(!page.contains("bare.json, test, without state labels: mistakes of highest confidence"));

    let pair = read_file(&bare).unwrap().split("test").unwrap().iter().find(|s| s.kind.is_some()).unwrap().id.clone();
    shown(&["predict", text(&runs[0]), "--data", text(&bare), "--pair", &pair]);
    shown(&["baseline", "--data", text(&bare)]);
    refused(&["report", "text", text(&runs[0]), "--data", text(&bare)], &["no state labels", "tiered eval"]);
    let predictions = kept(&runs[0], "bare");
    refused(&["report", "text", text(&predictions), "--data", text(&bare)], &["no state labels"]);
}

/// Not over the others either.
#[test]
fn one_pair_without_states_leaves_the_set_without_verifiability() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1", "--set", "model.max_sentences=6"]);
    let [labelled, bare] = files(&tiny);
    let [mut stories, without] =
        [&labelled, &bare].map(|file| serde_json::from_slice::<Value>(&std::fs::read(file).unwrap()).unwrap());
    let (id, story) = without["test"].as_object().unwrap().iter().find(|(id, _)| id.contains('-')).unwrap();
    stories["test"][id] = story.clone();
    let mixed = tiny.path("mixed.json");
    std::fs::write(&mixed, stories.to_string()).unwrap();
    let report = json_of(&["eval", text(&run), "--data", text(&mixed), "--format=json"]);
    assert_eq!(report["data"]["without_states"], 1);
    assert!(report["rows"][0]["verifiability"].is_null() && report["rows"][0]["accuracy"]["total"] == 8);
}

#[test]
fn nothing_is_trained_or_calibrated_on_stories_without_states() {
    let tiny = Tiny::new();
    let [_, bare] = files(&tiny);
    for sources in ["train", "dev"] {
        let source = format!("data.{sources}={{file = '{}', split = 'test'}}", text(&bare));
        let output = tiny.train("run", &["--set", &source]);
        assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
        assert!(stderr(&output).contains("bare.json") && stderr(&output).contains("has no state labels"));
    }
}
