//! Where `tiered eval` keeps what it found, and what it says about the pairs.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;
use tiered::experiment::{CheckpointKind, RunFolder};

fn eval(run: &Path, stories: &Path, split: &str, more: &[&str]) -> Output {
    let arguments = ["eval", text(run), "--data", text(stories), "--split", split];
    tiered(arguments.into_iter().chain(more.iter().copied()))
}

fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

#[test]
fn an_evaluation_of_other_stories_is_not_replaced_without_a_word() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    // The same file name, other stories: the splits change places.
    let other = tiny.path("elsewhere/stories.json");
    std::fs::create_dir(tiny.path("elsewhere")).unwrap();
    let swapped = std::fs::read_to_string(tiny.stories()).unwrap();
    let swapped =
        swapped.replace("\"train\":", "\"x\":").replace("\"dev\":", "\"train\":").replace("\"x\":", "\"dev\":");
    std::fs::write(&other, swapped).unwrap();
    let predictions = |name: &str| std::fs::read(run.join("eval").join(name).join("predictions.jsonl")).unwrap();
    let before = predictions("stories-dev-all");

    let refused = eval(&run, &other, "dev", &[]);
    assert_eq!(refused.status.code(), Some(73), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--tag") && stderr(&refused).contains(text(&tiny.stories())));
    assert!(succeeds(&eval(&run, &other, "dev", &["--tag", "other"])).contains("8 pairs of"));
    assert!(predictions("stories-dev-all") == before && predictions("other") != before);
    succeeds(&eval(&run, &tiny.stories(), "dev", &[]));
    assert_eq!(predictions("stories-dev-all"), before, "the same stories again");
    succeeds(&eval(&run, &other, "dev", &["--force"]));
    assert_eq!(predictions("stories-dev-all"), predictions("other"));
    assert_eq!(eval(&run, &other, "dev", &["--tag", "../out"]).status.code(), Some(77));
}

#[test]
fn scores_that_cant_be_printed_are_saved() {
    if cfg!(target_os = "linux") {
        let tiny = Tiny::new();
        let run = tiny.trained("run", &["--set", "train.epochs=1"]);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "train"]);
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        assert_eq!(command.stdout(full).output().unwrap().status.code(), Some(74));
        assert!(run.join("eval/stories-train-all/predictions.jsonl").exists());
    }
}

#[test]
fn an_evaluation_of_fewer_pairs_is_not_replaced_without_a_word() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1", "--set", "data.dev.pairs=2"]);
    let refused = eval(&run, &tiny.stories(), "dev", &[]);
    assert_eq!(refused.status.code(), Some(73), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("dev, all, 2 pairs, only the first of its pairs were scored"),
        "{}",
        stderr(&refused)
    );
    assert!(succeeds(&eval(&run, &tiny.stories(), "dev", &["--force"])).contains("4 pairs of"));
}

#[test]
fn scores_are_kept_elsewhere_or_printed_where_the_run_can_t_be_written() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let place = tiny.path("kept");
    let kept = ["--output", text(&place)];
    succeeds(&eval(&run, &tiny.stories(), "train", &kept));
    assert!(place.join("predictions.jsonl").is_file() && place.join("report.json").is_file());
    assert!(!run.join("eval/stories-train-all").exists());
    assert_eq!(eval(&run, &tiny.stories(), "train", &kept).status.code(), Some(73));
    succeeds(&eval(&run, &tiny.stories(), "train", &[&kept[..], &["--force"]].concat()));

    let own = tiny.path("own/stories.json");
    std::fs::create_dir(tiny.path("own")).unwrap();
    std::fs::copy(tiny.stories(), &own).unwrap();
    let lost = eval(&run, &own, "train", &["--output", text(&tiny.path("own")), "--force"]);
    assert!(lost.status.code() == Some(2) && stderr(&lost).contains("would be lost"), "{}", stderr(&lost));
    assert!(own.is_file());

    // A name that can't be that of a folder is no hindrance to a folder of one's own, nor is training begun with it.
    let odd = tiny.path("a:b.json");
    std::fs::copy(tiny.stories(), &odd).unwrap();
    succeeds(&eval(&run, &odd, "train", &[&kept[..], &["--force"]].concat()));
    let refused = eval(&run, &odd, "train", &[]);
    assert!(refused.status.code() == Some(77) && stderr(&refused).contains("rename it"), "{}", stderr(&refused));
    let dev = format!("data.dev.file={}", odd.display());
    let refused = tiny.train("odd", &["--set", &dev]);
    assert!(refused.status.code() == Some(77) && !tiny.path("odd").exists(), "{}", stderr(&refused));
    // Nor with two sources that would be saved under one name.
    std::fs::create_dir(tiny.path("other")).unwrap();
    let other = tiny.path("other/stories.json");
    std::fs::copy(tiny.stories(), &other).unwrap();
    let [one, two] = [&tiny.stories(), &other].map(|file| format!("{{file='{}',split='dev'}}", file.display()));
    let refused = tiny.train("twice", &["--set", &format!("data.dev=[{one},{two}]")]);
    assert!(refused.status.code() == Some(78) && stderr(&refused).contains("rename one"), "{}", stderr(&refused));
    let file = ["--output", text(&odd)];
    assert_eq!(eval(&run, &tiny.stories(), "train", &file).status.code(), Some(73));

    // Nothing can be made in a file, whoever asks.
    std::fs::remove_dir_all(run.join("eval")).unwrap();
    std::fs::write(run.join("eval"), "").unwrap();
    let output = eval(&run, &tiny.stories(), "dev", &[]);
    assert!(succeeds(&output).contains("consistency"));
    assert!(stderr(&output).contains("the evaluation is printed but not saved"), "{}", stderr(&output));
}

