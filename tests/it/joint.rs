//! The joint detector through the program: one distribution, from which story and conflict are read.

use crate::support::{real_data, stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::Value;
use std::path::Path;
use tiered::prediction::{LabelledPair, read_predictions};
use tiered::report::StoryReport;

const JOINT: [&str; 4] = ["--set", "model.detector.kind=joint", "--set", "model.detector.context=story"];

/// A run of one epoch and its predictions of the dev pairs.
fn predictions(tiny: &Tiny, name: &str, settings: &[&str]) -> Vec<LabelledPair> {
    let run = tiny.trained(name, &[&JOINT[..], &["--set", "train.epochs=1"], settings].concat());
    let output = tiered(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "dev", "--decode", "pair"]);
    assert!(output.status.success(), "{}", stderr(&output));
    read_predictions(&run.join("eval/stories-dev-all/predictions.jsonl")).unwrap().pairs
}

#[test]
fn story_and_conflict_are_read_off_one_distribution() {
    let tiny = Tiny::new();
    for (i, settings) in [
        &[][..],
        &["--set", "model.detector.inputs=embeddings"],
        &["--set", "model.detector.inputs=states", "--set", "model.detector.context=sentence"],
        &["--set", "model.detector.context=sentence"],
        &["--set", "model.detector.sentence_layers=1", "--set", "loss.single_story=0.5"],
    ]
    .into_iter()
    .enumerate()
    {
        for pair in predictions(&tiny, &format!("run{i}"), settings) {
            let mass =
                pair.prediction.stories.each_ref().map(|story| story.sentence_pairs.iter().flatten().sum::<f32>());
            assert!((mass[0] + mass[1] - 1.).abs() < 1e-4, "{settings:?}: {mass:?}");
            for s in 0..2 {
                assert!((pair.prediction.story_probs[s] - mass[1 - s]).abs() < 1e-4, "{settings:?}");
            }
            let implausible = &pair.prediction.stories[1 - pair.prediction.plausible];
            let [i, j] = pair.prediction.conflict[..] else {
                panic!("{:?} are not two sentences", pair.prediction.conflict)
            };
            let likeliest = implausible.sentence_pairs.iter().flatten().fold(0f32, |best, &p| best.max(p));
            assert!(i < j && implausible.sentence_pairs[i][j] == likeliest);
            let conflict_prob: f32 = (0..implausible.sentences.len())
                .map(|other| implausible.sentence_pairs[i][other] + implausible.sentence_pairs[other][i])
                .sum();
            assert!(implausible.entities.iter().all(|entity| (entity.conflict_probs[i] - conflict_prob).abs() < 1e-4));
        }
    }
}

#[test]
fn the_entities_of_a_sentence_pair_share_its_probability_and_the_likeliest_is_its_subject() {
    let tiny = Tiny::new();
    for pair in predictions(&tiny, "run", &["--set", "model.detector.entities=true"]) {
        for story in &pair.prediction.stories {
            let of_places: f32 = story.sentence_pairs.iter().flatten().sum();
            let of_entities: f32 = story.entities.iter().flat_map(|entity| &entity.conflict_probs).sum();
            assert!((2. * of_places - of_entities).abs() < 1e-4, "a sentence pair has two sentences");
            for sentence in 0..story.sentences.len() {
                let of_entities: f32 = story.entities.iter().map(|entity| entity.conflict_probs[sentence]).sum();
                assert!((story.conflict_prob(sentence) - of_entities).abs() < 1e-4, "the sentence has what they share");
            }
            assert_eq!(story.subjects.len(), story.sentences.len());
        }
        assert!(pair.prediction.stories.iter().any(|story| {
            story.entities.windows(2).any(|entities| entities[0].conflict_probs != entities[1].conflict_probs)
        }));
    }
    let output = tiered([
        "predict",
        text(&tiny.path("run")),
        "--data",
        text(&tiny.stories()),
        "--split",
        "dev",
        "--pair",
        "0-C0",
    ]);
    assert!(stdout(&output).contains("The conflict is about "), "{}{}", stdout(&output), stderr(&output));
}

const STORY: &str = "entities: Ada, chest\nAda shut the chest.\nAda looked into the chest.\n";

