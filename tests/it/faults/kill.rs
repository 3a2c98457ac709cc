//! Runs that are killed, aborted or asked to stop, anywhere, and then gone on with.

use super::rig::{Rig, Run, STEPS_PER_EPOCH};
use super::{count, ensure, row, trials};
use crate::support::{rng, said, send};
use crate::test_device::devices;
use rand::RngExt;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tiered::checkpoint::{MANIFEST, Manifest};
use tiered::durable::FileDigest;
use tiered::model::weights;

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
const SIGINT: i32 = 2;

/// When to kill a run.
#[derive(Debug)]
enum Moment {
    /// This long after its start.
    After(Duration),
    /// This long after training began.
    InTraining(Duration),
    /// After this file operation, nearly all of which are part of a save.
    InSave(u64),
}

#[test]
fn kill_9() {
    let rig = Rig::shared();
    let reference = rig.reference();
    let mut rng = rng(1);
    let moments: Vec<Moment> = (0..count(9, 100))
        .map(|i| match i % 6 {
            0 | 3 => Moment::InSave(rng.random_range(1..=rig.operations())),
            1 => Moment::After(reference.startup.mul_f64(rng.random_range(0. ..1.))),
            _ => Moment::InTraining(reference.training.mul_f64(rng.random_range(0. ..1.))),
        })
        .collect();
    trials("kill -9 at random moments, a third inside a save; resumed: equal weights", &moments, |moment| {
        let run = rig.run();
        killed(&run, moment)?;
        run.ends_as_if_uninterrupted()
    });
}

/// With dropout in the encoder and its attention too, which libtorch's generator draws.
#[test]
fn aborted_as_on_a_gpu() {
    let on = devices().last().copied().unwrap();
    let rig = Rig::on(on, 2, &[]);
    rig.tiny.add_dropout_to_encoder();
    let mut rng = rng(41);
    let operations: Vec<u64> = (0..count(3, 30)).map(|_| rng.random_range(1..=rig.operations())).collect();
    trials("aborted in a save, as on a GPU; resumed: equal weights", &operations, |&operation| {
        let run = rig.run();
        killed(&run, &Moment::InSave(operation))?;
        run.ends_as_if_uninterrupted()
    });
}

fn killed(run: &Run, moment: &Moment) -> Result<(), String> {
    let mut child = match moment {
        Moment::After(time) => {
            let child = run.spawn(&[]);
            std::thread::sleep(*time);
            child
        }
        Moment::InTraining(time) => {
            let mut child = run.spawn(&[]);
            run.has_begun(&mut child)?;
            std::thread::sleep(*time);
            child
        }
        Moment::InSave(operation) => {
            let mut child = run.spawn(&[("TIERED_FAIL_POINT", &format!("pause:{operation}"))]);
            wait_for_word(&mut child, "paused")?;
            child
        }
    };
    // One that has just ended by itself is no error: then it is resumed at its end.
    let _ = child.kill();
    let status = child.wait().unwrap();
    ensure(status.signal() == Some(SIGKILL) || status.success(), || format!("ended by itself: {status}"))
}

fn wait_for_word(child: &mut Child, word: &str) -> Result<(), String> {
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines().map(|line| line.unwrap());
    ensure(lines.any(|line| line == word), || format!("it never said {word:?}"))
}

#[test]
fn a_control_that_restores_only_weights_differs() {
    let rig = Rig::shared();
    let run = rig.run();
    run.is_half_done();
    let control = run.copied();
    forget_moments(&control);
    let differs = control.ends_as_if_uninterrupted().is_err_and(|why| why.contains("other weights"));
    let equal = run.ends_as_if_uninterrupted();
    assert!(equal.is_ok(), "{equal:?}");
    row("control: moments forgotten, weights kept; resumed: other weights", usize::from(differs), 1);
}

