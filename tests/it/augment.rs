//! Readings without one sentence: `--augment` of `tiered eval` and `tiered predict`.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tiered::experiment::{CheckpointKind, TrainedRun};
use tiered::machine::ComputeChoice;
use tiered::prediction::{LabelledPair, read_predictions};

fn shared() -> &'static (Tiny, PathBuf) {
    static SHARED: OnceLock<(Tiny, PathBuf)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let tiny = Tiny::new();
        let joint = ["--set", "model.detector.kind=joint", "--set", "model.detector.context=story"];
        let run = tiny.trained("run", &[&joint[..], &["--set", "train.epochs=1"]].concat());
        (tiny, run)
    })
}

fn eval(stories: &Path, more: &[&str]) -> String {
    let output = tiered(
        ["eval", text(&shared().1), "--data", text(stories), "--split", "dev"].into_iter().chain(more.iter().copied()),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

fn predictions(folder: &Path) -> Vec<LabelledPair> {
    read_predictions(&folder.join("predictions.jsonl")).unwrap().pairs
}

/// The stories of a split without sentence `k`, as a file of stories without state labels would have them.
fn shorter(stories: &Map<String, Value>, entities: &BTreeMap<String, Vec<String>>, k: usize) -> Value {
    let shorter = stories.iter().filter_map(|(key, story)| {
        let mut sentences = story["sentences"].as_array().unwrap().clone();
        if k < sentences.len() {
            sentences.remove(k);
        }
        let mut story = story.as_object().unwrap().clone();
        if story["plausible"] == json!(false) {
            story.extend([("breakpoint".to_owned(), json!(1)), ("confl_sents".to_owned(), json!([0]))]);
            story.insert("confl_pairs".to_owned(), json!([[0, 1]]));
        }
        story.insert("entities".to_owned(), json!(entities.get(key)?));
        story.insert("sentences".to_owned(), json!(sentences));
        story.retain(|field, _| !["states", "objects", "length", "actions"].contains(&field.as_str()));
        Some((key.clone(), Value::Object(story)))
    });
    json!({"dev": shorter.collect::<Map<_, _>>()})
}

/// The mean probability of a sentence pair over the readings that have both sentences.
fn support(readings: &[SentencePairs], story: &(String, String), i: usize, j: usize) -> f32 {
    let place = |k: usize, sentence: usize| sentence - usize::from(sentence > k);
    let sentences = readings[0][story].len();
    let without = readings.iter().skip(1).take(sentences).enumerate().filter(|(k, _)| ![i, j].contains(k));
    let shorter = without.map(|(k, reading)| reading[story][place(k, i)][place(k, j)]);
    let probabilities: Vec<f32> = shorter.chain([readings[0][story][i][j]]).collect();
    probabilities.iter().sum::<f32>() / probabilities.len() as f32
}

/// `[N][N]` of each pair and story.
type SentencePairs = BTreeMap<(String, String), Vec<Vec<f32>>>;

fn by_story(pairs: &[LabelledPair]) -> SentencePairs {
    let stories = pairs.iter().flat_map(|pair| pair.prediction.stories.iter().map(move |story| (pair, story)));
    stories.map(|(pair, story)| ((pair.id.clone(), story.id.clone()), story.sentence_pairs.clone())).collect()
}

/// Files of shorter stories are evaluated one by one, and averaged here.
#[test]
fn the_mean_is_that_of_evaluations_of_shorter_stories() {
    let (tiny, run) = shared();
    let report: Value = serde_json::from_str(&eval(&tiny.stories(), &["--augment", "--format=json"])).unwrap();
    assert_eq!(report["data"]["augmented"], true);
    for (more, said) in [(&[][..], false), (&["--augment"], true)] {
        let printed = eval(&tiny.stories(), more);
        assert_eq!(printed.contains(", read also without each sentence"), said, "{printed}");
    }
    let [whole, augmented] =
        ["stories-dev-all", "stories-dev-all-augmented"].map(|name| predictions(&run.join("eval").join(name)));
    assert!(!whole.is_empty() && whole.len() == augmented.len());

    let stories: Value = serde_json::from_slice(&std::fs::read(tiny.stories()).unwrap()).unwrap();
    let named = whole.iter().flat_map(|pair| &pair.prediction.stories).map(|story| {
        (story.id.clone(), story.entities.iter().map(|entity| entity.name.clone()).collect::<Vec<String>>())
    });
    let entities = named.collect();
    let mut readings = vec![by_story(&whole)];
    let longest = whole.iter().flat_map(|pair| &pair.prediction.stories).map(|story| story.sentences.len()).max();
    for k in 0..longest.unwrap() {
        let (file, folder) = (tiny.path(&format!("without-{k}.json")), tiny.path(&format!("without-{k}")));
        std::fs::write(&file, shorter(stories["dev"].as_object().unwrap(), &entities, k).to_string()).unwrap();
        eval(&file, &["--output", text(&folder)]);
        readings.push(by_story(&predictions(&folder)));
    }
    let mut is_other = false;
    for (pair, whole) in augmented.iter().zip(&whole) {
        let supports = pair.prediction.stories.each_ref().map(|story| {
            let key = (pair.id.clone(), story.id.clone());
            let pairs = (0..story.sentences.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
            pairs.map(|(i, j)| (i, j, support(&readings, &key, i, j))).collect::<Vec<_>>()
        });
        let of_story = supports.each_ref().map(|supports| supports.iter().map(|support| support.2).sum::<f32>());
        let total = of_story[0] + of_story[1];
        for (story, supports) in pair.prediction.stories.iter().zip(&supports) {
            for &(i, j, support) in supports {
                let (actual, expected) = (story.sentence_pairs[i][j], support / total);
                assert!((actual - expected).abs() < 1e-4, "{} {i} {j}: {actual}, not {expected}", story.id);
            }
        }
        assert!((pair.prediction.story_probs[0] - of_story[1] / total).abs() < 1e-4);
        is_other |= (pair.prediction.story_probs[0] - whole.prediction.story_probs[0]).abs() > 1e-3;
    }
    assert!(is_other, "the means are those of the whole pairs");
}

/// The other story of a pair decides how much a reading counts, so no story is judged by itself.
#[test]
fn single_stories_are_read_once() {
    let (tiny, run) = shared();
    let stories = tiny.stories();
    let refused =
        tiered(["eval", text(run), "--data", text(&stories), "--split", "dev", "--augment", "--unit", "story"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("leave it out with --unit story"), "{}", stderr(&refused));
}

/// Also with the paper's detector, which gives each sentence a probability of its own, and for one pair or many.
#[test]
fn predict_and_eval_agree_on_augmented_pairs() {
    let (tiny, _) = shared();
    let run = tiny.trained("paper", &["--set", "train.epochs=1"]);
    let stories = tiny.stories();
    for run in [&shared().1, &run] {
        let output = tiered(["eval", text(run), "--data", text(&stories), "--split", "dev", "--augment"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let pairs = predictions(&run.join("eval/stories-dev-all-augmented"));
        let pair = &pairs[pairs.len() - 1];
        let asked = ["predict", text(run), "--data", text(&stories), "--split", "dev", "--pair", &pair.id];
        let choice = |more: &[&str]| {
            let output = tiered(asked.iter().chain(more).copied());
            assert!(output.status.success(), "{}", stderr(&output));
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            (
                answer["plausible"]["story"].as_u64().unwrap() as usize,
                answer["plausible"]["probability"].as_f64().unwrap(),
            )
        };
        let (story, probability) = choice(&["--augment", "--format=json"]);
        assert_eq!(story, pair.prediction.plausible);
        let opened = TrainedRun::open(run, CheckpointKind::Best, &ComputeChoice::default()).unwrap();
        let shown = opened.decoded(pair.clone(), opened.own_decode(), None).prediction;
        assert!((probability - f64::from(shown.story_probs[story])).abs() < 1e-4, "not as in the evaluation");
        assert!((probability - choice(&["--format=json"]).1).abs() > 1e-6, "as without --augment");
    }
}
