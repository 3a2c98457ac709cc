//! Going on with a run: what it says, what it refuses, what it leaves.

use crate::support::{copy_folder, files_below, stderr, stdout, text, tiered, tiered_with};
use crate::test_device::devices;
use crate::tiny::Tiny;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use tch::Device;
use tiered::checkpoint::{CheckpointStore, Environment, MANIFEST, Manifest};
use tiered::config::{Config, keys};
use tiered::durable::{FileDigest, Lock};
use tiered::experiment::{CheckpointKind, RunFolder, flat};
use tiered::train::{EpochRecord, Network};

/// A finished run of two epochs, which the tests only read or copy.
fn shared() -> &'static (Tiny, PathBuf) {
    static SHARED: OnceLock<(Tiny, PathBuf)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let tiny = Tiny::new();
        let run = tiny.trained("run", &["--set", "checkpoint.every=3 steps"]);
        (tiny, run)
    })
}

fn resume(run: &Path, more: &[&str]) -> Output {
    tiered(["train", "--resume", text(run)].into_iter().chain(more.iter().copied()))
}

/// `tiered train --dry-run --resume RUN --set ..` with these. One at a time: even a dry run locks its folder.
fn dry(sets: &[&str]) -> Output {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let more: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).chain(["--dry-run"]).collect();
    resume(&shared().1, &more)
}

/// The epochs of a run, without times.
pub fn records(run: &Path) -> Vec<EpochRecord> {
    let epochs = RunFolder::open(run).unwrap().epochs().unwrap();
    epochs.into_iter().map(|epoch| EpochRecord { train_seconds: 0., dev_seconds: 0., ..epoch }).collect()
}

/// A copy of the shared run.
fn copied(name: &str) -> PathBuf {
    let (tiny, run) = shared();
    let to = tiny.path(name);
    copy_folder(run, &to);
    to
}

#[test]
fn a_finished_run_stays_as_it_is() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "checkpoint.every=3 steps"]);
    let weights = || ["best", "last"].map(|which| fs::read(run.join(which).join("model.safetensors")).unwrap());
    let before = (weights(), records(&run));
    assert!(tiered(["model", "calibrate", text(&run), "--weights", "last"]).status.success());
    let calibrated = || fs::read(run.join("last/decode.json")).unwrap();
    let chosen = calibrated();
    let output = resume(&run, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("resumes from") && stdout(&output).contains("after step 8"), "{output:?}");
    assert!(before == (weights(), records(&run)) && chosen == calibrated());
}

#[test]
fn metrics_have_each_epoch_once_and_as_without_the_stop() {
    let (tiny, reference) = shared();
    let arguments = ["--set", "checkpoint.every=3 steps", "--resume"];
    let (config, run) = (tiny.config(), tiny.path("stopped"));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tiered"));
    child.args(["train", "--config", text(&config), "--output", text(&run)]).args(arguments);
    // Between the metrics of the second epoch and its checkpoint.
    let stops = (60..).step_by(10).take(40).find(|operation| {
        let _ = fs::remove_dir_all(&run);
        child.env("TIERED_FAIL_POINT", format!("abort:{operation}")).output().unwrap();
        let newest = CheckpointStore::new(run.join("checkpoints")).newest().unwrap();
        let is_before = newest.is_some_and(|found| found.checkpoint.manifest.step < 8);
        is_before && run.join("metrics.jsonl").exists() && records(&run).len() == 2
    });
    assert!(stops.is_some(), "no stop between the two");
    let output = resume(&run, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(records(&run), records(reference));
    let table = |run: &Path| fs::read_to_string(run.join("metrics.csv")).unwrap();
    assert_eq!(table(&run), table(reference));
    assert_eq!(table(&run).lines().count(), 1 + 8 + 2, "a header, 8 steps, 2 epochs");
}

#[test]
fn a_run_without_an_epoch_says_how_to_go_on() {
    let tiny = Tiny::new();
    let (config, run, data) = (tiny.config(), tiny.path("begun"), tiny.stories());
    let every = ["--set", "checkpoint.every=1 steps"];
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tiered"));
    child.args(["train", "--config", text(&config), "--output", text(&run), "--resume"]).args(every);
    // After the first checkpoint, before the end of the first epoch.
    let stops = (20..).step_by(5).take(40).find(|operation| {
        let _ = fs::remove_dir_all(&run);
        child.env("TIERED_FAIL_POINT", format!("abort:{operation}")).output().unwrap();
        run.join("last/model.safetensors").exists()
    });
    assert!(stops.is_some() && !run.join("metrics.jsonl").exists(), "the run stops within its first epoch");
    let resumption = format!("no epoch of this run has ended yet; go on with `tiered train --resume {}`", text(&run));
    let from = format!("init_from={}", text(&run));
    let exported = tiny.path("exported");
    let of_data = ["--data", text(&data), "--split", "dev"];
    for arguments in [
        [&["eval", text(&run)][..], &of_data].concat(),
        [&["report", "text", text(&run)][..], &of_data].concat(),
        vec!["model", "calibrate", text(&run)],
        vec!["model", "export", text(&run), "--output", text(&exported)],
        vec!["train", "--config", text(&config), "--output", text(&exported), "--set", &from],
    ] {
        let output = tiered(arguments.iter().copied());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(66), "{arguments:?}: {said}");
        assert!(said.contains(&resumption) && said.contains("--weights last"), "{arguments:?}: {said}");
    }
    let last = tiered([&["eval", text(&run), "--weights", "last"][..], &of_data].concat());
    assert!(last.status.success(), "{}", stderr(&last));
    // Without a checkpoint there is only one remedy.
    fs::remove_file(run.join("last/model.safetensors")).unwrap();
    let said = stderr(&tiered(["model", "calibrate", text(&run)]));
    assert!(said.contains(&resumption) && !said.contains("--weights last"), "{said}");
}

