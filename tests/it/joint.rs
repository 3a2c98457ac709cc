//! The joint detector through the program: one distribution, from which story and conflict are read.

use crate::support::{stderr, text, tiered};
use crate::tiny::Tiny;
use tiered::prediction::{PairPrediction, read_predictions};

const JOINT: [&str; 4] = ["--set", "model.detector.kind=joint", "--set", "model.detector.context=story"];

/// A run of one epoch and its predictions of the dev pairs.
fn predictions(tiny: &Tiny, name: &str, settings: &[&str]) -> Vec<PairPrediction> {
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
        &["--set", "model.detector.inputs=states"],
        &["--set", "model.detector.context=sentence"],
    ]
    .into_iter()
    .enumerate()
    {
        for pair in predictions(&tiny, &format!("run{i}"), settings) {
            let mass = pair.stories.each_ref().map(|story| story.places.iter().flatten().sum::<f32>());
            assert!((mass[0] + mass[1] - 1.).abs() < 1e-4, "{settings:?}: {mass:?}");
            for s in 0..2 {
                assert!((pair.story_probs[s] - mass[1 - s]).abs() < 1e-4, "{settings:?}");
            }
            let implausible = &pair.stories[1 - pair.plausible];
            let [i, j] = pair.conflict[..] else { panic!("{:?} are not two sentences", pair.conflict) };
            let likeliest = implausible.places.iter().flatten().fold(0f32, |best, &p| best.max(p));
            assert!(i < j && implausible.places[i][j] == likeliest);
            let belief: f32 = (0..implausible.sentences.len())
                .map(|other| implausible.places[i][other] + implausible.places[other][i])
                .sum();
            assert!(implausible.entities.iter().all(|entity| (entity.beliefs[i] - belief).abs() < 1e-4));
        }
    }
}

#[test]
fn one_story_alone_is_refused() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &[&JOINT[..], &["--set", "train.epochs=1"]].concat());
    let story = tiny.path("story.txt");
    std::fs::write(&story, "entities: Ada, chest\nAda shut the chest.\nAda looked into the chest.\n").unwrap();
    let output = tiered(["predict", text(&run), text(&story)]);
    assert_eq!(output.status.code(), Some(69));
    assert!(stderr(&output).contains("can't judge one alone"), "{}", stderr(&output));
}
