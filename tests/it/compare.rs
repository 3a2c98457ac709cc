//! `tiered compare`: runs side by side, without a sweep.

use crate::support::{random_prediction, rng, stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::Value;
use tempfile::TempDir;
use tiered::attribute::Attribute;
use tiered::metrics::Tiered;
use tiered::prediction::{LabelledPair, read_predictions, write_predictions};

#[test]
fn two_runs_are_compared_on_what_both_were_evaluated_on() {
    let tiny = Tiny::new();
    let [a, b] = [("a", "1"), ("b", "2")].map(|(name, seed)| {
        tiny.trained(name, &["--set", &format!("seed={seed}"), "--set", "model.detector.kind=joint"])
    });
    let compare = |more: &[&str]| tiered(["compare"].into_iter().chain(more.iter().copied()));
    let output = compare(&[text(&a), text(&b), "--format=json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The dev pairs, which both were evaluated on at their end, by two decodings.
    assert_eq!(answer["comparison"]["sections"].as_array().unwrap().len(), 2);
    let said =
        |run: &std::path::Path| read_predictions(&run.join("eval/stories-dev-all/predictions.jsonl")).unwrap().pairs;
    let differ = said(&a).iter().zip(&said(&b)).filter(|(a, b)| a.is_accurate() != b.is_accurate()).count();
    let listed = answer["differing"][1]["differ"].as_array().unwrap();
    let wrong_once = listed.iter().filter(|pair| pair["tiers"].as_array().unwrap().iter().any(|tier| tier == "wrong"));
    assert_eq!(wrong_once.count(), differ);
    let output = compare(&[text(&a), text(&b)]);
    let warned = format!("stories-dev-all, the epoch was chosen on this set: {}, {}", text(&a), text(&b));
    assert!(stderr(&output).contains(&warned), "{}", stderr(&output));
    assert!(!stderr(&output).contains("read in different ways"), "{}", stderr(&output));
    let stories = tiny.stories();
    for (run, more) in [(&a, &["--augment"][..]), (&b, &[])] {
        let eval = ["eval", text(run), "--data", text(&stories), "--split", "dev", "--tag", "mine"];
        assert!(tiered(eval.iter().chain(more).copied()).status.success());
    }
    let mixed = compare(&[text(&a), text(&b), "--evaluation", "mine"]);
    let warned = format!(
        "mine: the pairs were read in different ways: {}, read also without each sentence; {}, as in",
        text(&a),
        text(&b)
    );
    assert!(mixed.status.success() && stderr(&mixed).contains(&warned), "{}", stderr(&mixed));
    [&a, &b].iter().for_each(|run| std::fs::remove_dir_all(run.join("eval/mine")).unwrap());
    let shown = stdout(&output);
    assert!(shown.contains("the runs differ on") && shown.contains("2 - 1"), "{shown}");
    let twice = [text(&a), text(&b), "--evaluation", "stories-dev-all", "--evaluation", "stories-dev-all"];
    assert_eq!(stdout(&compare(&twice)), shown, "each set is tested once");

    assert!(!shown.contains("seeds"), "each row is one run: {shown}");
    let decoded = compare(&[text(&a), text(&b), "--decode", "pair", "--states", "argmax", "--states", "0.6+top1"]);
    let decoded = stdout(&decoded);
    for title in ["decoded by pair, states argmax", "decoded by pair, states 0.6+top1"] {
        assert!(decoded.contains(title), "{decoded}");
    }
    assert!(!decoded.contains("threshold"), "{decoded}");

    let predictions = ["one.jsonl", "one-seed1.jsonl", "two.jsonl", "two-seed1.jsonl"].map(|name| tiny.path(name));
    for (copy, of) in predictions.iter().zip([&a, &b, &b, &a]) {
        std::fs::copy(of.join("eval/stories-dev-all/predictions.jsonl"), copy).unwrap();
    }
    let output = compare(
        &["--seeds", "--format=json"].into_iter().chain(predictions.iter().map(|file| text(file))).collect::<Vec<_>>(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let recipes: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [rows, each] = [&recipes, &answer].map(|of| &of["comparison"]["sections"][1]["rows"]);
    assert_eq!((&rows[0]["seeds"], rows.as_array().unwrap().len()), (&serde_json::json!([0, 1]), 2));
    let accuracy = |row: &Value| row["scores"]["accuracy"]["mean"].as_f64().unwrap();
    let mean = (accuracy(&each[0]) + accuracy(&each[1])) / 2.0;
    assert!((accuracy(&rows[0]) - mean).abs() < 1e-9 && accuracy(&rows[0]) == accuracy(&rows[1]), "{recipes}");
    // Both rows have the same two runs, in another order: seed by seed they differ, over both they don't.
    let difference = &recipes["comparison"]["sections"][1]["differences"][0]["tiers"]["accuracy"];
    assert_eq!((&difference["difference"], &difference["mcnemar"]["p"]), (&0.0.into(), &1.0.into()), "{difference}");
    assert_eq!(recipes["comparison"]["sections"][1]["differences"].as_array().unwrap().len(), 1);
    let output = compare(&["--seeds", text(&predictions[0]), text(&predictions[1])]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("another recipe"), "{}", stderr(&output));

    let otherwise = a.join("../a/.");
    for twice in [text(&a), text(&otherwise)] {
        let output = compare(&[text(&a), twice]);
        assert!(output.status.code() == Some(2) && stderr(&output).contains("named twice"), "{}", stderr(&output));
    }
    assert_eq!(compare(&[text(&a)]).status.code(), Some(2));
    let output = compare(&[text(&a), text(&b), "--evaluation", "elsewhere"]);
    assert!(output.status.code() == Some(66) && stderr(&output).contains("tiered eval"), "{}", stderr(&output));
    let moved = std::fs::rename(b.join("eval/stories-dev-all"), b.join("eval/other"));
    moved.unwrap();
    let output = compare(&[text(&a), text(&b)]);
    assert!(output.status.code() == Some(66) && stderr(&output).contains("share no evaluation"), "{}", stderr(&output));
    let evaluated =
        tiered(["eval", text(&b), "--data", text(&tiny.stories()), "--split", "train", "--tag", "stories-dev-all"]);
    assert!(evaluated.status.success(), "{}", stderr(&evaluated));
    let output = compare(&[text(&a), text(&b)]);
    assert!(output.status.code() == Some(65) && stderr(&output).contains("other pairs"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("--evaluation"), "no other set is shared: {}", stderr(&output));
    // Sets that can be compared are named.
    for run in [&a, &b] {
        let evaluated = tiered(["eval", text(run), "--data", text(&tiny.stories()), "--split", "train"]);
        assert!(evaluated.status.success(), "{}", stderr(&evaluated));
    }
    let output = compare(&[text(&a), text(&b)]);
    let remedy = "or compare without it: --evaluation stories-train-all\n";
    assert!(output.status.code() == Some(65) && stderr(&output).ends_with(remedy), "{}", stderr(&output));
    let output = compare(&[text(&a), text(&b), "--evaluation", "stories-train-all"]);
    assert!(output.status.success(), "{}", stderr(&output));
    // The same ids, told otherwise.
    let retold = tiny.path("retold.json");
    std::fs::write(&retold, std::fs::read_to_string(tiny.stories()).unwrap().replace(".\"", "!\"")).unwrap();
    let arguments = ["--split", "dev", "--tag", "stories-dev-all", "--force"];
    let evaluated = tiered(["eval", text(&b), "--data", text(&retold)].into_iter().chain(arguments));
    assert!(evaluated.status.success(), "{}", stderr(&evaluated));
    let output = compare(&[text(&a), text(&b)]);
    assert!(output.status.code() == Some(65) && stderr(&output).contains("other sentences"), "{}", stderr(&output));
}

/// A file of predictions, such as a language model's, stands beside runs on the evaluation of the same pairs.
#[test]
fn a_file_of_predictions_is_compared_with_runs_of_the_same_pairs() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &[]);
    let evaluated = tiered(["eval", text(&run), "--data", text(&tiny.stories()), "--split", "train"]);
    assert!(evaluated.status.success(), "{}", stderr(&evaluated));
    let copy = |set: &str| {
        let path = tiny.path(&format!("{set}.jsonl"));
        std::fs::copy(run.join("eval").join(set).join("predictions.jsonl"), &path).unwrap();
        path
    };
    let (dev, train) = (copy("stories-dev-all"), copy("stories-train-all"));
    let compared = |paths: &[&std::path::Path]| {
        let output =
            tiered(["compare"].into_iter().chain(paths.iter().map(|path| text(path))).chain(["--format=json"]));
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    for (paths, set) in [([&*run, &*dev], "stories-dev-all"), ([&*run, &*train], "stories-train-all")] {
        let answer = compared(&paths);
        let differing = answer["differing"].as_array().unwrap();
        assert!(!differing.is_empty());
        assert!(differing.iter().all(|of_set| of_set["set"] == set && of_set["differ"].as_array().unwrap().is_empty()));
    }
    let other = tiny.path("renamed.jsonl");
    let reversed: String =
        std::fs::read_to_string(&dev).unwrap().lines().rev().map(|line| format!("{line}\n")).collect();
    std::fs::write(&other, reversed).unwrap();
    assert_eq!(compared(&[&run, &other])["differing"][0]["set"], "stories-dev-all", "in any order");
    let differing = &compared(&[&dev, &other])["differing"][0];
    assert_eq!((&differing["set"], &differing["differ"]), (&"predictions".into(), &serde_json::json!([])));
    let output = tiered(["compare", text(&dev), text(&train)]);
    assert!(output.status.code() == Some(65) && stderr(&output).contains("other pairs"), "{}", stderr(&output));
    // The same pairs, but for a story that is plausible.
    let mut retold = read_predictions(&dev).unwrap().pairs;
    let plausible = retold[0].gold.plausible;
    retold[0].prediction.stories[plausible].sentences[0] = "Ada slept.".into();
    let retold_file = tiny.path("retold.jsonl");
    write_predictions(&retold_file, &retold).unwrap();
    let output = tiered(["compare", text(&dev), text(&retold_file)]);
    assert!(output.status.code() == Some(65) && stderr(&output).contains("other sentences"), "{}", stderr(&output));
    // The same pairs, but other gold states: verifiability can't be compared.
    let mut relabelled = read_predictions(&dev).unwrap().pairs;
    for class in relabelled[0].gold.stories.iter_mut().flat_map(|story| &mut story.entities[0].effects[0]) {
        *class = u8::from(*class == 0);
    }
    let relabelled_file = tiny.path("relabelled.jsonl");
    write_predictions(&relabelled_file, &relabelled).unwrap();
    let output = tiered(["compare", text(&dev), text(&relabelled_file)]);
    assert!(output.status.code() == Some(65) && stderr(&output).contains("other gold states"), "{}", stderr(&output));
    for entity in relabelled.iter_mut().flat_map(|pair| &mut pair.gold.stories).flat_map(|story| &mut story.entities) {
        (entity.preconditions, entity.effects) = (Vec::new(), Vec::new());
    }
    write_predictions(&relabelled_file, &relabelled).unwrap();
    for with in [&dev, &run] {
        let output = tiered(["compare", text(with), text(&relabelled_file)]);
        let said = stderr(&output);
        assert!(output.status.code() == Some(65) && said.contains("in which pairs have gold states"), "{said}");
    }
    let output = tiered(["compare", text(&dev), text(&other), "--evaluation", "stories-dev-all"]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("leave it out"), "{}", stderr(&output));
    // An evaluation of which it is not known that the present weights made it.
    std::fs::remove_file(run.join("eval/stories-dev-all/weights.json")).unwrap();
    let output = tiered(["compare", text(&run), text(&dev)]);
    assert!(output.status.code() == Some(65) && stderr(&output).contains("other weights"), "{}", stderr(&output));
    let output = tiered(["compare", text(&run), text(&train)]);
    let said = stderr(&output);
    assert!(output.status.success() && said.contains("stories-dev-all was made by other weights"), "{said}");
    // Nor does a damaged one keep others from being compared.
    let broken = run.join("eval/broken");
    std::fs::create_dir(&broken).unwrap();
    for file in ["report.json", "weights.json"] {
        std::fs::copy(run.join("eval/stories-train-all").join(file), broken.join(file)).unwrap();
    }
    std::fs::write(broken.join("predictions.jsonl"), "{").unwrap();
    let output = tiered(["compare", text(&run), text(&train)]);
    let said = stderr(&output);
    assert!(
        output.status.success() && said.contains("broken/predictions.jsonl") && said.contains("left out"),
        "{said}"
    );
}

#[test]
fn entities_of_one_name_may_have_different_labels() {
    let folder = TempDir::new().unwrap();
    let mut rng = rng(7);
    let mut pairs: Vec<LabelledPair> = (0..4).map(|number| random_prediction(&mut rng, number)).collect();
    let LabelledPair { gold, prediction, .. } = &mut pairs[0];
    let (labels, entity) = (&mut gold.stories[0].entities, prediction.stories[0].entities[0].clone());
    let mut namesake = labels[0].clone();
    let class = &mut namesake.effects[0][Attribute::Open.index()];
    *class = u8::from(*class == 0);
    labels.push(namesake);
    prediction.stories[0].entities.push(entity);
    let last = labels.len() - 1;
    let file = |name: &str, pairs: &[LabelledPair]| {
        let path = folder.path().join(name);
        write_predictions(&path, pairs).unwrap();
        path
    };
    let one = file("one.jsonl", &pairs);
    let mut swapped = pairs.clone();
    swapped[0].gold.stories[0].entities.swap(0, last);
    for same in [file("copy.jsonl", &pairs), file("swapped.jsonl", &swapped)] {
        let output = tiered(["compare", text(&one), text(&same)]);
        assert!(output.status.success(), "{}: {}", same.display(), stderr(&output));
    }
    pairs[0].gold.stories[0].entities[last] = pairs[0].gold.stories[0].entities[0].clone();
    let other = file("other.jsonl", &pairs);
    for files in [[&one, &other], [&other, &one]] {
        let output = tiered(["compare", text(files[0]), text(files[1])]);
        assert!(output.status.code() == Some(65) && stderr(&output).contains("gold states"), "{}", stderr(&output));
    }
}

#[test]
fn what_is_neither_a_run_nor_a_file_is_refused_with_the_remedy() {
    let folder = TempDir::new().unwrap();
    let (file, missing) = (folder.path().join("predictions.jsonl"), folder.path().join("missing.jsonl"));
    write_predictions(&file, &[random_prediction(&mut rng(1), 0)]).unwrap();
    let refused = |other: &std::path::Path, why: &str| {
        let output = tiered(["compare", text(&file), text(other)]);
        assert!(output.status.code() == Some(66) && stderr(&output).contains(why), "{}", stderr(&output));
    };
    refused(&missing, "missing.jsonl: cannot be read");
    refused(folder.path(), &format!("not a run folder; name its file of predictions: {}", file.display()));
}
