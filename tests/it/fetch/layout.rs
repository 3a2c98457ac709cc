//! What is fetched, where it goes, and who finds it there.

use super::hub::{COMMIT, Hub, MODEL, TOKEN, content, ends, files, git_hash};
use super::server::{Answer, Request};
use crate::support::{text, venv};
use crate::tiny::Tiny;
use std::fs;
use std::path::Path;
use tiered::durable::{Lock, sha256};

#[test]
fn a_model_goes_into_hugging_faces_cache() {
    let hub = Hub::new(files());
    hub.fetch_ends(0, &["model.safetensors: fetched, hash verified", COMMIT, "encoder.path = \"org/tiny\""]);
    assert_eq!(fs::read_to_string(hub.model().join("refs/main")).unwrap(), COMMIT);
    for (name, content) in files() {
        let link = hub.snapshot().join(&name);
        if name == "README.md" {
            assert!(!link.exists(), "what training does not need is not fetched");
            continue;
        }
        let etag = if name == "model.safetensors" { sha256(&content) } else { git_hash(&content) };
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("../../blobs").join(etag));
        assert_eq!(fs::read(&link).unwrap(), content, "{name}");
    }
    let blobs: Vec<_> = fs::read_dir(hub.model().join("blobs")).unwrap().collect();
    assert_eq!(blobs.len(), 3, "{blobs:?}");
}

