//! Pairs with a teacher: their losses, and training on saved predictions.

use crate::arrays::{Arrays, LAYER, assert_close};
use crate::support::{stderr, text, tiered};
use crate::tiny::{Tiny, sample};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tch::{Device, Kind, Tensor};
use tiered::attribute::Attribute;
use tiered::batch::{SoftAnswers, SoftTargets, Targets};
use tiered::data::{pairs, read_file};
use tiered::loss::{Losses, state_margins};
use tiered::model::{Conflicts, Output as ModelOutput, SentencePairs};

#[test]
fn the_losses_of_pairs_with_and_without_a_teacher_equal_pytorch() {
    Arrays::on_devices("soft_labels.safetensors").for_each(|arrays| check_losses(&arrays));
}

fn check_losses(arrays: &Arrays) {
    let (n, margin) = (arrays.int("sentences"), arrays.config["margin"].as_f64().unwrap());
    let names = ["precondition_logits", "effect_logits", "sentence_pairs", "stories", "single_stories"];
    let leaves = names.map(|name| arrays.get(name).copy().set_requires_grad(true));
    let [preconditions, effects, pairs, stories, single] = leaves.each_ref().map(Tensor::shallow_clone);
    let log_probs = pairs.log_softmax(1, Kind::Float).view([-1, 2, n, n]);
    let single_story = Some(single.log_softmax(1, Kind::Float));
    let output = ModelOutput {
        precondition_logits: preconditions,
        effect_logits: effects,
        conflicts: Conflicts::SentencePairs(SentencePairs { log_probs, of_entities: None, single_story }),
        story_scores: stories,
    };
    let losses = Losses::new(&output, &targets(arrays), state_margins(margin, Device::Cpu).as_ref());
    assert_close(&losses.stacked(), arrays.get("losses"), LAYER, "losses");
    let single_story = losses.single_story.as_ref().unwrap();
    (&losses.preconditions + &losses.effects + &losses.conflicts + &losses.story + single_story).backward();
    for (name, leaf) in names.iter().zip(&leaves) {
        assert_close(&leaf.grad(), arrays.get(&format!("grads.{name}")), LAYER, name);
    }
}

fn targets(arrays: &Arrays) -> Targets {
    let get = |name: &str| arrays.get(name).shallow_clone();
    let offsets = Attribute::ALL.map(|attribute| attribute.offset() as i64);
    let offsets = Tensor::from_slice(&offsets).to_device(arrays.on.device);
    let cell_weight = get("cell_weight");
    let answers = |taught, probs| SoftAnswers { taught: get(taught), probs: get(probs) };
    Targets {
        cell_input: get("cell_input"),
        weight: cell_weight.sum(Kind::Double).double_value(&[]),
        cell_weight,
        precondition_columns: get("precondition_labels") + &offsets,
        effect_columns: get("effect_labels") + &offsets,
        cell_index: Tensor::new(),
        conflicts: Tensor::new(),
        plausible: get("plausible"),
        gold_pair: get("gold_pair"),
        soft: Some(SoftTargets {
            plausible: answers("taught", "soft.stories"),
            sentence_pairs: answers("taught", "soft.sentence_pairs"),
            single_stories: SoftAnswers {
                taught: get("taught").repeat_interleave_self_int(2, 0, None),
                probs: get("soft.single_stories"),
            },
            preconditions: answers("taught_cells", "precondition_probs"),
            effects: answers("taught_cells", "effect_probs"),
        }),
    }
}

/// The predictions of a run for the pairs that it was trained on.
pub fn predictions(tiny: &Tiny, run: &Path) -> PathBuf {
    let folder = run.with_extension("taught");
    let output =
        tiered(["eval", text(run), "--data", text(&tiny.stories()), "--split", "train", "--output", text(&folder)]);
    assert!(output.status.success(), "{}", stderr(&output));
    folder.join("predictions.jsonl")
}

const JOINT: [&str; 4] = ["--set", "model.detector.kind=joint", "--set", "loss.single_story=1"];

fn teacher(tiny: &Tiny) -> PathBuf {
    predictions(tiny, &tiny.trained("teacher", &JOINT))
}

fn student(tiny: &Tiny, labels: &Path, more: &[&str]) -> Output {
    let labels = format!("data.train.soft_labels={}", labels.display());
    tiny.train("student", &[&JOINT[..], &["--set", &labels], more].concat())
}

