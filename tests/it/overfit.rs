//! What the whole system can learn: it overfits eight pairs.

use crate::support::{stderr, text, tiered};
use crate::test_device::{TestDevice, devices};
use crate::tiny::Tiny;
use tiered::report::Report;

/// About 70 epochs are enough for seeds 1, 2 and 3.
const LEARN: [&str; 4] = ["--set", "train.epochs=120", "--set", "train.learning_rate=2e-3"];

#[test]
fn eight_pairs_are_learnt_by_heart() {
    learns_by_heart(&[], 0);
}

#[test]
fn eight_pairs_are_learnt_by_heart_by_the_joint_detector() {
    let joint = ["--set", "model.detector.kind=joint", "--set", "model.detector.context=story"];
    learns_by_heart(&joint, 1);
}

/// `row` of the report: 0 is the threshold decoding, 1 the pair decoding.
fn learns_by_heart(settings: &[&str], row: usize) {
    devices().iter().for_each(|&on| learns_on(on, settings, row));
}

fn learns_on(on: TestDevice, settings: &[&str], row: usize) {
    let tiny = Tiny::new();
    let stories = tiny.stories();
    let same = format!("data.dev={{ file = '{}', split = 'train' }}", stories.display());
    let run = tiny.trained_on(
        on,
        "run",
        &[&LEARN[..], settings, &["--set", &same, "--set", "model.output_bias=frequency"]].concat(),
    );
    let output = tiered(["eval", text(&run), "--data", text(&stories), "--split", "train", "--format=json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    let row = &report.rows[row];
    assert_eq!([row.accuracy, row.consistency, row.verifiability].map(|share| (share.count, share.total)), [(8, 8); 3]);
}
