//! Two processes at work in one folder.

use super::rig::{Rig, Run};
use super::{count, ensure, trials};
use crate::support::{rng, said, text};
use rand::RngExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tiered::prediction::read_predictions;

/// Milliseconds by which the second begins after the first.
fn offsets(seed: u64, most: Duration) -> Vec<Duration> {
    let mut rng = rng(seed);
    (0..count(2, 20)).map(|_| most.mul_f64(rng.random_range(0. ..1.))).collect()
}

fn evaluation(rig: &Rig, run: &Run) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiered"));
    command.args(["eval", text(&run.folder), "--data", text(&rig.tiny.stories()), "--split", "dev"]);
    command.env("OMP_NUM_THREADS", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn predictions(run: &Run) -> PathBuf {
    run.folder.join("eval/stories-dev-all/predictions.jsonl")
}

/// Both at once, the second so much later.
fn both(first: &mut Command, second: &mut Command, later: Duration) -> [Output; 2] {
    let first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(later);
    let second = second.output().unwrap();
    [first.wait_with_output().unwrap(), second]
}

#[test]
fn two_trainings() {
    let rig = Rig::shared();
    let all = rig.reference().startup + rig.reference().training;
    trials("two `train` in one folder: one is refused, or both are right", &offsets(31, all), |&later| {
        let run = rig.run();
        let outputs = both(&mut run.command(), &mut run.command(), later);
        for output in &outputs {
            ensure(matches!(output.status.code(), Some(0 | 73)), || said(output))?;
        }
        ensure(outputs.iter().any(|output| output.status.success()), || said(&outputs[0]))?;
        run.ends_as_if_uninterrupted()
    });
}

#[test]
fn two_evaluations() {
    let rig = Rig::shared();
    let run = rig.run();
    run.succeeds().unwrap();
    assert!(evaluation(rig, &run).status().unwrap().success());
    let expected = read_predictions(&predictions(&run)).unwrap().pairs;
    trials("two `eval` into one folder: both are right", &offsets(32, Duration::from_millis(300)), |&later| {
        for output in both(&mut evaluation(rig, &run), &mut evaluation(rig, &run), later) {
            ensure(output.status.success(), || said(&output))?;
        }
        let found = read_predictions(&predictions(&run)).map_err(|error| error.message)?.pairs;
        ensure(found == expected, || "other predictions".to_owned())
    });
}

#[test]
fn training_and_evaluation() {
    let rig = Rig::shared();
    let training = rig.reference().startup + rig.reference().training;
    trials("`train` and `eval` of its folder: nothing disturbs the training", &offsets(33, training), |&later| {
        let run = rig.run();
        let [trained, evaluated] = both(&mut run.command(), &mut evaluation(rig, &run), later);
        ensure(trained.status.success(), || said(&trained))?;
        match evaluated.status.code() {
            Some(0) => read_predictions(&predictions(&run)).map(|_| ()).map_err(|error| error.message)?,
            Some(66) => {} // there are no weights yet
            _ => return Err(said(&evaluated)),
        }
        run.ends_as_if_uninterrupted()
    });
}