/// The gold answers as predictions of a teacher that is certain.
fn certain(predictions: &Path) -> String {
    let lines = fs::read_to_string(predictions).unwrap();
    let lines = lines.lines().map(|line| {
        let mut pair: Value = serde_json::from_str(line).unwrap();
        let plausible = pair["gold_plausible"].as_u64().unwrap() as usize;
        let [evidence, breakpoint] = [0, 1].map(|i| pair["gold_conflict"][i].as_u64().unwrap() as usize);
        pair["plausible"] = plausible.into();
        pair["story_probs"] = json!([1 - plausible, plausible]);
        for (s, story) in pair["stories"].as_array_mut().unwrap().iter_mut().enumerate() {
            story["no_conflict"] = u8::from(s == plausible).into();
            let n = story["sentences"].as_array().unwrap().len();
            story["sentence_pairs"] = vec![vec![0; n]; n].into();
            if s != plausible {
                story["sentence_pairs"][evidence][breakpoint] = 1.into();
            }
            for entity in story["entities"].as_array_mut().unwrap() {
                ["preconditions", "effects"].iter().for_each(|side| say_gold(&mut entity[side]));
            }
        }
        pair.to_string() + "\n"
    });
    lines.collect()
}

fn say_gold(states: &mut Value) {
    states["predicted"] = states["gold"].clone();
    let mut candidates = Vec::new();
    for (sentence, classes) in states["gold"].as_array().unwrap().iter().enumerate() {
        for (attribute, class) in Attribute::ALL.into_iter().zip(classes.as_array().unwrap()) {
            let class = class.as_u64().unwrap() as u8;
            if attribute.is_nontrivial(class) {
                candidates.push(json!({"sentence": sentence, "attribute": attribute, "class": class, "probability": 1,
                    "otherwise": 0}));
            }
        }
    }
    states["candidates"] = candidates.into();
}

/// The stories without labels of states, and with other conflicts.
fn unlabelled(tiny: &Tiny, predictions: &Path) -> PathBuf {
    let mut stories: Value = serde_json::from_str(&fs::read_to_string(tiny.stories()).unwrap()).unwrap();
    for line in fs::read_to_string(predictions).unwrap().lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        for predicted in pair["stories"].as_array().unwrap() {
            let story = &mut stories["train"][predicted["id"].as_str().unwrap()];
            let names = predicted["entities"].as_array().unwrap().iter().map(|entity| entity["name"].clone());
            story["entities"] = names.collect();
            story.as_object_mut().unwrap().remove("states");
            if story["plausible"] == false {
                story["breakpoint"] = 1.into();
                story["confl_sents"] = json!([0]);
                story["confl_pairs"] = json!([[0, 1]]);
            }
        }
    }
    let path = tiny.path("unlabelled.json");
    fs::write(&path, stories.to_string()).unwrap();
    path
}

/// Two pairs of six sentences, beside those of five.
fn add_longer_stories(tiny: &Tiny) {
    let mut stories: Value = serde_json::from_str(&fs::read_to_string(tiny.stories()).unwrap()).unwrap();
    for (key, mut story) in sample("it").into_iter().take(3) {
        assert_eq!(story["sentences"].as_array().unwrap().len(), 6);
        story["story_id"] = 1000.into();
        stories["train"][format!("longer-{key}")] = story;
    }
    fs::write(tiny.stories(), stories.to_string()).unwrap();
}

/// A teacher that is certain of the gold answers teaches what the labels do, whichever story comes first.
#[test]
fn a_certain_teacher_is_as_good_as_labels() {
    let tiny = Tiny::new();
    add_longer_stories(&tiny);
    let labels = teacher(&tiny);
    fs::write(&labels, certain(&labels)).unwrap();
    let predicted = fs::read_to_string(&labels).unwrap();
    let first =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["stories"][0]["id"].as_str().unwrap().to_owned();
    let stories = read_file(&tiny.stories()).unwrap();
    let as_shown = pairs(stories.split("train").unwrap(), 2);
    let turned = predicted.lines().zip(&as_shown).filter(|(line, pair)| first(line) != pair.stories[0].id).count();
    assert!((1..as_shown.len()).contains(&turned), "{turned} of {} pairs are turned", as_shown.len());

    let file = format!("data.train.file={}", unlabelled(&tiny, &labels).display());
    let seed = ["--set", "seed=2", "--set", "loss.state_margin=0"];
    let student = student(&tiny, &labels, &[&seed[..], &["--set", &file]].concat());
    assert!(student.status.success(), "{}", stderr(&student));
    let labelled = tiny.trained("labelled", &[&JOINT[..], &seed].concat());
    let [taught, labelled] = [tiny.path("student"), labelled].map(losses);
    assert_eq!((taught.len(), labelled.len()), (10, 10));
    for (taught, labelled) in taught.iter().zip(&labelled) {
        assert!((taught - labelled).abs() < 1e-4, "{taught} and {labelled}");
    }
}