#[test]
fn the_token_is_for_the_hub_only() {
    let hub = Hub::new(files());
    hub.fetch_ends(0, &[]);
    let bearer = format!("Bearer {TOKEN}");
    assert!(hub.hub.requests().iter().all(|request| request.header("authorization") == Some(&bearer)));
    let stored = hub.storage.requests();
    assert!(!stored.is_empty() && stored.iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn what_is_there_is_kept() {
    let hub = Hub::new(files());
    hub.fetch_ends(0, &[]);
    hub.hub.forget();
    hub.fetch_ends(0, &["model.safetensors: already present"]);
    assert_eq!(hub.hub.requests().len(), 1, "the commit is asked for, no file");
    // Another commit with the same content: linked, not fetched.
    fs::remove_dir_all(hub.snapshot()).unwrap();
    hub.storage.forget();
    hub.fetch_ends(0, &["model.safetensors: already present"]);
    assert!(hub.snapshot().join("model.safetensors").is_file() && hub.storage.requests().is_empty());
}

#[test]
fn shards_are_those_that_the_index_names() {
    let mut files = files();
    files.remove("model.safetensors");
    let index = r#"{"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}"#;
    files.insert("model.safetensors.index.json".into(), index.into());
    for name in ["model-1-of-2.safetensors", "model-2-of-2.safetensors", "other.safetensors"] {
        files.insert(name.into(), content(1000 + name.len()));
    }
    let hub = Hub::new(files);
    hub.fetch_ends(0, &[]);
    let names = fs::read_dir(hub.snapshot()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let expected =
        ["config.json", "model-1-of-2.safetensors", "model-2-of-2.safetensors", "model.safetensors.index.json"];
    assert_eq!(names, [&expected[..], &["tokenizer.json"]].concat());
    // Without a shard the model is not there.
    fs::remove_file(hub.snapshot().join("model-2-of-2.safetensors")).unwrap();
    let mut command = hub.command(env!("CARGO_BIN_EXE_tiered"));
    command.args(["model", "fetch", MODEL]).env("HF_HUB_OFFLINE", "1");
    ends(&command.output().unwrap(), 69, &["HF_HUB_OFFLINE"]);
}

#[test]
fn a_folder_of_its_own() {
    let hub = Hub::new(files());
    let out = hub.home().join("own");
    let fetch = || hub.tiered(&["model", "fetch", MODEL, "--output", text(&out)]);
    ends(&fetch(), 0, &[&format!("encoder.path = \"{}\"", out.display())]);
    let names = ["config.json", "model.safetensors", "tokenizer.json"];
    let mut found: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, names);
    assert!(!hub.model().exists() && names.iter().all(|name| !out.join(name).is_symlink()));
    ends(&fetch(), 0, &["model.safetensors: already present"]);
    fs::write(out.join("config.json"), "mine").unwrap();
    ends(&fetch(), 73, &["config.json", "--output"]);
    assert_eq!(fs::read_to_string(out.join("config.json")).unwrap(), "mine");
}

/// As mirrors of plain files announce them.
#[test]
fn a_file_without_an_announced_hash_is_known_by_its_length() {
    let files = files();
    let [config, tokenizer] = ["config.json", "tokenizer.json"].map(|name| files[name].clone());
    let twist = move |request: &Request| {
        let of = |name: &str, content: &[u8]| request.path.ends_with(name).then(|| Answer::file(request, content));
        let answer = of("/config.json", &config).or_else(|| of("/tokenizer.json", &tokenizer))?;
        Some(answer.with("etag", "\"5f3c-1a2b\""))
    };
    let hub = Hub::twisted(files, twist, |_| None);
    let out = hub.home().join("own");
    let fetch = || hub.tiered(&["model", "fetch", MODEL, "--output", text(&out)]);
    ends(&fetch(), 0, &["config.json: fetched"]);
    ends(&fetch(), 0, &["config.json: already present", "model.safetensors: already present"]);
    fs::write(out.join("config.json"), "mine").unwrap();
    ends(&fetch(), 73, &["config.json", "is not as long as", "--output"]);
}

#[test]
fn a_revision_has_a_reference_of_its_own() {
    let hub = Hub::new(files());
    ends(
        &hub.tiered(&["model", "fetch", MODEL, "--revision", "refs/pr/1"]),
        0,
        &["encoder.path = \"org/tiny@refs/pr/1\""],
    );
    assert_eq!(hub.hub.requests()[0].path, "/api/models/org/tiny/revision/refs%2Fpr%2F1");
    assert_eq!(fs::read_to_string(hub.model().join("refs/refs/pr/1")).unwrap(), COMMIT);
    assert!(!hub.model().join("refs/main").exists());
    ends(&hub.tiered(&["model", "fetch", MODEL, "--revision", "../../x"]), 77, &["../../x"]);
    for name in ["../tiny", "org/..", "a/b/c", "org/tiny/"] {
        ends(&hub.tiered(&["model", "fetch", name]), 2, &["ORG/NAME"]);
    }
}

#[test]
fn offline_nothing_is_asked_for() {
    let hub = Hub::new(files());
    let offline = |variable: &str| {
        let mut command = hub.command(env!("CARGO_BIN_EXE_tiered"));
        command.args(["model", "fetch", MODEL]).env(variable, "1").output().unwrap()
    };
    ends(&offline("HF_HUB_OFFLINE"), 69, &["HF_HUB_OFFLINE forbids network access"]);
    assert!(hub.hub.requests().is_empty());
    hub.fetch_ends(0, &[]);
    hub.hub.forget();
    ends(&offline("HF_HUB_OFFLINE"), 0, &[text(&hub.snapshot())]);
    ends(&offline("TRANSFORMERS_OFFLINE"), 0, &[]);
    assert!(hub.hub.requests().is_empty());
}

#[test]
fn another_process_that_fetches_the_same_is_not_disturbed() {
    let hub = Hub::new(files());
    let folder = hub.home().join("hub/.locks/models--org--tiny");
    fs::create_dir_all(&folder).unwrap();
    let held = Lock::take(&folder.join(format!("{}.lock", sha256(&content(200_000))))).unwrap();
    hub.fetch_ends(73, &["another process"]);
    drop(held);
    hub.fetch_ends(0, &[]);
}

#[test]
fn what_can_not_be_read_is_not_fetched() {
    let without = |lost: &str, instead: &str| {
        let mut files = files();
        files.remove(lost);
        files.insert(instead.into(), b"x".to_vec());
        Hub::new(files)
    };
    for (lost, instead, words) in [
        ("model.safetensors", "pytorch_model.bin", &["pickle", "save_pretrained", "AutoModel"][..]),
        ("model.safetensors", "model.onnx", &["has no model.safetensors"]),
        ("tokenizer.json", "spm.model", &["has no tokenizer.json", "save_pretrained", "AutoTokenizer"]),
        ("tokenizer.json", "vocab.json", &["has no tokenizer.json", "in full"]),
        ("config.json", "config.yaml", &["has no config.json"]),
    ] {
        let hub = without(lost, instead);
        hub.fetch_ends(77, words);
        assert_eq!(hub.hub.requests().len(), 1, "only what there is was asked for");
    }
}

#[test]
fn a_renamed_model_is_found() {
    // Names of one part are of the time before organisations (`bert-base-uncased`).
    for (id, folder) in [("old/name", "models--old--name"), ("old", "models--old")] {
        let hub = Hub::twisted(
            files(),
            move |request| {
                let renamed = request.path.replace(&format!("/{id}/"), "/org/tiny/");
                (renamed != request.path).then(|| Answer { status: 307, ..Answer::redirect(renamed) })
            },
            |_| None,
        );
        ends(&hub.tiered(&["model", "fetch", id]), 0, &["model.safetensors: fetched, hash verified"]);
        let snapshot = hub.home().join("hub").join(folder).join("snapshots").join(COMMIT);
        assert!(snapshot.join("model.safetensors").is_file());
    }
}

/// A tiny encoder on a hub.
fn tiny_hub(tiny: &Tiny) -> Hub {
    let read = |name: &str| (name.to_owned(), fs::read(tiny.encoder().join(name)).unwrap());
    Hub::new(["config.json", "tokenizer.json", "model.safetensors"].map(read).into())
}

#[test]
fn a_config_names_a_model_of_the_cache() {
    let tiny = Tiny::new();
    let hub = tiny_hub(&tiny);
    let (config, out) = (tiny.config(), tiny.path("run"));
    let train = |encoder: &str| {
        let path = format!("encoder.path={encoder}");
        hub.tiered(&["train", "--config", text(&config), "--set", &path, "--output", text(&out), "--dry-run"])
    };
    ends(&train("org/tiny"), 66, &["tiered model fetch org/tiny", text(hub.home())]);
    assert!(hub.hub.requests().is_empty(), "training never downloads");
    hub.fetch_ends(0, &[]);
    hub.hub.forget();
    ends(&train("org/tiny"), 0, &["2 layers"]);
    ends(&train("org/tiny@v2"), 66, &["tiered model fetch org/tiny --revision v2"]);
    ends(&train(&format!("org/tiny@{COMMIT}")), 0, &["2 layers"]);
    fs::remove_file(hub.snapshot().join("tokenizer.json")).unwrap();
    ends(&train("org/tiny"), 66, &["without a tokenizer", "tiered model fetch org/tiny"]);
    assert!(hub.hub.requests().is_empty());
}

#[test]
fn huggingface_hub_finds_what_was_fetched_and_is_found() {
    let Some(python) = venv() else { return };
    let tiny = Tiny::new();
    let download = |hub: &Hub, offline: &str| {
        let program = "import os; from huggingface_hub import hf_hub_download as get; \
                       files = ['config.json', 'tokenizer.json', 'model.safetensors']; \
                       print(*{os.path.dirname(get('org/tiny', file)) for file in files})";
        let mut command = hub.command(text(&python));
        command.args(["-c", program]).env("HF_HUB_OFFLINE", offline).env("HF_HUB_DISABLE_XET", "1");
        command.output().unwrap()
    };
    let ours = tiny_hub(&tiny);
    ours.fetch_ends(0, &[]);
    ends(&download(&ours, "1"), 0, &[text(&ours.snapshot())]);
    let theirs = tiny_hub(&tiny);
    ends(&download(&theirs, "0"), 0, &[text(&theirs.snapshot())]);
    theirs.hub.forget();
    theirs.fetch_ends(0, &["model.safetensors: already present"]);
    assert_eq!(theirs.hub.requests().len(), 1);
}