/// Sets the optimiser of the newest checkpoint to its start, with a manifest that says so.
fn forget_moments(run: &Run) {
    let folder = run.newest().unwrap().unwrap().checkpoint.folder;
    let Manifest { step, best, inputs, made_with, files, .. } = Manifest::verify(&folder).unwrap();
    let moments = folder.join("optimizer.safetensors");
    let zeros = weights::read(&moments).unwrap().into_iter().map(|(name, moment)| (name, moment.zeros_like()));
    weights::write(&moments, &zeros.collect()).unwrap();
    let state = folder.join("state.json");
    let mut value: serde_json::Value = serde_json::from_slice(&std::fs::read(&state).unwrap()).unwrap();
    value["optimizer_step"] = 0.into();
    std::fs::write(&state, value.to_string()).unwrap();
    let digest = |name: &String| FileDigest::of_file(&folder.join(name)).unwrap();
    let files = files.keys().map(|name| (name.clone(), digest(name))).collect();
    let forged = Manifest::new(step, best, inputs, made_with, files).unwrap();
    std::fs::write(folder.join(MANIFEST), forged.to_json().unwrap()).unwrap();
}

#[test]
fn abort_after_each_file_operation() {
    let rig = Rig::shared();
    let all = rig.operations();
    let stride = count(17, 1);
    let operations: Vec<u64> = (1..=all).step_by(stride).collect();
    let steps = std::cell::RefCell::new(BTreeMap::new());
    trials("abort after each write, fsync, rename, unlink; resumed: equal weights", &operations, |operation| {
        let run = rig.run();
        let output = run.with("TIERED_FAIL_POINT", &format!("abort:{operation}"));
        ensure(output.status.signal().is_some(), || said(&output))?;
        let newest = run.newest()?.map(|found| found.checkpoint.manifest.step);
        steps.borrow_mut().insert(*operation, newest);
        run.ends_as_if_uninterrupted()
    });
    // From one operation to the next, the newest checkpoint stays or becomes the one that was being made.
    let found: Vec<Option<u64>> = steps.borrow().values().copied().collect();
    let (first, last) = (found.first().unwrap(), found.last().unwrap());
    assert!(first.is_none() && found.is_sorted(), "{found:?}");
    if stride == 1 {
        let interval = |pair: &&[Option<u64>]| pair[1].unwrap_or(0) - pair[0].unwrap_or(0) <= 3;
        row("... and at most one interval is lost", found.windows(2).filter(interval).count(), found.len() - 1);
        assert_eq!(*last, Some(3 * STEPS_PER_EPOCH));
    }
}

#[test]
fn every_kind_of_run() {
    let kinds: [&[&str]; 7] = [
        &["model.detector.kind=joint", "model.detector.context=story"],
        &["precision=bf16"],
        &["encoder.freeze=[\"embeddings\", \"layers:1\"]", "train.pairs_per_step=1"],
        &["encoder.freeze=[\"encoder\"]", "precision=bf16"],
        &["loss.normalization=padded", "loss.story=0.2", "model.output_bias=frequency", "train.pairs_per_step=3"],
        &["train.adamw.weight_decay=0.01", "train.warmup=0.3", "train.head_learning_rate=2e-3", "checkpoint.keep=1"],
        &["model.detector.standardize=true", "model.detector.norm=before", "train.entities=2", "loss.story=0.2"],
    ];
    trials("aborted: other detector, precision, freezing, losses, rates; equal weights", &kinds, |kind| {
        let rig = Rig::new(3, kind);
        let run = rig.run();
        let output = run.with("TIERED_FAIL_POINT", "abort:80");
        ensure(output.status.signal().is_some(), || said(&output))?;
        let step = run.newest()?.map(|found| found.checkpoint.manifest.step);
        ensure(step.is_some_and(|step| step > 0), || format!("the newest is of step {step:?}"))?;
        run.ends_as_if_uninterrupted()
    });
}

