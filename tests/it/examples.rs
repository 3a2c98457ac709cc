//! The programs in `examples/` do what they say.

use crate::support::text;
use crate::tiny::Tiny;

#[allow(dead_code)] // main
#[path = "../../examples/custom_detector.rs"]
mod custom_detector;
#[allow(dead_code)]
#[path = "../../examples/predict.rs"]
mod predict;

fn arguments(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

#[test]
fn a_run_is_loaded_scored_and_explained() {
    let tiny = Tiny::new();
    let run = tiny.trained("run", &["--set", "model.detector.kind=joint"]);
    let stories = std::fs::read_to_string(tiny.stories()).unwrap().replace("\"dev\"", "\"test\"");
    let file = tiny.path("test.json");
    std::fs::write(&file, stories).unwrap();
    let said = predict::run(&arguments(&[text(&run), text(&file)])).unwrap();
    assert!(said.starts_with("accuracy: ") && said.contains(" of 4 pairs\nconsistency: "), "{said}");
    assert!(said.contains("plausible") && said.contains("(probability "), "{said}");
    assert!(predict::run(&[]).unwrap_err().message.contains("usage"));
}

#[test]
fn a_detector_of_ones_own_is_trained() {
    let tiny = Tiny::new();
    let said = custom_detector::run(&arguments(&[text(&tiny.config()), "train.epochs=2"])).unwrap();
    assert!(
        said.starts_with("detector.linear.bias, detector.linear.weight\naccuracy on the training pairs: "),
        "{said}"
    );
}
