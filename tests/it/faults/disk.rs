//! Disks that are full, and operations that fail once.

use super::rig::Rig;
use super::{count, ensure, trials};
use crate::support::said;
use std::process::Command;
use tiered::durable::FileDigest;

#[test]
fn a_full_disk() {
    let half = Rig::shared().run();
    half.is_half_done();
    let newest = half.newest().unwrap().unwrap().checkpoint;
    let largest = newest.manifest.files.values().map(|file| file.bytes).max().unwrap();
    let places = count(3, 20) as u64;
    // In the 512 bytes that `ulimit` counts in; the largest file never fits.
    let limits: Vec<u64> = (0..places).map(|place| place * (largest / 512 - 1) / (places - 1)).collect();
    let name = "disk full at an offset: the checkpoint before intact, exit 75; resumed: equal weights";
    trials(name, &limits, |limit| {
        let run = half.copied();
        let script = format!("ulimit -f {limit}; exec \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_tiered")]).args(run.arguments());
        let output = command.env("OMP_NUM_THREADS", "1").env("TIERED_RETRY_MS", "1").output().unwrap();
        ensure(output.status.code() == Some(75), || said(&output))?;
        ensure(said(&output).contains("try 3 of 3"), || said(&output))?;
        let found = run.newest()?.ok_or("no checkpoint")?.checkpoint;
        ensure(found.name == newest.name, || format!("{found:?}"))?;
        for (file, digest) in &newest.manifest.files {
            let now = FileDigest::of_file(&found.file(file)).map_err(|error| error.message)?;
            ensure(now == *digest, || format!("{file} has changed"))?;
        }
        run.ends_as_if_uninterrupted()
    });
}

#[test]
fn an_operation_that_fails_once() {
    let rig = Rig::shared();
    let all = rig.operations();
    let operations: Vec<u64> = (1..=all).step_by(count(41, 1)).collect();
    trials("a file operation fails once: tried again, or exit 74; equal weights", &operations, |operation| {
        let run = rig.run();
        let output = run.with("TIERED_FAIL_POINT", &format!("error:{operation}"));
        // Before training begins there is nothing to lose.
        let code = if run.folder.join("events.jsonl").exists() { 0 } else { 74 };
        ensure(output.status.code() == Some(code), || said(&output))?;
        ensure(said(&output).contains("no space left"), || said(&output))?;
        run.ends_as_if_uninterrupted()
    });
}

#[test]
fn a_disk_that_gets_full_and_room_again() {
    let rig = Rig::shared();
    let run = rig.run();
    let output = run.with("TIERED_FAIL_POINT", &format!("errors:{}", rig.operations() / 2));
    assert_eq!(output.status.code(), Some(75), "{}", said(&output));
    let events = std::fs::read_to_string(run.folder.join("events.jsonl")).unwrap();
    assert!(events.contains("save-failed") && events.contains("unsaved"), "{events}");
    run.ends_as_if_uninterrupted().unwrap();
}