/// Sends a signal at a random moment of training, a sooner one if the run was over by then.
fn stopped(run: &Run, signal: &str, mut after: Duration) -> Result<ExitStatus, String> {
    for _ in 0..20 {
        let mut child = run.spawn(&[]);
        run.has_begun(&mut child)?;
        std::thread::sleep(after);
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        if !output.status.success() {
            ensure(output.status.code() == Some(75), || said(&output))?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let resume = format!("tiered train --resume {}", run.folder.display());
            ensure(said.contains(&format!("stopped by SIG{signal}")) && said.contains(&resume), || said.clone())?;
            return Ok(output.status);
        }
        std::fs::remove_dir_all(&run.folder).unwrap();
        after /= 2;
    }
    Err(format!("SIG{signal} never stopped it"))
}

#[test]
fn signals() {
    let rig = Rig::shared();
    let mut rng = rng(2);
    for signal in ["TERM", "INT", "HUP", "USR1"] {
        let moments: Vec<f64> = (0..count(2, 20)).map(|_| rng.random_range(0. ..0.9)).collect();
        trials(&format!("SIG{signal}: saved, exit 75; resumed: equal weights"), &moments, |moment| {
            let run = rig.run();
            stopped(&run, signal, rig.reference().training.mul_f64(*moment))?;
            let events = std::fs::read_to_string(run.folder.join("events.jsonl")).map_err(|error| error.to_string())?;
            ensure(events.contains("the run is saved"), || events.clone())?;
            ensure(run.newest()?.is_some(), || "nothing was saved".to_owned())?;
            run.ends_as_if_uninterrupted()
        });
    }
}

/// As `nohup tiered train ...` is started.
#[test]
fn a_lost_terminal_that_is_ignored_ends_nothing() {
    let rig = Rig::shared();
    let run = rig.run();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_tiered")]).args(run.arguments());
    let mut child = command.env("OMP_NUM_THREADS", "1").stdout(Stdio::null()).spawn().unwrap();
    run.has_begun(&mut child).unwrap();
    send("HUP", &child);
    assert!(child.wait().unwrap().success());
    let events = std::fs::read_to_string(run.folder.join("events.jsonl")).unwrap();
    assert!(!events.contains("SIGHUP"), "{events}");
}

/// As `tiered train ... | head -1` closes it.
#[test]
fn a_closed_output_ends_nothing() {
    let rig = Rig::shared();
    let run = rig.run();
    let mut child = run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert!(child.wait().unwrap().success());
    run.ends_as_if_uninterrupted().unwrap();
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let rig = Rig::shared();
    let run = rig.run();
    let mut child = run.spawn(&[("TIERED_FAIL_POINT", &format!("pause:{}", rig.operations() / 2))]);
    wait_for_word(&mut child, "paused").unwrap();
    send("USR1", &child);
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none(), "the first signal is only noted");
    send("INT", &child);
    assert_eq!(child.wait().unwrap().signal(), Some(SIGINT));
    run.ends_as_if_uninterrupted().unwrap();
}

/// As a service manager stops all processes of a sweep, whose command passes the stop on to its runs; and as a terminal
/// that closes: its shell passes SIGHUP on to a program that has received it already.
#[test]
fn the_same_stop_twice_is_one() {
    let rig = Rig::shared();
    let run = rig.run();
    let mut child = run.spawn(&[("TIERED_FAIL_POINT", &format!("pause:{}", rig.operations() / 2))]);
    wait_for_word(&mut child, "paused").unwrap();
    for signal in ["TERM", "TERM", "HUP", "HUP"] {
        send(signal, &child);
        std::thread::sleep(Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none(), "{signal} is noted");
    }
    std::thread::sleep(Duration::from_millis(2500));
    send("HUP", &child);
    std::thread::sleep(Duration::from_millis(50));
    assert!(child.try_wait().unwrap().is_none(), "a terminal closes once");
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().signal(), Some(SIGTERM), "this is another stop");
    run.ends_as_if_uninterrupted().unwrap();
}