/// Predictions need no cores of their own, which this machine may not have.
#[test]
fn a_deterministic_run_of_a_larger_machine_predicts() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let config = std::fs::read_to_string(run.join("config.toml")).unwrap();
    let of_larger = |line: &str| match line.split(' ').next() {
        Some("threads") => "threads = 4000\n".to_owned(),
        Some("deterministic") => "deterministic = true\n".to_owned(),
        _ => format!("{line}\n"),
    };
    std::fs::write(run.join("config.toml"), config.lines().map(of_larger).collect::<String>()).unwrap();
    let output = eval(&run, &tiny.stories(), "train", &["--device", "cpu"]);
    assert!(succeeds(&output).contains("consistency"));
    assert!(stderr(&output).contains("4000 threads need as many cores"), "{}", stderr(&output));
}

#[test]
fn pairs_that_training_has_seen_are_marked() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    assert!(succeeds(&eval(&run, &tiny.stories(), "train", &[])).contains(", the run was trained on this set"));
    assert!(succeeds(&eval(&run, &tiny.stories(), "dev", &[])).contains(", the epoch was chosen on this set"));
    for format in ["--format=csv", "--format=latex"] {
        let table = succeeds(&eval(&run, &tiny.stories(), "train", &[format]));
        assert!(table.contains("stories.json, train, the run was trained on this set"), "{table}");
    }
    let card = std::fs::read_to_string(run.join("README.md")).unwrap();
    assert!(
        card.contains("the run was trained on this set") && card.contains("the epoch was chosen on this set"),
        "{card}"
    );
    let unseen = tiny.path("unseen.json");
    let more = std::fs::read_to_string(tiny.stories()).unwrap() + " ";
    std::fs::write(&unseen, more).unwrap();
    assert!(!succeeds(&eval(&run, &unseen, "dev", &[])).contains("on this set"));
}

/// Scores of single stories are not those of another evaluation's predictions beside them.
#[test]
fn an_evaluation_that_is_replaced_leaves_nothing() {
    let tiny = Tiny::new();
    let set = ["--set", "model.detector.kind=joint", "--set", "loss.single_story=0.5", "--set", "train.epochs=1"];
    let (run, out) = (tiny.trained("run", &set), tiny.path("elsewhere"));
    let output = ["--output", text(&out), "--force"];
    let by_story = [&output[..], &["--unit", "story", "--format=csv"]].concat();
    let table = succeeds(&eval(&run, &tiny.stories(), "dev", &by_story));
    assert!(table.contains("the epoch was chosen on this set, story by story"), "{table}");
    assert!(out.join("stories.json").exists());
    succeeds(&eval(&run, &tiny.stories(), "train", &output));
    assert!(out.join("report.json").exists() && !out.join("stories.json").exists());
}

