//! `tiered model average`.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::Value;
use std::fs;
use tiered::model::weights;

/// The weights are the mean of those of the runs, whatever their order; the folder is a run like any other, but can't be
/// trained on.
#[test]
fn the_mean_of_runs_is_a_run() {
    let tiny = Tiny::new();
    let runs = [("a", "seed=1"), ("b", "seed=2"), ("c", "train.epochs=1")]
        .map(|(run, set)| tiny.trained(run, &["--set", set]));
    let out = tiny.path("mean");
    let [a, b, c] = runs.each_ref().map(|run| text(run));
    let output = tiered(["model", "average", a, b, c, "--output", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("the mean of 3 runs"));
    let read = |run: &std::path::Path| weights::read(&run.join("best/model.safetensors")).unwrap();
    let of_runs = runs.each_ref().map(|run| read(run));
    let mean = read(&out);
    assert!(mean.keys().eq(of_runs[0].keys()));
    for (name, tensor) in &mean {
        let expected = (&of_runs[0][name] + &of_runs[1][name] + &of_runs[2][name]) / 3.;
        assert!((tensor - expected).abs().max().double_value(&[]) < 1e-6, "{name}");
    }
    let about: Value = serde_json::from_slice(&fs::read(out.join("average.json")).unwrap()).unwrap();
    let seeds: Vec<_> = about["runs"].as_array().unwrap().iter().map(|run| run["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [1, 2, 1]);
    assert_eq!(about["runs"][1]["weights"], weights::sha256(&of_runs[1]));
    assert!(out.join("best/decode.json").is_file() && out.join("eval/stories-dev-all/report.json").is_file());
    let card = fs::read_to_string(out.join("README.md")).unwrap();
    assert!(card.contains("| weights | the mean of 3 runs |"), "{card}");

    let stories = tiny.stories();
    let evaluated = tiered(["eval", text(&out), "--data", text(&stories), "--split", "train"]);
    assert!(evaluated.status.success(), "{}", stderr(&evaluated));
    let resumed = tiered(["train", "--resume", text(&out)]);
    assert_eq!(resumed.status.code(), Some(78));
    assert!(stderr(&resumed).contains("is the average of other runs and can't be resumed"));
    let continued =
        tiny.trained("continued", &["--set", &format!("init_from={}", text(&out)), "--set", "train.epochs=1"]);
    assert!(continued.join("best/model.safetensors").is_file());
}

#[test]
fn runs_that_differ_are_not_averaged() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let out = tiny.path("mean");
    let twice = tiered(["model", "average", text(&run), text(&run.join(".")), "--output", text(&out)]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("is named twice"), "{}", stderr(&twice));
    for (other, set, differ) in [
        ("model", "model.detector.layers=2", "differ in the model"),
        ("data", "data.train.pairs=4", "differ in the settings of [data]"),
    ] {
        let other = tiny.trained(other, &["--set", set, "--set", "train.epochs=1"]);
        let output = tiered(["model", "average", text(&run), text(&other), "--output", text(&out)]);
        assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
        assert!(stderr(&output).contains(differ), "{}", stderr(&output));
        assert!(!out.exists());
    }
    assert_eq!(tiered(["model", "average", text(&run), "--output", text(&out)]).status.code(), Some(2));
    // The same stories in another file, read by other threads.
    let copy = tiny.path("copy.json");
    fs::copy(tiny.stories(), &copy).unwrap();
    let file = format!("data.train.file={}", copy.display());
    let same = tiny.trained("same", &["--set", &file, "--set", "data.workers=2", "--set", "train.epochs=1"]);
    let output = tiered(["model", "average", text(&run), text(&same), "--output", text(&out)]);
    assert!(output.status.success() && !stderr(&output).contains("warning"), "{}", stderr(&output));
    fs::remove_dir_all(&out).unwrap();
    let path = same.join("events.jsonl");
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("finished", "stopped")).unwrap();
    let output = tiered(["model", "average", text(&run), text(&same), "--output", text(&out)]);
    assert!(stderr(&output).contains("its training has not come to its end"), "{}", stderr(&output));
    let exists = tiered(["model", "average", text(&run), text(&same), "--output", text(&run)]);
    assert_eq!(exists.status.code(), Some(73), "{}", stderr(&exists));
}
