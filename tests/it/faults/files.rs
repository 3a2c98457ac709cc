//! Checkpoints whose files have changed.

use super::rig::{Rig, Run};
use super::{count, ensure, trials};
use crate::support::{rng, text, tiered};
use rand::RngExt;
use std::fs;
use std::path::{Path, PathBuf};
use tiered::checkpoint::MANIFEST;

const FILES: [&str; 5] = ["model.safetensors", "optimizer.safetensors", "state.json", "config.toml", MANIFEST];

/// What is done to a file.
#[derive(Debug, Clone, Copy)]
enum Change {
    Truncate(usize),
    Flip(usize),
    ZeroTail(usize),
}

impl Change {
    fn apply(self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        match self {
            Change::Truncate(at) => bytes.truncate(at),
            Change::Flip(bit) => bytes[bit / 8] ^= 1 << (bit % 8),
            Change::ZeroTail(from) => bytes[from..].fill(0),
        }
        bytes
    }
}

/// A run that is half done, and its newest checkpoint.
fn half_done() -> (Run<'static>, PathBuf) {
    let run = Rig::shared().run();
    run.is_half_done();
    let newest = run.newest().unwrap().unwrap().checkpoint.folder;
    (run, newest)
}

/// The changed file is named, and the checkpoint before is taken; then it is put right again.
fn is_noticed(run: &Run, newest: &Path, file: &str, change: Change) -> Result<(), String> {
    let path = newest.join(file);
    let bytes = fs::read(&path).unwrap();
    let changed = change.apply(&bytes);
    assert_ne!(bytes, changed);
    fs::write(&path, changed).unwrap();
    let found = run.store().newest();
    fs::write(&path, bytes).unwrap();
    let found = found.map_err(|error| error.message)?.ok_or("no checkpoint")?;
    ensure(found.checkpoint.folder != newest, || "it was trusted".to_owned())?;
    let named = found.skipped.iter().map(|skipped| &skipped.why.file).eq([&path]);
    ensure(named && !found.best_is_lost, || format!("{:?}", found.skipped))
}

#[test]
fn truncated_files() {
    let (run, newest) = half_done();
    let places = count(4, 64);
    let faults: Vec<(&str, Change)> = FILES
        .iter()
        .flat_map(|&file| {
            let length = fs::metadata(newest.join(file)).unwrap().len() as usize;
            (0..places).map(move |place| (file, Change::Truncate(place * (length - 1) / (places - 1))))
        })
        .collect();
    trials("each file of a checkpoint truncated: named, falls back", &faults, |&(file, change)| {
        is_noticed(&run, &newest, file, change)
    });
}

#[test]
fn flipped_bits() {
    let (run, newest) = half_done();
    let mut rng = rng(3);
    let faults: Vec<(&str, Change)> = (0..count(50, 1000))
        .map(|i| {
            let file = FILES[i % FILES.len()];
            let bits = 8 * fs::metadata(newest.join(file)).unwrap().len() as usize;
            (file, Change::Flip(rng.random_range(0..bits)))
        })
        .collect();
    trials("a bit of a checkpoint flipped: named, falls back", &faults, |&(file, change)| {
        is_noticed(&run, &newest, file, change)
    });
}

#[test]
fn zeroed_tails() {
    let (run, newest) = half_done();
    let mut rng = rng(4);
    let faults: Vec<(&str, Change)> = FILES
        .iter()
        .flat_map(|file| vec![*file; count(2, 20)])
        .map(|file| {
            let bytes = fs::read(newest.join(file)).unwrap();
            let last = bytes.iter().rposition(|&byte| byte != 0).unwrap();
            (file, Change::ZeroTail(rng.random_range(0..=last)))
        })
        .collect();
    trials("each file of a checkpoint with a tail of zeros: named, falls back", &faults, |&(file, change)| {
        is_noticed(&run, &newest, file, change)
    });
}

#[test]
fn the_program_falls_back_and_says_so() {
    let (half, newest) = half_done();
    trials("the same by `train --resume`: says the file; equal weights", &FILES, |file| {
        let run = half.copied();
        let path = run.store().path(newest.file_name().unwrap().to_str().unwrap()).join(file);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, Change::Flip(4 * bytes.len()).apply(&bytes)).unwrap();
        let output = run.command().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure(output.status.success() && said.contains(text(&path)), || said.clone())?;
        run.ends_as_if_uninterrupted()
    });
}

#[test]
fn checkpoints_none_of_which_can_be_trusted() {
    let (run, _) = half_done();
    for entry in fs::read_dir(run.folder.join("checkpoints")).unwrap() {
        fs::write(entry.unwrap().path().join("state.json"), "{}").unwrap();
    }
    let output = tiered(["train", "--resume", text(&run.folder)]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(65), "{said}");
    assert!(said.contains("no checkpoint is intact") && said.contains("state.json"), "{said}");
}