/// The training losses of each epoch.
fn losses(run: PathBuf) -> Vec<f64> {
    let lines = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let epochs = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["train"].clone());
    epochs
        .flat_map(|train| train.as_object().unwrap().values().map(|loss| loss.as_f64().unwrap()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn soft_labels_of_other_pairs_are_refused() {
    let tiny = Tiny::new();
    let labels = teacher(&tiny);
    let lines = fs::read_to_string(&labels).unwrap();
    let other = tiny.path("other.jsonl");
    let (first, rest) = lines.split_once('\n').unwrap();
    let mut renamed: Value = serde_json::from_str(first).unwrap();
    renamed["stories"][0]["entities"][0]["name"] = "submarine".into();
    let mut other_detector: Value = serde_json::from_str(first).unwrap();
    for story in other_detector["stories"].as_array_mut().unwrap() {
        story.as_object_mut().unwrap().remove("sentence_pairs");
        story.as_object_mut().unwrap().remove("subjects");
    }
    let mut without_states: Value = serde_json::from_str(first).unwrap();
    let states = &mut without_states["stories"][0]["entities"][0]["effects"];
    states["predicted"][0][Attribute::Open.index()] = 1.into();
    states.as_object_mut().unwrap().remove("candidates");
    let mut other_story: Value = serde_json::from_str(first).unwrap();
    other_story["stories"][0]["sentences"][0] = "Ada slept.".into();
    other_story["stories"][1]["sentences"][0] = "Ada slept.".into();
    for (content, said) in [
        (rest.to_owned(), "has no prediction"),
        (format!("{first}\n{other_story}\n{rest}"), "has 2 predictions"),
        (format!("{renamed}\n{rest}"), "was predicted for other sentences or entities"),
        (format!("{other_detector}\n{rest}"), "was predicted without a distribution over the sentence pairs"),
        (format!("{without_states}\n{rest}"), "was predicted without probabilities of states"),
    ] {
        fs::write(&other, content).unwrap();
        let output = student(&tiny, &other, &["--dry-run"]);
        assert_eq!(output.status.code(), Some(65), "{said}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{said}: {}", stderr(&output));
    }
    for (set, said) in [
        ("train.entities=1", "soft_labels are about all entities"),
        ("data.train.streaming=true", "without streaming"),
        ("data.dev.soft_labels=labels.jsonl", "soft_labels are allowed for files in data.train only"),
        ("data.leave_out={fold=1,of=2}", "may have read the pairs that are left out"),
        ("model.output_bias=frequency", "every source has soft labels"),
        ("model.detector={kind='paper'}", "need model.detector.kind = \"joint\""),
    ] {
        let output = student(&tiny, &labels, &["--dry-run", "--set", set, "--set", "loss.single_story=0"]);
        assert_eq!(output.status.code(), Some(78), "{set}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{set}: {}", stderr(&output));
    }
    let of_pairs = predictions(&tiny, &tiny.trained("pairs", &["--set", "model.detector.kind=joint"]));
    let output = student(&tiny, &of_pairs, &["--dry-run"]);
    assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
    assert!(stderr(&output).contains("its teacher does not judge single stories"), "{}", stderr(&output));
}

#[test]
fn a_run_is_not_resumed_with_other_soft_labels() {
    let tiny = Tiny::new();
    let labels = teacher(&tiny);
    assert!(student(&tiny, &labels, &[]).status.success());
    let run = tiny.path("student");
    let ready = tiered(["train", "--resume", text(&run), "--set", "train.epochs=9", "--dry-run"]);
    assert!(ready.status.success(), "{}", stderr(&ready));
    fs::write(&labels, certain(&labels)).unwrap();
    let refused = tiered(["train", "--resume", text(&run), "--set", "train.epochs=9", "--dry-run"]);
    assert_eq!(refused.status.code(), Some(65), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("a file of data.train.soft_labels has changed"), "{}", stderr(&refused));
}
