//! What is wrong is named with its place, has its exit code, and leaves nothing behind.

use crate::support::{clean_file, stderr, text, tiered};
use crate::tiny::Tiny;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tch::Tensor;
use tiered::experiment::RunFolder;
use tiered::model::weights;

/// Training with these arguments fails with that exit code, says all this, and makes no run folder.
fn refuses(tiny: &Tiny, more: &[&str], code: i32, said: &[&str]) {
    let output = tiny.train("run", more);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{message}");
    for words in said {
        assert!(message.contains(words), "{words:?} is not in: {message}");
    }
    assert!(!tiny.path("run").exists());
}

/// `--set` for training stories in a file of that content, split "test".
fn with_stories(tiny: &Tiny, content: &str) -> [String; 2] {
    let path = tiny.path("bad.json");
    std::fs::write(&path, content).unwrap();
    ["--set".into(), format!("data.train={{ file = '{}', split = 'test' }}", path.display())]
}

fn refuses_stories(content: &str, code: i32, said: &[&str]) {
    let tiny = Tiny::new();
    let set = with_stories(&tiny, content);
    refuses(&tiny, &set.each_ref().map(String::as_str), code, said);
}

/// The clean file with one value replaced.
fn edited(pointer: &str, value: Value) -> String {
    let mut file = clean_file();
    *file.pointer_mut(pointer).unwrap() = value;
    file.to_string()
}