#[test]
fn training_ends_where_it_does_not_get_better() {
    let tiny = Tiny::new();
    // At this rate nothing changes.
    let sets = ["train.learning_rate=1e-30", "train.epochs=9", "train.patience=2"].map(|set| ["--set", set]);
    let (config, run) = (tiny.config(), tiny.path("patient"));
    let arguments = ["train", "--config", text(&config), "--output", text(&run)];
    let output = tiered(arguments.into_iter().chain(sets.into_iter().flatten()));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("stopped after 3 of 9 epochs"), "{}", stdout(&output));
    assert_eq!(records(&run).len(), 3);
    let more = resume(&run, &["--set", "train.patience=4"]);
    assert!(more.status.success() && records(&run).len() == 5, "{}", stderr(&more));
    let without_dev = ["--set", "train.patience=2", "--set", "data.dev=[]"];
    assert_eq!(tiered(arguments.into_iter().chain(without_dev)).status.code(), Some(78));
}

#[test]
fn the_best_and_the_last_checkpoints_are_kept() {
    let run = &shared().1;
    let store = CheckpointStore::new(run.join("checkpoints"));
    let newest = store.newest().unwrap().unwrap().checkpoint;
    assert_eq!(newest.manifest.step, 8);
    let best = store.path(newest.manifest.best.as_ref().unwrap());
    let bytes = |path: PathBuf| fs::read(path.join("model.safetensors")).unwrap();
    assert!(bytes(run.join("best")) == bytes(best) && bytes(run.join("last")) == bytes(newest.folder));
    assert!((2..=3).contains(&fs::read_dir(run.join("checkpoints")).unwrap().count()));
}

/// It may take the room that the next checkpoint needs.
#[test]
fn what_a_killed_save_has_left_is_removed_at_a_resume() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    let left = ["part", "old", "skipped"].map(|end| run.join(format!("checkpoints/.step-00000009.{end}")));
    for folder in &left {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("model.safetensors"), "half").unwrap();
    }
    // A step that can't be made ends it before it saves anything.
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
    command
        .args(["train", "--resume", text(&run), "--set", "train.epochs=2"])
        .env("TIERED_POISON", "preconditions=nan@5");
    let resumed = command.output().unwrap();
    assert_eq!(resumed.status.code(), Some(76), "{}", stderr(&resumed));
    assert_eq!(left.map(|folder| folder.exists()), [false, false, true], "what was put aside stays");
}