#[test]
fn a_single_story_is_judged_by_a_run_that_learned_to() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &[&JOINT[..], &["--set", "train.epochs=1", "--set", "loss.single_story=1"]].concat());
    let story = tiny.path("story.txt");
    std::fs::write(&story, STORY).unwrap();
    let answer = |file: &Path| -> Value {
        let output = tiered(["predict", text(&run), text(file), "--format=json"]);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let alone = answer(&story);
    let probability = alone["single_story"]["probability"].as_f64().unwrap();
    assert!((0.5..=1.).contains(&probability));
    // Two sentences have one sentence pair: the conflict probability of each is the probability of a conflict.
    let is_plausible = alone["single_story"]["plausible"].as_bool().unwrap();
    let conflict = if is_plausible { 1. - probability } else { probability };
    for sentence in alone["stories"][0]["sentences"].as_array().unwrap() {
        assert!((sentence["conflict_prob"].as_f64().unwrap() - conflict).abs() < 1e-5);
    }
    let said = stdout(&tiered(["predict", text(&run), text(&story)]));
    let what = if is_plausible { "The story is plausible (" } else { "The story is implausible (" };
    assert!(said.starts_with(what), "{said}");

    let by_story = ["eval", text(&run), "--unit", "story", "--data"];
    let own = [text(&tiny.stories()).to_owned(), "--split".into(), "train".into()];
    let output = tiered(by_story.into_iter().chain(own.iter().map(String::as_str)));
    assert!(output.status.success(), "{}", stderr(&output));
    if let Some(gita) = real_data("data/gita/GITA_test.json") {
        let output = tiered(by_story.into_iter().chain([text(&gita), "--published", "gita-stories"]));
        let said = stdout(&output);
        assert!(output.status.success() && said.contains("Llama-3.1-70B-Instruct (GITA4CALAMITA table 3)"), "{said}");
        // 117 of the 356 stories are plausible.
        let baseline = said.lines().find(|line| line.contains("always implausible (no model)")).unwrap();
        for cell in ["67.1", "100.0", " 0.0"] {
            assert!(baseline.contains(cell), "{cell}: {baseline}");
        }
    }
    let report = std::fs::read_to_string(run.join("eval/stories-train-all/stories.json")).unwrap();
    let report: StoryReport = serde_json::from_str(&report).unwrap();
    for row in &report.rows {
        // 4 plausible stories, each with a cloze and an order story: a plausible one counts once.
        let accuracy = row.accuracy;
        assert_eq!([accuracy.plausible.unwrap(), accuracy.cloze, accuracy.order].map(|share| share.total), [4; 3]);
        assert_eq!((accuracy.overall.total, row.consistency.overall.total), (12, 8));
        assert!(row.consistency.overall.count <= accuracy.cloze.count + accuracy.order.count);
        assert!(row.verifiability.overall.count <= row.consistency.overall.count);
    }
}

#[test]
fn a_single_story_is_refused_by_a_run_that_did_not() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &[&JOINT[..], &["--set", "train.epochs=1"]].concat());
    let (story, stories) = (tiny.path("story.txt"), tiny.stories());
    std::fs::write(&story, STORY).unwrap();
    let by_story = ["eval", text(&run), "--data", text(&stories), "--split", "dev", "--unit", "story"];
    for output in [tiered(["predict", text(&run), text(&story)]), tiered(by_story)] {
        assert_eq!(output.status.code(), Some(69));
        let said = stderr(&output);
        assert!(said.contains("can't judge a single story") && said.contains("loss.single_story"), "{said}");
    }
    let output = tiered(by_story.into_iter().chain(["--published", "gita-cloze"]));
    assert_eq!(output.status.code(), Some(2));
    for option in ["--verbose", "--per-attribute"] {
        let output = tiered(by_story.into_iter().chain([option]));
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains(&format!("{option} adds tables")), "{said}");
    }
}

#[test]
fn the_class_for_no_conflict_leaves_the_distribution_over_a_pair_as_it_was() {
    let tiny = Tiny::new();
    let [with, without] = ["loss.single_story=1e-30", "loss.single_story=0"].map(|alone| {
        let name = if alone.ends_with("=0") { "without" } else { "with" };
        let run = tiny.trained(name, &[&JOINT[..], &["--set", "train.epochs=1", "--set", alone]].concat());
        let output = tiered(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "dev"]);
        assert!(output.status.success(), "{}", stderr(&output));
        read_predictions(&run.join("eval/stories-dev-all/predictions.jsonl")).unwrap().pairs
    });
    for (with, without) in with.iter().zip(&without) {
        let (with, without) = (&with.prediction, &without.prediction);
        for s in 0..2 {
            assert!(with.stories[s].no_conflict.is_some() && without.stories[s].no_conflict.is_none());
            assert!((with.story_probs[s] - without.story_probs[s]).abs() < 1e-4, "{with:?} {without:?}");
        }
    }
}
