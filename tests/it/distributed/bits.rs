//! The number of processes changes nothing that is computed.

use super::rig::{Cluster, Ended, PATIENCE, Processes, STEPS, succeed};
use crate::faults::count;
use crate::soft_labels::predictions;
use crate::support::said;
use std::path::Path;
use tiered::model::weights;

#[test]
fn a_power_of_two_processes_ends_with_the_same_bits() {
    let cluster = Cluster::shared();
    let reference = cluster.reference();
    assert_eq!((reference.epochs.len(), reference.epochs.last().unwrap().step), (3, STEPS));
    for processes in [2, 4] {
        assert_eq!(cluster.trained(&cluster.folder(), processes), *reference, "{processes} processes");
    }
}

/// The largest difference between the last weights of two runs, and where it is.
fn distance(a: &Path, b: &Path) -> (f64, String) {
    let [a, b] = [a, b].map(|run| weights::read(&run.join("last/model.safetensors")).unwrap());
    assert!(a.keys().eq(b.keys()));
    let of = |name: &String| (&a[name] - &b[name]).abs().max().double_value(&[]);
    a.keys().map(|name| (of(name), name.clone())).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
}

/// AdamW makes steps of gradients of any size: the rounding of a tiny one can become a step, unless epsilon is large
/// beside it.
#[test]
fn three_processes_end_within_rounding() {
    let cluster = Cluster::new(&["train.adamw.epsilon=0.001"]);
    let [one, three] = [1, 3].map(|processes| {
        let run = cluster.folder();
        cluster.trained(&run, processes);
        run
    });
    let (distance, name) = distance(&one, &three);
    assert!(distance < 1e-4, "{distance} in {name}");
}

/// Each loss of a shard counts by its share of the step's items, and so the sum is the loss of the whole step.
#[test]
fn shards_add_up_to_the_step_that_is_not_cut() {
    for sets in [
        &["model.dropout=0.0"][..],
        &["model.dropout=0.0", "model.detector.kind=joint", "loss.single_story=0.3", "loss.story=0.2"],
        &["model.dropout=0.0", "train.entities=2", "train.pairs_per_step=5"],
        &["model.dropout=0.0", "loss.normalization=padded"],
        // Most shards have no state to learn from.
        &[
            "model.dropout=0.0",
            "model.detector.kind=joint",
            "model.detector.context=story",
            "model.detector.inputs=embeddings",
            "train.state_sample_ratio=0.004",
        ],
    ] {
        assert_shards_add_up(sets);
    }
}

fn assert_shards_add_up(sets: &[&str]) {
    let [cut, whole] = [4, 1].map(|shards| {
        let cluster = Cluster::new(&[sets, &[&format!("train.shards={shards}"), "train.epochs=1"]].concat());
        let run = cluster.folder();
        let ended = cluster.trained(&run, 1);
        let copy = tempfile::TempDir::new().unwrap();
        let last = copy.path().join("last");
        std::fs::create_dir(&last).unwrap();
        std::fs::copy(run.join("last/model.safetensors"), last.join("model.safetensors")).unwrap();
        (copy, ended)
    });
    let (distance, name) = distance(cut.0.path(), whole.0.path());
    assert!(distance < 1e-4, "{sets:?}: {distance} in {name}");
    let losses = |ended: &Ended| ended.epochs[0].train.named();
    for ((name, cut), (_, whole)) in losses(&cut.1).into_iter().zip(losses(&whole.1)) {
        assert!((cut - whole).abs() < 1e-5 * whole.abs().max(1.), "{sets:?}: {name}: {cut}, not {whole}");
    }
}

/// Some pairs have a teacher, others are made while training.
#[test]
fn soft_labels_in_shards_and_processes() {
    const JOINT: [&str; 2] = ["model.detector.kind=joint", "loss.single_story=0.3"];
    let teacher = Cluster::new(&JOINT);
    let run = teacher.folder();
    teacher.trained(&run, 1);
    let (stories, labels) = (teacher.tiny.stories(), predictions(&teacher.tiny, &run));
    let train = format!(
        "data.train=[{{file='{}',split='train',soft_labels='{}'}},{{synthetic={{lang='en',pairs_per_epoch=3}}}}]",
        stories.display(),
        labels.display()
    );
    let sets = [&JOINT[..], &[&train, "model.dropout=0.0"]].concat();
    assert_shards_add_up(&sets);
    let student = Cluster::new(&sets);
    assert_eq!(student.trained(&student.folder(), 2), *student.reference());
}

#[test]
fn every_kind_of_run() {
    let kinds: [&[&str]; 7] = [
        &["data.train.streaming=true", "data.workers=2"],
        &["model.detector.kind=joint", "model.detector.context=story", "loss.single_story=0.2", "precision=bf16"],
        &["encoder.freeze=[\"encoder\"]"],
        &["train.entities=2", "train.pairs_per_step=5", "train.shards=5", "loss.story=0.2"],
        &["loss.normalization=padded", "encoder.freeze=[\"embeddings\", \"layers:1\"]"],
        &["train.shards=2", "train.schedule=linear"],
        &["train.adamw.weight_decay=0.01", "train.head_learning_rate=2e-3", "train.shards=3"],
    ];
    for sets in &kinds[..count(4, kinds.len())] {
        let cluster = Cluster::new(sets);
        assert_eq!(cluster.trained(&cluster.folder(), 2), *cluster.reference(), "{sets:?}");
    }
    let cluster = Cluster::without_dev();
    assert_eq!(cluster.trained(&cluster.folder(), 2), *cluster.reference());
}

/// The others don't look at the run of `init_from`, whose weights they get from the first process.
#[test]
fn a_second_stage_in_two_processes() {
    let cluster = Cluster::shared();
    let first = cluster.folder();
    cluster.trained(&first, 1);
    let second = Cluster::new(&[&format!("init_from={}", first.display())]);
    let run = second.folder();
    assert_eq!(second.trained(&run, 2), *second.reference());
    let resumed = |_| {
        let mut command = second.command(&run, PATIENCE);
        command.args(["--set", "train.epochs=4"]);
        command
    };
    succeed(&Processes::start(2, resumed).end());
}

#[test]
fn running_means_of_shards_are_refused() {
    let cluster = Cluster::new(&["model.detector.standardize=true"]);
    let output = cluster.command(&cluster.folder(), PATIENCE).output().unwrap();
    assert_eq!(output.status.code(), Some(78), "{}", said(&output));
    assert!(said(&output).contains("standardize needs train.shards = 1"), "{}", said(&output));
}

#[test]
fn only_the_first_process_speaks() {
    let cluster = Cluster::shared();
    let run = cluster.folder();
    let outputs = Processes::start(2, |_| cluster.command(&run, PATIENCE)).end();
    succeed(&outputs);
    assert!(String::from_utf8_lossy(&outputs[0].stdout).contains("best epoch"), "{}", said(&outputs[0]));
    assert!(outputs[1].stdout.is_empty() && outputs[1].stderr.is_empty(), "{}", said(&outputs[1]));
    assert!(outputs[0].stderr.is_empty(), "{}", said(&outputs[0]));
}