#[test]
fn files_that_do_not_exist() {
    let output = tiered(["train", "--config", "no-such.toml", "--output", "no-such-run"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(stderr(&output).contains("no-such.toml") && !Path::new("no-such-run").exists());
    let tiny = Tiny::new();
    refuses(&tiny, &["--set", "data.train={ file = 'no-such.json', split = 'train' }"], 66, &["no-such.json"]);
    refuses(&tiny, &["--set", "encoder.path=no-such-encoder"], 66, &["no-such-encoder"]);
}

#[test]
fn a_path_of_the_encoder_that_is_no_folder_of_one() {
    let tiny = Tiny::new();
    let (file, folder) = (tiny.stories(), tiny.path("without-config"));
    std::fs::create_dir(&folder).unwrap();
    for (path, code, problem) in [
        ("checkpoints/encoders/no-such", 66, "encoder.path: checkpoints/encoders/no-such does not exist".to_owned()),
        (text(&file), 66, format!("encoder.path: {} is no folder", text(&file))),
        (text(&folder), 66, format!("encoder.path: {} has no config.json", text(&folder))),
        ("", 78, "encoder.path: is empty".to_owned()),
    ] {
        let remedies =
            ["tiered model fetch ORG/NAME --output DIR", "scripts/get-encoder.py", "tiered model export RUN"];
        let said = [&[problem.as_str()][..], &remedies].concat();
        refuses(&tiny, &["--set", &format!("encoder.path='{path}'")], code, &said);
    }
}

#[test]
fn stories_that_are_malformed() {
    refuses_stories("{\n  \"test\": {,}\n}", 65, &["bad.json", "line 2 column 12"]);
    let place = |field: &'static str| ["bad.json", "test/1-C0", field];
    refuses_stories(&edited("/test/1-C0/states/1/open", json!([["chest", 9]])), 65, &place("states[1].open[0]"));
    refuses_stories(&edited("/test/1-C0/breakpoint", json!(3)), 65, &place("breakpoint"));
    refuses_stories(&edited("/test/1-C0/states", json!([{}, {}, {}])), 65, &place("no-entities"));
    refuses_stories(&edited("/test/1-C0/sentences", json!([])), 65, &place("no-sentences"));
}

#[test]
fn a_sentence_that_is_too_long_for_the_encoder() {
    let long = "Ada looked ".repeat(40);
    refuses_stories(
        &edited("/test/1-C0/sentences/1", json!(long)),
        65,
        &["bad.json: story 1-C0, sentence 2", "85 tokens", "64"],
    );
}

#[test]
fn a_split_that_does_not_exist() {
    let tiny = Tiny::new();
    let set = format!("data.train={{ file = '{}', split = 'trian' }}", tiny.stories().display());
    refuses(&tiny, &["--set", &set], 65, &["stories.json", "\"trian\"", "\"train\""]);
}

#[test]
fn configs_that_are_wrong() {
    let tiny = Tiny::new();
    refuses(&tiny, &["--set", "train.epoch=3"], 78, &["tiny.toml", "did you mean `epochs`?"]);
    let misspelt = std::fs::read_to_string(tiny.config()).unwrap().replace("epochs =", "epoch =");
    let path = tiny.path("misspelt.toml");
    std::fs::write(&path, misspelt).unwrap();
    let output = tiered(["train", "--config", text(&path), "--output", text(&tiny.path("run"))]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(78));
    assert!(
        ["misspelt.toml", "line 18", "did you mean `epochs`?"].iter().all(|said| message.contains(said)),
        "{message}"
    );
    assert!(!tiny.path("run").exists());

    refuses(&tiny, &["--set", "encoder.path=${NO_SUCH_VARIABLE}/e"], 78, &["${NO_SUCH_VARIABLE}/e", "is not set"]);
    refuses(&tiny, &["--set", "device=gpu"], 78, &["device", "cuda:N"]);
    refuses(&tiny, &["--set", "model.max_sentences=4"], 78, &["max_sentences = 4", "has 5 sentences"]);
}

#[test]
fn a_gpu_that_is_not_there() {
    let tiny = Tiny::new();
    refuses(&tiny, &["--set", "device=cuda:99"], 69, &["device cuda:99", "use device = \"cpu\""]);
}

#[test]
fn weights_that_do_not_fit() {
    let tiny = Tiny::new();
    let file = tiny.encoder().join("model.safetensors");
    let mut tensors = weights::read(&file).unwrap();
    tensors.remove("embeddings.LayerNorm.bias");
    tensors.insert("embeddings.LayerNorm.shift".into(), Tensor::from_slice(&[0f32; 32]));
    tensors.insert("encoder.layer.0.output.dense.bias".into(), Tensor::from_slice(&[0f32; 31]));
    weights::write(&file, &tensors).unwrap();
    let said = [
        "model.safetensors",
        "1 missing: roberta.embeddings.LayerNorm.bias",
        "1 unexpected: embeddings.LayerNorm.shift",
        "roberta.encoder.layer.0.output.dense.bias is [31], should be [32]",
    ];
    refuses(&tiny, &[], 78, &said);
}

#[test]
fn weights_that_are_no_safetensors() {
    let tiny = Tiny::new();
    std::fs::write(tiny.encoder().join("model.safetensors"), b"PK\x03\x04 pickled").unwrap();
    refuses(&tiny, &[], 77, &["model.safetensors", "not a safetensors file"]);
}

#[test]
fn a_run_folder_that_exists() {
    let tiny = Tiny::new();
    std::fs::create_dir(tiny.path("run")).unwrap();
    std::fs::write(tiny.path("run/kept"), "as it was").unwrap();
    let output = tiny.train("run", &[]);
    assert_eq!(output.status.code(), Some(73));
    assert!(stderr(&output).contains("exists already"), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(tiny.path("run")).unwrap().count(), 1);
    std::fs::create_dir(tiny.path("empty")).unwrap();
    tiny.trained("empty", &["--set", "train.epochs=1"]);
}

#[test]
fn weights_that_are_cut_off() {
    let tiny = Tiny::new();
    let weights = tiny.encoder().join("model.safetensors");
    let bytes = std::fs::read(&weights).unwrap();
    for length in [0, 7, 100, bytes.len() - 1] {
        std::fs::write(&weights, &bytes[..length]).unwrap();
        refuses(&tiny, &[], 65, &["model.safetensors", "the file is cut off", "copy or download it again"]);
    }
}

#[test]
fn a_run_folder_that_cant_be_made_is_said_by_a_dry_run() {
    let tiny = Tiny::new();
    std::fs::write(tiny.path("file"), "in the way").unwrap();
    let output = tiny.train("file/runs/run", &["--dry-run"]);
    assert_eq!(output.status.code(), Some(73));
    assert!(stderr(&output).contains("file is not a folder; choose another path"), "{}", stderr(&output));
    assert!(tiny.train("new/runs/run", &["--dry-run"]).status.success() && !tiny.path("new").exists());
}

#[test]
fn a_config_without_its_flag() {
    let output = tiered(["train", "configs/demo.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("a config needs --config in front of it: --config configs/demo.toml"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_loss_that_is_not_a_number_stops_before_the_weights_see_it() {
    let tiny = Tiny::new();
    let file = tiny.encoder().join("model.safetensors");
    let mut tensors = weights::read(&file).unwrap();
    // Finite, and so large that the last layer's output is not.
    tensors.insert("encoder.layer.1.output.LayerNorm.weight".into(), Tensor::from_slice(&[3e38_f32; 32]));
    weights::write(&file, &tensors).unwrap();
    let output = tiny.train("run", &["--set", "train.pairs_per_step=8"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(76), "{message}");
    for said in ["step 1: the precondition loss is not finite", "0-C0", "3-O0"] {
        assert!(message.contains(said), "{said:?} is not in: {message}");
    }
    assert!(!tiny.path("run/last/model.safetensors").exists() && !tiny.path("run/best/model.safetensors").exists());
}

#[test]
fn weights_that_predict_nothing_finite_are_not_kept() {
    let tiny = Tiny::new();
    let output = tiny.train("run", &["--set", "train.pairs_per_step=8", "--set", "train.learning_rate=1e30"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(76), "{message}");
    assert!(message.contains("loss is not finite (pairs of dev)") && message.contains("learning_rate"), "{message}");
    assert!(!tiny.path("run/metrics.jsonl").exists() && !tiny.path("run/last/model.safetensors").exists());
}

#[test]
fn the_last_good_epoch_is_kept_when_training_diverges() {
    let tiny = Tiny::new();
    let rate = ["train.pairs_per_step=8", "train.epochs=60", "train.learning_rate=200"];
    let output = tiny.train("run", &rate.map(|set| ["--set", set]).concat());
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(76), "{message}");
    assert!(message.contains("is not finite (pairs ") && message.contains("3-C0"), "{message}");
    let epochs = RunFolder::open(&tiny.path("run")).unwrap().epochs().unwrap();
    assert!((1..60).contains(&epochs.len()), "{epochs:?}");
    let last = weights::read(&tiny.path("run/last/model.safetensors")).unwrap();
    assert!(last.values().all(|tensor| tensor.isfinite().all().int64_value(&[]) == 1));
    let (run, stories) = (tiny.path("run"), tiny.stories());
    let output = tiered(["eval", text(&run), "--data", text(&stories), "--split", "dev", "--weights", "last"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_run_folder_that_is_none() {
    let tiny = Tiny::new();
    for command in ["eval", "predict"] {
        let stories = tiny.stories();
        let data = ["--data", text(&stories), "--split", "train"];
        let more: BTreeMap<_, Vec<&str>> = [("eval", vec![]), ("predict", vec!["--pair", "0-C0"])].into();
        let folder = tiny.path("");
        let arguments = [command, text(&folder)].into_iter().chain(data).chain(more[command].iter().copied());
        let output = tiered(arguments);
        assert_eq!(output.status.code(), Some(66));
        assert!(stderr(&output).contains("not a run folder"), "{}", stderr(&output));
    }
}

#[test]
fn what_is_hardly_meant_is_said_before_training() {
    let tiny = Tiny::new();
    let sets = ["train.learning_rate=1e9", "data.dev.split=train"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).chain(["--dry-run"]).collect();
    let output = tiny.train("run", &sets);
    assert!(output.status.success(), "{}", stderr(&output));
    for warning in ["train.learning_rate = 1000000000", "8 of 8 dev pairs are training pairs too"] {
        assert!(stderr(&output).contains(warning), "{warning:?} is not in: {}", stderr(&output));
    }
    assert!(!stderr(&tiny.train("run", &["--dry-run"])).contains("warning"));
}