/// It would go on in half a folder of its old name.
#[test]
fn a_run_whose_folder_is_moved_stops_and_goes_on_there() {
    let tiny = Tiny::new();
    let config = tiny.config();
    let [run, moved] = ["run", "moved"].map(|name| tiny.path(name));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
    command.args(["train", "--config", text(&config), "--output", text(&run), "--set", "train.epochs=2"]);
    let mut training = command.env("TIERED_POISON", "pause=1@2").stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(training.stderr.take().unwrap());
    let mut line = String::new();
    while line.trim() != "paused" {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it never paused");
    }
    fs::rename(&run, &moved).unwrap();
    let mut words = String::new();
    stderr.read_to_string(&mut words).unwrap();
    assert_eq!(training.wait().unwrap().code(), Some(73), "{words}");
    assert!(words.contains("run: was moved or removed while it was trained; stopped after step"), "{words}");
    assert!(!run.exists());
    let resumed = resume(&moved, &[]);
    assert!(resumed.status.success(), "{}", crate::support::stderr(&resumed));
}

#[test]
fn a_dry_run_leaves_what_a_resume_removes() {
    let run = copied("left");
    let left = run.join("best/.decode.json.1.part");
    let two_hours_ago = SystemTime::now() - Duration::from_secs(7200);
    fs::File::create(&left).unwrap().set_modified(two_hours_ago).unwrap();
    let before = files_below(&run).into_iter().collect::<BTreeSet<_>>();
    let output = resume(&run, &["--dry-run"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(files_below(&run).into_iter().collect::<BTreeSet<_>>(), before);
    assert!(resume(&run, &[]).status.success() && !left.exists());
}

#[test]
fn a_finished_run_without_the_checkpoint_of_its_best_epoch_keeps_the_best_weights() {
    // At this rate nothing changes: the first epoch stays the best one. The second is the last: of two, or by patience.
    for (ends, goes_on, epochs) in [
        (&["train.epochs=2"][..], "train.epochs=3", 3),
        (&["train.epochs=9", "train.patience=1"], "train.patience=2", 5),
    ] {
        without_its_best_checkpoint(ends, goes_on, epochs);
    }
}

fn without_its_best_checkpoint(ends: &[&str], goes_on: &str, epochs: usize) {
    let tiny = Tiny::new();
    let sets: Vec<&str> = ["train.learning_rate=1e-30"].iter().chain(ends).flat_map(|set| ["--set", set]).collect();
    let run = tiny.trained("run", &sets);
    let store = CheckpointStore::new(run.join("checkpoints"));
    let manifest = store.newest().unwrap().unwrap().checkpoint.manifest;
    assert_eq!(manifest.step, 8);
    let best = store.path(manifest.best.as_ref().unwrap());
    assert!(best.ends_with("step-00000004"), "{}", best.display());
    fs::remove_dir_all(&best).unwrap();
    let weights = || fs::read(run.join("best/model.safetensors")).unwrap();
    let before = weights();
    let output = resume(&run, &[]);
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(stderr(&output).contains("its best epoch is lost (step-00000004"), "{}", stderr(&output));
    assert!(weights() == before);
    let more = resume(&run, &["--set", goes_on]);
    assert!(more.status.success(), "{}", stderr(&more));
    // The best of the epochs since then, whatever the records of those before say.
    let lost: Vec<bool> = records(&run).iter().map(|record| record.is_lost).collect();
    assert_eq!((lost.len(), &lost[..3]), (epochs, &[true, true, false][..]));
    assert_eq!(RunFolder::open(&run).unwrap().epoch_of(CheckpointKind::Best).unwrap(), Some(3));
}

#[test]
fn a_run_without_its_folders_of_weights_is_gone_on_with() {
    let run = copied("without");
    let weights = || ["best", "last"].map(|which| fs::read(run.join(which).join("model.safetensors")).unwrap());
    let before = weights();
    ["best", "last"].into_iter().for_each(|which| fs::remove_dir_all(run.join(which)).unwrap());
    let output = resume(&run, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(before == weights());
}

/// As of a finished run of a sweep.
#[test]
fn a_run_with_weights_but_without_checkpoints_is_not_started_anew() {
    let run = copied("stripped");
    fs::remove_dir_all(run.join("checkpoints")).unwrap();
    let before = (fs::read(run.join("best/model.safetensors")).unwrap(), records(&run));
    let output = resume(&run, &["--set", "train.epochs=3"]);
    let said = stderr(&output);
    assert!(output.status.code() == Some(65) && said.contains("no checkpoint any more"), "{said}");
    assert!(said.contains("--set init_from=") && before.1 == records(&run), "{said}");
    assert!(before.0 == fs::read(run.join("best/model.safetensors")).unwrap());
}

/// The folder of a checkpoint can't be removed on NFS while a file in it is in use.
#[test]
fn a_model_to_train_on_does_not_need_its_file() {
    let run = &shared().1;
    let file = run.join("last/model.safetensors").canonicalize().unwrap();
    let config = RunFolder::open(run).unwrap().model_config().unwrap();
    let is_mapped = || fs::read_to_string("/proc/self/maps").unwrap().contains(text(&file));
    let to_train_on = Network::to_train_on(&config, &file, Device::Cpu).unwrap();
    assert!(!is_mapped());
    let trained = Network::trained(&config, &file, Device::Cpu).unwrap();
    assert!(is_mapped());
    let [a, b] = [to_train_on, trained].map(|network| network.weights());
    assert!(a.iter().all(|(name, tensor)| b[name] == *tensor));
}

#[test]
fn keys_that_may_change_and_keys_that_may_not() {
    let free = dry(&["checkpoint.keep=5", "encoder.path=no/such/folder"]);
    assert!(free.status.success() && stderr(&free).is_empty(), "{}", stderr(&free));
    let warned = dry(&["train.learning_rate=5e-4", "train.epochs=3"]);
    let said = stderr(&warned);
    assert!(warned.status.success(), "{said}");
    for words in
        ["train.learning_rate: 0.001 then, 0.0005 now", "train.epochs: 2 then, 3 now", "the result will differ"]
    {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
    let refused = dry(&["seed=2", "model.detector.layers=2", "train.epochs=3"]);
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(78), "{said}");
    for words in ["seed: 1 then, 2 now", "model.detector.layers: 1 then, 2 now", "docs/config.md"] {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
    assert!(!said.contains("epochs"), "{said}");
}

#[test]
fn a_config_that_was_edited_in_the_run_folder() {
    let run = copied("edited");
    let file = run.join("config.toml");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("seed = 1", "seed = 2")).unwrap();
    let output = resume(&run, &[]);
    assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
    assert!(stderr(&output).contains("seed: 1 then, 2 now"), "{}", stderr(&output));
}

#[test]
fn longer_than_it_was_to_be() {
    let run = copied("longer");
    let output = resume(&run, &["--set", "train.epochs=3"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(records(&run).iter().map(|record| record.epoch).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(fs::read_to_string(run.join("config.toml")).unwrap().contains("epochs = 3"));
    assert!(fs::read_to_string(run.join("events.jsonl")).unwrap().contains("train.epochs: 2 then, 3 now"));
}

#[test]
fn inputs_that_have_changed() {
    let run = copied("inputs");
    let (tiny, _) = shared();
    let other = tiny.path("other.json");
    fs::write(&other, fs::read_to_string(tiny.stories()).unwrap() + " ").unwrap();
    let data = |part: &str| format!("data.{part}={{ file = '{}', split = '{part}' }}", other.display());
    let output = dry(&[&data("train")]);
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(stderr(&output).contains("other.json) has changed"), "{}", stderr(&output));
    let output = dry(&[&data("dev")]);
    assert!(output.status.success() && stderr(&output).contains("data.dev has other pairs"), "{}", stderr(&output));
    // Scores of the new pairs are told to be of these, and that the epoch was chosen on them.
    let changed = copied("dev");
    let output = resume(&changed, &["--set", &data("dev"), "--set", "train.epochs=3"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let evaluated = tiered(["eval", text(&changed), "--data", text(&other), "--split", "dev"]);
    assert!(stdout(&evaluated).contains("the epoch was chosen on this set"), "{}", stderr(&evaluated));
    let stories = tiny.stories();
    let former = ["eval", text(&changed), "--data", text(&stories), "--split", "dev", "--tag", "former"];
    assert!(stdout(&tiered(former)).contains("the epoch was chosen on this set"), "so were the earlier epochs");
    // The same of another split of the file.
    let changed = copied("split");
    let output = resume(&changed, &["--set", "data.dev.split=train", "--set", "train.epochs=3"]);
    assert!(output.status.success(), "{}", stderr(&output));
    // Scores of other pairs are not compared: of one pair, no epoch would beat what the first one reached of all.
    let fewer = tiny.trained("fewer", &["--set", "train.learning_rate=1e-30"]);
    let best = || RunFolder::open(&fewer).unwrap().epoch_of(CheckpointKind::Best).unwrap();
    assert_eq!(best(), Some(1));
    let output = resume(&fewer, &["--set", "data.dev.pairs=1", "--set", "train.epochs=4"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(best(), Some(3), "the first of those on one pair, as the fourth is no better");
    assert_eq!(
        records(&fewer).iter().map(|record| record.has_other_dev).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    let from = format!("init_from={}", text(&fewer));
    let output = resume(&fewer, &["--set", &from]);
    assert!(output.status.code() == Some(78) && stderr(&output).contains("init_from"), "{}", stderr(&output));
    let former = ["eval", text(&changed), "--data", text(&stories), "--split", "dev"];
    assert!(stdout(&tiered(former)).contains("the epoch was chosen on this set"), "so were the earlier epochs");
    let output = resume(&run, &["--limit", "3"]);
    assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
    let encoder = tiny.path("other encoder");
    copy_folder(&tiny.encoder(), &encoder);
    let path = format!("encoder.path={}", encoder.display());
    assert!(dry(&[&path]).status.success(), "the same encoder in another place");
    let config = encoder.join("config.json");
    fs::write(&config, fs::read_to_string(&config).unwrap() + " ").unwrap();
    let output = dry(&[&path]);
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(stderr(&output).contains("is not the encoder with which"), "{}", stderr(&output));
    let tokenizer = run.join("encoder/tokenizer.json");
    fs::write(&tokenizer, fs::read_to_string(&tokenizer).unwrap() + " ").unwrap();
    let output = resume(&run, &[]);
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(stderr(&output).contains("tokenizer.json"), "{}", stderr(&output));
}

#[test]
fn a_run_that_was_stopped_before_its_first_checkpoint_keeps_its_encoder() {
    let tiny = Tiny::new();
    let (config, run) = (tiny.config(), tiny.path("run"));
    let begins = |operation: &i32| {
        let start = ["train", "--config", text(&config), "--output", text(&run)];
        let stopped = tiered_with("TIERED_FAIL_POINT", &format!("abort:{operation}"), start);
        assert!(stopped.status.signal().is_some(), "{}", stderr(&stopped));
        run.join("run.json").exists()
    };
    (1..100).find(begins).unwrap();
    assert!(CheckpointStore::new(run.join("checkpoints")).newest().unwrap().is_none());
    let encoder = tiny.encoder().join("config.json");
    let own = fs::read_to_string(&encoder).unwrap();
    fs::write(&encoder, own.clone() + " ").unwrap();
    let output = resume(&run, &[]);
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(stderr(&output).contains("is not the encoder with which"), "{}", stderr(&output));
    fs::write(&encoder, own).unwrap();
    let output = resume(&run, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    // Its checkpoints know what it was made from.
    fs::write(run.join("run.json"), "{").unwrap();
    let output = resume(&run, &["--set", "train.epochs=3"]);
    assert!(output.status.success() && stderr(&output).contains("is forgotten"), "{}", stderr(&output));
    assert!(RunFolder::open(&run).unwrap().inputs().unwrap().is_some());
}

#[test]
fn another_machine_is_warned_of() {
    let run = copied("machine");
    let folder = CheckpointStore::new(run.join("checkpoints")).newest().unwrap().unwrap().checkpoint.folder;
    let Manifest { step, best, inputs, made_with, files, .. } = Manifest::verify(&folder).unwrap();
    let made_with = Environment { threads: 7, libtorch: "1.0".into(), processor: vec!["mmx".into()], ..made_with };
    let forged = Manifest::new(step, best, inputs, made_with, files).unwrap();
    fs::write(folder.join(MANIFEST), forged.to_json().unwrap()).unwrap();
    let output = tiered_with("TIERED_KERNELS", "off", ["train", "--resume", text(&run), "--dry-run"]);
    if devices()[0].device == Device::Cpu {
        let device = "device: cpu then, cpu with TIERED_KERNELS=off now; dropout and the last digits";
        assert!(stderr(&output).contains(device), "{}", stderr(&output));
    }
    let output = resume(&run, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    for words in ["threads: 7 then, 1 now", "libtorch: 1.0 then", "processor: [mmx] then", "last digits"] {
        assert!(stderr(&output).contains(words), "{words:?} is not in: {}", stderr(&output));
    }
}

#[test]
fn one_process_at_a_time() {
    let run = copied("locked");
    let lock = Lock::take(&run.join("lock")).unwrap();
    let output = resume(&run, &[]);
    assert_eq!(output.status.code(), Some(73), "{}", stderr(&output));
    assert!(stderr(&output).contains("another process"), "{}", stderr(&output));
    drop(lock);
    assert!(resume(&run, &[]).status.success());
}

#[test]
fn command_lines_that_make_no_sense() {
    let (tiny, run) = shared();
    let code = |arguments: &[&str]| tiered(arguments.iter().copied()).status.code();
    assert_eq!(code(&["train", "--resume"]), Some(2));
    assert_eq!(code(&["train"]), Some(2));
    assert_eq!(code(&["train", "--resume", text(run), "--output", text(run)]), Some(2));
    assert_eq!(code(&["train", "--resume", text(&tiny.path("no-such-run"))]), Some(66));
}

/// A config in which every key is set; it is not valid as a whole, for example with a file and synthetic stories.
fn full_config() -> Config {
    let data = "train = { file = 'a', split = 'b', kind = 'cloze', pairs = 9, weight = 0.5, first_epoch = 1, last_epoch = 2, \
                streaming = true, soft_labels = 'l', synthetic = { lang = 'en', style = 'trip', pairs_per_epoch = 9 } }\n\
                dev = { file = 'c', split = 'd', kind = 'order', pairs = 9 }\nworkers = 1\n\
                leave_out = { fold = 1, of = 2 }";
    let text = format!(
        "threads = 1\ninit_from = 'r'\n[encoder]\npath = 'e'\n[data]\n{data}\n[model]\nmax_sentences = 5\ndropout = 0.1\n\
         [train]\nhead_learning_rate = 1e-3\nentities = 2\npatience = 9\n"
    );
    toml::from_str(&text).unwrap()
}

#[test]
fn every_key_that_is_compared_at_resume_is_declared_with_what_happens_then() {
    let compared: BTreeSet<String> = flat(&full_config()).unwrap().into_keys().collect();
    let declared = keys().iter().filter(|key| key.resume().is_some()).map(|key| key.name.clone());
    assert_eq!(compared, declared.collect());
}

#[test]
fn a_run_with_relative_paths_is_gone_on_with_from_elsewhere() {
    let tiny = Tiny::new();
    let project = tiny.path("project");
    fs::create_dir(&project).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let config = tiny.config();
    let relative = fs::read_to_string(&config).unwrap().replace(text(config.parent().unwrap()), "..");
    fs::write(project.join("tiny.toml"), relative).unwrap();
    let within = |folder: &Path, arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(arguments).current_dir(folder).output().unwrap()
    };
    let trained =
        within(&project, &["train", "--config", "tiny.toml", "--output", "runs/a", "--set", "train.epochs=1"]);
    assert!(trained.status.success(), "{}", stderr(&trained));
    let elsewhere = tempfile::TempDir::new().unwrap();
    let goes_on = |run: &Path, epochs: &str| {
        let calibrated = within(elsewhere.path(), &["model", "calibrate", text(run)]);
        assert!(calibrated.status.success(), "{}", stderr(&calibrated));
        let said = stderr(&calibrated);
        assert!(said.contains(&name(&tiny.stories())) && said.contains("not found from here"), "{said}");
        let more = within(elsewhere.path(), &["train", "--resume", text(run), "--set", epochs]);
        assert!(more.status.success(), "{}", stderr(&more));
    };
    goes_on(&project.join("runs/a"), "train.epochs=2");
    // What is named while it is resumed from elsewhere is found from everywhere.
    fs::copy(tiny.stories(), elsewhere.path().join("other.json")).unwrap();
    let run = project.join("runs/a");
    let sets = ["--set", "train.epochs=3", "--set", "data.dev.file=other.json"];
    let resumed = within(elsewhere.path(), &[&["train", "--resume", text(&run)], &sets[..]].concat());
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    let calibrated = within(&project, &["model", "calibrate", "runs/a"]);
    assert!(calibrated.status.success(), "{}", stderr(&calibrated));
    // What it names is now found by absolute paths, which the resumed run has; a run that nobody resumed is found from itself.
    let second = within(&project, &["train", "--config", "tiny.toml", "--output", "runs/b", "--set", "train.epochs=1"]);
    assert!(second.status.success(), "{}", stderr(&second));
    let [origin, hidden] = ["origin.json", "hidden.json"].map(|file| project.join("runs/b").join(file));
    fs::rename(&origin, &hidden).unwrap();
    let lost = within(elsewhere.path(), &["model", "calibrate", text(&project.join("runs/b"))]);
    assert_eq!(lost.status.code(), Some(66));
    assert!(stderr(&lost).contains("origin.json does not say what it is relative to"), "{}", stderr(&lost));
    fs::rename(&hidden, &origin).unwrap();
    let moved = tempfile::TempDir::new().unwrap();
    for part in ["project", &name(&tiny.stories()), &name(&tiny.encoder())] {
        fs::rename(tiny.path(part), moved.path().join(part)).unwrap();
    }
    goes_on(&moved.path().join("project/runs/b"), "train.epochs=2");
}

/// Whether links or `..` are in the way to a run, and whether it was moved alone or with the folder that it was made in.
#[test]
fn where_a_run_was_made_does_not_depend_on_how_it_is_named() {
    let tiny = Tiny::new();
    let [project, elsewhere, mean, again] = ["project", "elsewhere", "mean", "again"].map(|name| tiny.path(name));
    [project.join("runs"), elsewhere.join("deep")].iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    std::os::unix::fs::symlink(&elsewhere, project.join("linked")).unwrap();
    let config = tiny.config();
    let read = |run: &Path| serde_json::from_slice::<Value>(&fs::read(run.join("origin.json")).unwrap()).unwrap();
    let made_in = |run: &Path| PathBuf::from(read(run)["absolute"].as_str().unwrap());
    let trained = |run: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
        command.args(["train", "--config", text(&config), "--set", "train.epochs=1", "--output", run]);
        let output = command.current_dir(&project).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(made_in(&project.join(run)), project.canonicalize().unwrap());
        read(&project.join(run))["from_run"].clone()
    };
    assert_eq!([trained("runs/../runs/a"), trained("../project/b")], ["../..", ".."]);
    assert!(trained("linked/c").is_null());
    // The folder two above it exists, but is not where it was made.
    let alone = elsewhere.join("deep/a");
    fs::rename(project.join("runs/a"), &alone).unwrap();
    let average = |runs: [&Path; 2], out: &Path| {
        let output = tiered(["model", "average", text(runs[0]), text(runs[1]), "--output", text(out)]);
        assert!(output.status.success(), "{}", stderr(&output));
        made_in(out)
    };
    assert_eq!(average([&alone, &project.join("b")], &mean), project.canonicalize().unwrap());
    let moved = tiny.path("moved");
    fs::rename(&project, &moved).unwrap();
    assert_eq!(average([&moved.join("b"), &alone], &again), moved.canonicalize().unwrap());
}

/// Stopped before its first checkpoint, it starts anew.
#[test]
fn a_run_without_a_checkpoint_records_the_weights_with_which_it_starts_now() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "train.epochs=1"]);
    for entry in std::fs::read_dir(&run).unwrap().map(Result::unwrap) {
        let kept = ["config.toml", "model.json", "run.json", "origin.json", "encoder"];
        if !kept.contains(&entry.file_name().to_str().unwrap()) {
            let remove = if entry.path().is_dir() { std::fs::remove_dir_all } else { std::fs::remove_file };
            remove(entry.path()).unwrap();
        }
    }
    let weights = tiny.encoder().join("model.safetensors");
    let recorded = || RunFolder::open(&run).unwrap().inputs().unwrap().unwrap().initial_weights.unwrap();
    let before = recorded();
    assert_eq!(before, FileDigest::of_file(&weights).unwrap().sha256);
    let mut bytes = std::fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    let resumed = tiny.train("run", &["--set", "train.epochs=1", "--resume"]);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(recorded() != before && recorded() == FileDigest::of_file(&weights).unwrap().sha256);
}