/// A second stage has seen what its first stage has.
#[test]
fn pairs_that_the_run_of_init_from_has_seen_are_marked() {
    let tiny = Tiny::new();
    let first = tiny.trained("first", &["--set", "train.epochs=1"]);
    let other = tiny.path("other.json");
    std::fs::write(&other, std::fs::read_to_string(tiny.stories()).unwrap() + " ").unwrap();
    let data = |part: &str| format!("data.{part}={{ file = '{}', split = 'train' }}", other.display());
    let data = [data("train"), data("dev"), "train.epochs=1".to_owned()];
    let sets = |from: &Path| {
        let from = format!("init_from={}", text(from));
        data.iter().cloned().chain([from]).flat_map(|set| ["--set".to_owned(), set]).collect::<Vec<_>>()
    };
    let trained = |run: &str, from: &Path| {
        let sets = sets(from);
        tiny.trained(run, &sets.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let second = trained("second", &first);
    std::fs::remove_dir_all(&first).unwrap();
    let third = trained("third", &second);
    for run in [&third, &second] {
        let said = |file: &Path, split: &str| succeeds(&eval(run, file, split, &[]));
        assert!(said(&other, "train").contains("the run was trained on this set"));
        assert!(!said(&other, "dev").contains("on this set"));
        let of_first = |split: &str| succeeds(&eval(run, &tiny.stories(), split, &["--tag", split]));
        assert!(of_first("train").contains("the run was trained on this set"));
        assert!(of_first("dev").contains("the epoch was chosen on this set"));
        let resumed = tiered(["train", "--resume", text(run), "--set", "train.epochs=2"]);
        assert!(resumed.status.success(), "the first stage is not needed any more: {}", stderr(&resumed));
        assert!(of_first("train").contains("the run was trained on this set"));
    }
}

/// Scores of attributes are not those of former labels.
#[test]
fn an_analysis_is_of_the_labels_that_the_story_file_has_now() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    succeeds(&eval(&run, &tiny.stories(), "train", &[]));
    let stories = tiny.stories();
    let analysis = || {
        let arguments = ["report", "text", text(&run), "--data", text(&stories), "--split", "train"];
        let mut json: Value =
            serde_json::from_str(&succeeds(&tiered(arguments.into_iter().chain(["--format=json"])))).unwrap();
        json.as_object_mut().unwrap().remove("data");
        json
    };
    let before = analysis();
    assert_eq!(analysis(), before);
    let mut labels: Value = serde_json::from_str(&std::fs::read_to_string(&stories).unwrap()).unwrap();
    for story in labels["train"].as_object_mut().unwrap().values_mut() {
        for sentence in story["states"].as_array_mut().unwrap() {
            sentence["open"] = json!([]);
        }
    }
    std::fs::write(&stories, labels.to_string()).unwrap();
    assert_ne!(analysis(), before);
}

#[test]
fn predictions_of_other_weights_are_none_of_the_run() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let folder = RunFolder::open(&run).unwrap();
    let predictions = || folder.predictions("stories-dev-all", CheckpointKind::Best).unwrap();
    assert!(predictions().is_some());
    let file = run.join("eval/stories-dev-all/weights.json");
    let mut weights: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    weights["sha256"] = json!("0".repeat(64));
    std::fs::write(&file, weights.to_string()).unwrap();
    assert!(predictions().is_none(), "the epoch is the same, as after an edited checkpoint");
    std::fs::remove_file(&file).unwrap();
    assert!(predictions().is_none(), "an evaluation that was interrupted");
}

/// What is of the last weights is told by the end of the name.
#[test]
fn names_of_evaluations_end_with_whose_weights_they_are_of() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let last = ["--weights", "last", "--entities", "found"];
    succeeds(&eval(&run, &tiny.stories(), "train", &last));
    assert!(run.join("eval/stories-train-all-found-last/report.json").is_file());
    assert!(!std::fs::read_to_string(run.join("README.md")).unwrap().contains("stories.json, train"));
    let refused = eval(&run, &tiny.stories(), "train", &["--tag", "my-last"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--tag my-last: names that end with -last"), "{}", stderr(&refused));
}

/// A model that was trained in bf16 on a GPU can be evaluated in float32 on a CPU. What is found so stands beside what the
/// run's own precision gives.
#[test]
fn an_evaluation_has_the_precision_that_is_asked_for() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let file = |name: &str, file: &str| std::fs::read_to_string(run.join("eval").join(name).join(file)).unwrap();
    let own = file("stories-dev-all", "predictions.jsonl");
    let said = succeeds(&eval(&run, &tiny.stories(), "dev", &["--precision", "bf16"]));
    assert!(said.contains(", in bf16"), "{said}");
    assert_eq!(file("stories-dev-all", "predictions.jsonl"), own);
    assert!(file("stories-dev-all-bf16", "predictions.jsonl") != own, "products are rounded");
    let report: Value = serde_json::from_str(&file("stories-dev-all-bf16", "report.json")).unwrap();
    assert_eq!(report["data"]["precision"], "bf16");
    let said = succeeds(&eval(&run, &tiny.stories(), "dev", &["--precision", "fp32"]));
    assert!(!said.contains("in fp32") && file("stories-dev-all", "predictions.jsonl") == own, "{said}");
    assert_eq!(eval(&run, &tiny.stories(), "dev", &["--precision", "fp16"]).status.code(), Some(2));
    let taken = eval(&run, &tiny.stories(), "dev", &["--precision", "bf16", "--tag", "stories-dev-all"]);
    assert_eq!(taken.status.code(), Some(73), "{}", stderr(&taken));
}

/// An epoch has ended, but no checkpoint was due: the weights are those of the epoch before.
#[test]
fn an_evaluation_of_a_run_that_trains_names_the_epoch_of_its_weights() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &[]);
    let metrics = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let mut next: Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
    assert_eq!((&next["epoch"], &next["step"]), (&json!(2), &json!(8)));
    (next["epoch"], next["step"]) = (json!(3), json!(12));
    std::fs::write(run.join("metrics.jsonl"), format!("{metrics}{next}\n")).unwrap();
    succeeds(&eval(&run, &tiny.stories(), "train", &["--weights", "last"]));
    let weights = std::fs::read_to_string(run.join("eval/stories-train-all-last/weights.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&weights).unwrap()["epoch"], 2);
}
