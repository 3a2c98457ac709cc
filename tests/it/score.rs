//! `tiered score` and the files it reads.

use crate::support::{random_prediction, real_data, rng, stderr, stdout, text, tiered, write};
use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;
use tiered::attribute::Attribute;
use tiered::decode::Decode;
use tiered::metrics::TierCounts;
use tiered::prediction::{
    LabelledPair, PredictionFormat, StateCandidate, mean_predictions, read_predictions, write_predictions,
};
use tiered::report::Report;

fn predictions() -> Vec<LabelledPair> {
    let mut rng = rng(3);
    (0..20).map(|i| random_prediction(&mut rng, i)).collect()
}

#[test]
fn published_predictions_score_as_published() {
    for (kind, pairs, counts) in [("cloze", 117, [85, 23, 3]), ("order", 122, [71, 2, 1])] {
        let Some(path) = real_data(&format!("data/gita/published/{kind}.json")) else { return };
        let output = tiered(["score", "--format=json", text(&path)]);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Report = serde_json::from_slice(&output.stdout).unwrap();
        let row = &report.rows[0];
        assert_eq!(
            [row.accuracy, row.consistency, row.verifiability].map(|s| (s.count, s.total)),
            counts.map(|c| (c, pairs))
        );
        assert_eq!(report.data.kind, kind);
        assert_eq!([report.states.preconditions.macro_f1, report.states.conflicts], [None; 2]);
        let output = tiered(["score", text(&path), "--verbose", "--published", &format!("gita-{kind}")]);
        assert!(stdout(&output).contains("undefined") && stdout(&output).contains("XLM-R (GITA table 4)"));
        let list: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let directory = TempDir::new().unwrap();
        let twice = write(&directory, "twice.json", &serde_json::to_string(&[&list[..], &list].concat()).unwrap());
        let output = tiered(["score", text(&twice)]);
        let message = format!("item {pairs} (");
        assert_eq!(output.status.code(), Some(65));
        assert!(stderr(&output).contains(&message) && stderr(&output).contains("is item 0 too"), "{}", stderr(&output));
    }
}

#[test]
fn predictions_survive_their_file() {
    let directory = TempDir::new().unwrap();
    let path = written(&directory, "predictions.jsonl", &predictions());
    let file = read_predictions(&path).unwrap();
    assert_eq!((file.format, file.pairs), (PredictionFormat::Lines, predictions()));
}

