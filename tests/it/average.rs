//! `tiered model average`.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Value, json};
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

/// What is missing is said before anything is written. What fails later leaves a run; the error says how to complete it.
#[test]
fn a_mean_that_can_t_be_calibrated_says_what_is_left_to_do() {
    let tiny = Tiny::new();
    let [a, b] = [("a", "seed=1"), ("b", "seed=2")]
        .map(|(run, seed)| tiny.trained(run, &["--set", seed, "--set", "train.epochs=1"]));
    let (out, stories) = (tiny.path("mean"), tiny.stories());
    let average = || tiered(["model", "average", text(&a), text(&b), "--output", text(&out)]);
    let given = fs::read_to_string(&stories).unwrap();
    fs::remove_file(&stories).unwrap();
    let missing = average();
    assert!(missing.status.code() == Some(66) && !out.exists(), "{}", stderr(&missing));
    // Stories that have become longer than the model can read.
    let mut longer: Value = serde_json::from_str(&given).unwrap();
    for story in longer["dev"].as_object_mut().unwrap().values_mut() {
        let first = story["sentences"][0].clone();
        story["sentences"].as_array_mut().unwrap().push(first);
        story["states"].as_array_mut().unwrap().push(json!({}));
        story["length"] = json!(6);
    }
    fs::write(&stories, longer.to_string()).unwrap();
    let failed = average();
    let said = stderr(&failed);
    assert_eq!(failed.status.code(), Some(65), "{said}");
    assert!(said.contains("stories.json: has changed since the run was trained"), "{said}");
    let remedy = format!("was made, but is not complete: run `tiered model calibrate {}`", text(&out));
    assert!(said.contains(&remedy) && !out.join("best/decode.json").exists(), "{said}");
    fs::write(&stories, given).unwrap();
    let calibrated = tiered(["model", "calibrate", text(&out)]);
    assert!(calibrated.status.success() && stderr(&calibrated).is_empty(), "{}", stderr(&calibrated));
    assert!(out.join("best/decode.json").is_file());
}