#[test]
fn score_prints_the_same_numbers_in_every_format() {
    let directory = TempDir::new().unwrap();
    let path = written(&directory, "predictions.jsonl", &predictions());
    let accurate = TierCounts::of(&predictions()).accurate;
    let cell = format!("{accurate}/20");
    for format in ["--per-attribute", "--format=markdown"] {
        let output = tiered(["score", text(&path), format]);
        assert!(output.status.success() && stdout(&output).contains(&cell), "{}", stdout(&output));
        assert_eq!(stdout(&output).contains("h_location"), format == "--per-attribute");
    }
    let output = tiered(["score", text(&path), "--format=json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["rows"][0]["accuracy"]["count"], accurate);
    assert!(report["states"]["effects"]["macro_f1"].is_number());
}

/// A less confident copy of a system: every probability is halved.
fn halved(pairs: &[LabelledPair]) -> Vec<LabelledPair> {
    let mut pairs = pairs.to_vec();
    for story in pairs.iter_mut().flat_map(|pair| &mut pair.prediction.stories) {
        for entity in &mut story.entities {
            entity.conflict_probs.iter_mut().for_each(|conflict_prob| *conflict_prob /= 2.);
            for side in [&mut entity.preconditions, &mut entity.effects] {
                side.candidates.iter_mut().for_each(|candidate| candidate.probability /= 2.);
            }
        }
    }
    pairs
}

/// The same predictions with the two stories the other way round.
fn turned(pairs: &[LabelledPair]) -> Vec<LabelledPair> {
    pairs.iter().cloned().map(LabelledPair::turned).collect()
}

/// Predictions whose stories have names of their own, and whose choice is what their probabilities say.
fn named_predictions() -> Vec<LabelledPair> {
    let mut pairs = predictions();
    for pair in &mut pairs {
        pair.prediction.stories[1].id = "the other story".into();
        (pair.prediction.plausible, pair.prediction.story_probs) = (1, [0.25, 0.75]);
    }
    pairs
}

#[test]
fn several_systems_score_as_the_mean_of_them() {
    let pairs = named_predictions();
    let mean = mean_predictions(&[pairs.clone(), turned(&halved(&pairs)), halved(&pairs)]).unwrap();
    for (pair, mean) in pairs.iter().zip(&mean) {
        assert_eq!(mean.gold, pair.gold);
        let (pair, mean) = (&pair.prediction, &mean.prediction);
        assert_eq!((mean.plausible, mean.story_probs), (1, pair.story_probs));
        for (entity, mean) in
            pair.stories.iter().zip(&mean.stories).flat_map(|(a, b)| a.entities.iter().zip(&b.entities))
        {
            for (conflict_prob, mean) in entity.conflict_probs.iter().zip(&mean.conflict_probs) {
                assert!((mean - conflict_prob * 2. / 3.).abs() < 1e-6, "{conflict_prob} {mean}");
            }
            assert_eq!(entity.effects.classes, mean.effects.classes);
            for (candidate, mean) in entity.effects.candidates.iter().zip(&mean.effects.candidates) {
                assert_eq!(
                    (candidate.sentence, candidate.attribute, candidate.class),
                    (mean.sentence, mean.attribute, mean.class)
                );
                assert!((mean.probability - candidate.probability * 2. / 3.).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn the_class_of_a_state_is_what_most_systems_say() {
    let pairs = named_predictions();
    let state = |pairs: &mut Vec<LabelledPair>, class: u8, probability: f32| {
        let effects = &mut pairs[0].prediction.stories[0].entities[0].effects;
        effects.candidates.retain(|candidate| candidate.sentence > 0);
        effects.classes[0] = [0; 20];
        effects.classes[0][Attribute::Open.index()] = class;
        if probability > 0. {
            let (sentence, attribute) = (0, Attribute::Open);
            effects.candidates.insert(0, StateCandidate { sentence, attribute, class, probability, otherwise: 0 });
        }
    };
    let say = |systems: &[(u8, f32)]| {
        let system = |&(class, probability): &(u8, f32)| {
            let mut system = pairs.clone();
            state(&mut system, class, probability);
            system
        };
        let effects = mean_predictions(&systems.iter().map(system).collect::<Vec<_>>()).unwrap()[0].prediction.stories
            [0]
        .entities[0]
            .effects
            .clone();
        let probability = effects.candidates.iter().find(|c| (c.sentence, c.attribute) == (0, Attribute::Open));
        (effects.classes[0][Attribute::Open.index()], probability.map(|c| (c.class, (c.probability * 100.).round())))
    };
    let says = |classes: [u8; 3]| say(&classes.map(|class| (class, if class > 0 { 0.9 } else { 0. })));
    assert_eq!(says([2, 0, 2]), (2, Some((2, 60.))));
    assert_eq!(says([0, 1, 0]), (0, Some((1, 30.))));
    assert_eq!(says([0, 0, 0]), (0, None));
    assert_eq!(say(&[(1, 0.4), (1, 0.4), (2, 0.95)]), (1, Some((1, 27.))), "the one that is predicted");
    let twice = [pairs.clone(), [pairs.clone(), vec![pairs[0].clone()]].concat()];
    assert!(mean_predictions(&twice).unwrap_err().contains("is not once in each file"));
    // Where as many say one as the other, the likelier class, in any order of the systems.
    for turn in [false, true] {
        let either_way = |mut systems: Vec<(u8, f32)>| {
            if turn {
                systems.reverse();
            }
            say(&systems)
        };
        assert_eq!(either_way(vec![(2, 0.9), (0, 0.)]), (0, Some((2, 45.))));
        assert_eq!(either_way(vec![(2, 0.9), (1, 0.6)]), (2, Some((2, 45.))));
        assert_eq!(either_way(vec![(2, 1.), (2, 0.9), (0, 0.), (0, 0.)]), (0, Some((2, 48.))));
        assert_eq!(either_way(vec![(2, 0.9), (1, 0.6), (0, 0.)]), (0, Some((2, 30.))));
        assert_eq!(either_way(vec![(2, 0.), (1, 0.6)]), (2, None), "no probability of this class is known");
    }
}

fn written(directory: &TempDir, name: &str, pairs: &[LabelledPair]) -> PathBuf {
    let path = directory.path().join(name);
    write_predictions(&path, pairs).unwrap();
    path
}

#[test]
fn the_mean_is_saved_and_scored_and_what_differs_is_refused() {
    let directory = TempDir::new().unwrap();
    let file = |name: &str, pairs: &[LabelledPair]| written(&directory, name, pairs);
    let pairs = named_predictions();
    let (a, b) = (file("a.jsonl", &pairs), file("b.jsonl", &turned(&halved(&pairs))));
    let saved = directory.path().join("mean.jsonl");
    let output = tiered(["score", text(&a), text(&b), "--output", text(&saved), "--format=json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.system.starts_with("mean of 2: "), "{}", report.system);
    assert!(report.rows.iter().all(|row| row.decoding != "as recorded"), "nothing was recorded of a mean");
    let mean = read_predictions(&saved).unwrap().pairs;
    assert_eq!(mean, Decode::Threshold.apply(&mean));
    assert_eq!(report.rows[0].accuracy.count, TierCounts::of(&mean).accurate);
    assert!(mean.iter().all(LabelledPair::has_state_probabilities));

    let kept = tiered(["score", text(&a), text(&b), "--output", text(&saved)]);
    assert!(kept.status.code() == Some(73) && stderr(&kept).contains("--force"), "{}", stderr(&kept));
    for out in ["--output", "--tiers"] {
        let lost = tiered(["score", text(&a), text(&b), out, text(&b), "--force"]);
        assert!(lost.status.code() == Some(2) && stderr(&lost).contains("would be lost"), "{}", stderr(&lost));
    }
    let twice = tiered(["score", text(&a), text(&b), text(&a)]);
    assert!(twice.status.code() == Some(65) && stderr(&twice).contains("the same predictions"), "{}", stderr(&twice));

    let reversed = file("reversed.jsonl", &pairs.iter().rev().cloned().collect::<Vec<_>>());
    let again = tiered(["score", text(&a), text(&reversed)]);
    assert!(again.status.code() == Some(65) && stderr(&again).contains("the same predictions"), "{}", stderr(&again));

    let shorter = file("shorter.jsonl", &pairs[1..]);
    let mut renamed = pairs.clone();
    renamed[3].prediction.stories[1].entities[0].name = "somebody else".into();
    let renamed = file("renamed.jsonl", &renamed);
    let mut regrouped = pairs.clone();
    regrouped[3].group += 1000;
    let regrouped = file("regrouped.jsonl", &regrouped);
    for (other, problem) in [
        (&shorter, "pair 0-C0: is not once in each file"),
        (&renamed, "pair 3-C0: the files have different entities"),
        (&regrouped, "pair 3-C0: the files have different gold answers"),
    ] {
        for files in [[&a, other], [other, &a]] {
            let output = tiered(["score", text(files[0]), text(files[1])]);
            assert_eq!(output.status.code(), Some(65));
            assert!(stderr(&output).contains(problem), "{}", stderr(&output));
        }
    }
}

/// Each system is sure of another sentence pair, and both half believe in a third one.
#[test]
fn the_mean_of_joint_detectors_is_that_of_their_sentence_pairs() {
    let directory = TempDir::new().unwrap();
    let mut pairs = named_predictions();
    pairs.retain(|pair| pair.prediction.stories[0].sentences.len() > 2);
    assert!(!pairs.is_empty());
    let system = |name: &str, own: [usize; 2], no_conflict: f32| {
        let mut pairs = pairs.clone();
        for story in pairs.iter_mut().flat_map(|pair| &mut pair.prediction.stories) {
            let n = story.sentences.len();
            story.sentence_pairs = vec![vec![0.; n]; n];
            story.sentence_pairs[own[0]][own[1]] = 0.25;
            story.sentence_pairs[1][2] = 0.1875;
            story.no_conflict = Some(no_conflict);
        }
        written(&directory, name, &Decode::Pair.apply(&pairs))
    };
    let (a, b) = (system("a.jsonl", [0, 1], 0.25), system("b.jsonl", [0, 2], 0.5));
    let saved = directory.path().join("mean.jsonl");
    let output = tiered(["score", text(&a), text(&b), "--output", text(&saved)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let mean = read_predictions(&saved).unwrap().pairs;
    for pair in &mean {
        assert_eq!(pair.prediction.conflict, [1, 2], "{}", pair.id);
        for story in &pair.prediction.stories {
            let prob = |i: usize, j: usize| story.sentence_pairs[i][j];
            assert_eq!([prob(0, 1), prob(0, 2), prob(1, 2)], [0.125, 0.125, 0.1875]);
            assert_eq!(story.no_conflict, Some(0.375));
        }
    }
    assert!(Decode::Threshold.apply(&mean) != mean, "by threshold other sentences conflict");
}

#[test]
fn a_tie_of_several_systems_counts_as_wrong_in_any_order() {
    let mut right = named_predictions();
    for pair in &mut right {
        pair.prediction.plausible = pair.gold.plausible;
        pair.prediction.story_probs = [0, 1].map(|story| if story == pair.gold.plausible { 1. } else { 0. });
    }
    let mut wrong = right.clone();
    for pair in &mut wrong {
        pair.prediction.plausible = 1 - pair.prediction.plausible;
        pair.prediction.story_probs.reverse();
    }
    for systems in [[&right, &wrong], [&wrong, &right], [&turned(&right), &wrong], [&wrong, &turned(&right)]] {
        let mean = mean_predictions(&systems.map(|system| system.to_vec())).unwrap();
        assert_eq!(TierCounts::of(&mean).accurate, 0);
    }
    let directory = TempDir::new().unwrap();
    let [a, b] = [("a.jsonl", &right), ("b.jsonl", &wrong)].map(|(name, pairs)| written(&directory, name, pairs));
    let output = tiered(["score", text(&a), text(&b)]);
    let warning =
        format!("warning: {0} pairs of {0}: both stories are equally probable, which counts as wrong", right.len());
    assert!(output.status.success() && stderr(&output).contains(&warning), "{}", stderr(&output));
    assert!(!stderr(&tiered(["score", text(&a)])).contains("equally probable"));
    let by = |story_probs: [f32; 2]| {
        let mut pairs = named_predictions();
        for pair in &mut pairs {
            pair.prediction.plausible = usize::from(story_probs[1] > story_probs[0]);
            pair.prediction.story_probs = story_probs;
        }
        pairs
    };
    let [a, b, c] = [[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]].map(by);
    for systems in [[&a, &b, &c], [&a, &c, &b]] {
        let mean = mean_predictions(&systems.map(|system| system.to_vec())).unwrap();
        assert_eq!(TierCounts::of(&mean).accurate, 0);
    }
}

#[test]
fn state_probabilities_are_asked_of_every_system() {
    let directory = TempDir::new().unwrap();
    let file = |name: &str, pairs: &[LabelledPair]| written(&directory, name, pairs);
    let pairs = named_predictions();
    let mut bare = halved(&pairs);
    for story in bare.iter_mut().flat_map(|pair| &mut pair.prediction.stories) {
        for entity in &mut story.entities {
            entity.preconditions.candidates.clear();
            entity.effects.candidates.clear();
        }
    }
    let (with, bare) = (file("with.jsonl", &pairs), file("bare.jsonl", &bare));
    let output = tiered(["score", text(&with), text(&bare), "--states=0.7"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(65), "{said}");
    assert!(said.contains("bare.jsonl: pair ") && said.contains("have no probabilities"), "{said}");
    let twice = tiered(["score", text(&with), "--states=0.7", "--states=0.7", "--format=json"]);
    let report: Report = serde_json::from_slice(&twice.stdout).unwrap();
    assert_eq!(report.rows.len(), 3, "as recorded, threshold, pair");
}

/// Gives the first label of `open` these candidates, and predicts none of them.
fn state_candidates(pair: &mut LabelledPair, classes: &[u8]) {
    let effects = &mut pair.prediction.stories[0].entities[0].effects;
    effects.classes[0][Attribute::Open.index()] = 0;
    let candidate =
        |&class| StateCandidate { sentence: 0, attribute: Attribute::Open, class, probability: 0.3, otherwise: 0 };
    effects.candidates = classes.iter().map(candidate).collect();
}

#[test]
fn wrong_predictions_are_refused_with_their_place() {
    let directory = TempDir::new().unwrap();
    let line = |edit: &dyn Fn(&mut LabelledPair)| {
        let mut prediction = predictions()[0].clone();
        edit(&mut prediction);
        let good = serde_json::to_string(&predictions()[1]).unwrap();
        format!("{good}\n\n{}\n", serde_json::to_string(&prediction).unwrap())
    };
    let cases = [
        (line(&|p| p.gold.plausible = 2), "line 3: gold_plausible: 2 is not below 2"),
        (line(&|p| p.gold.conflict = [0, 99]), "line 3: gold_conflict"),
        (line(&|p| p.gold.conflict = [1, 0]), "evidence must come before"),
        (line(&|p| p.prediction.conflict = vec![1, 1]), "sorted"),
        (
            line(&|p| p.prediction.stories[1].entities[0].conflict_probs.clear()),
            "stories[1].entities[0].conflict_probs: has 0 items",
        ),
        (line(&|p| p.prediction.stories[0].entities[0].effects.classes[0][0] = 3), "effects.predicted: h_location: 3"),
        (line(&|p| p.prediction.story_probs[0] = f32::NAN), "line 3"),
        (line(&|p| p.prediction.story_probs = [5., -3.]), "line 3: story_probs: 5 is not between 0 and 1"),
        (line(&|p| p.prediction.story_probs = [0.6, 0.6]), "line 3: story_probs: 0.6 and 0.6 don't add up to 1"),
        (line(&|p| p.prediction.plausible = 1 - p.prediction.plausible), "favour the other story"),
        (
            line(&|p| p.prediction.stories[1].entities[0].conflict_probs[0] = 7.),
            "conflict_probs: 7 is not between 0 and 1",
        ),
        (
            line(&|p| {
                let story = &mut p.prediction.stories[1];
                story.sentence_pairs = vec![vec![0.1; story.sentences.len()]; story.sentences.len()];
            }),
            "line 3: stories[1].sentence_pairs[0]: only [first][second] with first < second",
        ),
        (
            line(&|p| {
                for story in &mut p.prediction.stories {
                    let sentences = story.sentences.len();
                    story.sentence_pairs = vec![vec![0.; sentences]; sentences];
                    story.sentence_pairs[0][1] = 0.6;
                }
            }),
            "line 3: sentence_pairs: add up to 1.2 over both stories",
        ),
        (line(&|p| state_candidates(p, &[1, 2])), "candidates[1]: is the second one of open in sentence 0"),
        (
            line(&|p| {
                state_candidates(p, &[1]);
                p.prediction.stories[0].entities[0].effects.classes[0][Attribute::Open.index()] = 2;
            }),
            "effects.candidates[0].class: 1, where `predicted` has 2",
        ),
        (line(&|p| p.clone_from(&predictions()[1])), "is on line 1 too"),
        ("{\"id\": 1}".into(), "line 1"),
        ("[{\"id\": 1}]".into(), "not a list of predictions as published with GITA"),
        ("".into(), "contains no predictions"),
        ("[]".into(), "contains no predictions"),
        ("{\"id\": \"1-C0\", \"tiers\": {}}".into(), "line 1: is a line of a file of tiers"),
        ("{\"id\"".into(), "line 1: EOF while parsing an object at column 5"),
        ("{\n  \"test\": {}\n}\n".into(), "is a JSON document of another kind"),
        ("{\"test\": {}}".into(), "is a JSON document of another kind"),
    ];
    for (content, message) in cases {
        let path = write(&directory, "wrong.jsonl", &content);
        let output = tiered(["score", text(&path)]);
        assert_eq!(output.status.code(), Some(65), "{message}");
        assert!(stderr(&output).contains(message) && stderr(&output).contains("wrong.jsonl"), "{}", stderr(&output));
    }
}

#[test]
fn a_missing_prediction_file_exits_66() {
    let output = tiered(["score", "no-such-file.jsonl"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(stderr(&output).contains("no-such-file.jsonl"));
}
