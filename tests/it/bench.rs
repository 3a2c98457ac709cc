//! `tiered bench`: that it times what training does, and reports what it timed.

use crate::support::{stderr, stdout, text, tiered};
use crate::tiny::Tiny;
use serde_json::Value;
use std::process::Output;
use tiered::batch::Layout;
use tiered::bench::profile::PhaseTimer;
use tiered::config::Config;
use tiered::experiment::Trial;
use tiered::train::AdamW;

fn bench(tiny: &Tiny, more: &[&str]) -> Output {
    let config = tiny.config();
    let common = ["bench", "--config", text(&config), "--steps", "2", "--seconds", "0"];
    tiered(common.into_iter().chain(more.iter().copied()))
}

fn json(path: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} of {value}"))
}

#[test]
fn the_report_agrees_with_itself() {
    let tiny = Tiny::new();
    let (report, plot, reference) = (tiny.path("bench.json"), tiny.path("cost.svg"), tiny.path("reference"));
    let output = bench(
        &tiny,
        &["--pairs-per-step", "1,2", "--output", text(&report), "--plot", text(&plot), "--reference", text(&reference)],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("encoder backward"), "{}", stdout(&output));
    let report = json(&report);
    let rate = number(&report, "/matmuls/fp32");
    for (size, pairs_per_step) in report["sizes"].as_array().unwrap().iter().zip([1., 2.]) {
        let points = size["points"].as_array().unwrap();
        assert_eq!((points.len(), number(size, "/pairs_per_step")), (2, pairs_per_step));
        let sum = |i: usize| points.iter().map(|point| point[i].as_f64().unwrap()).sum::<f64>();
        let close = |pointer: &str, expected: f64| {
            let found = number(size, pointer);
            assert!((found - expected).abs() <= 1e-9 * expected, "{pointer}: {found}, not {expected}");
        };
        close("/train/pairs_per_second", 2. * pairs_per_step / sum(1));
        close("/train/tokens_per_second", sum(0) / sum(1));
        close("/tokens_per_pair", sum(0) / (2. * pairs_per_step));
        let at_work = number(size, "/phases/encoder_forward") + number(size, "/phases/encoder_backward");
        close("/encoder/gflops", number(size, "/encoder/gflop") / at_work);
        close("/encoder/share", number(size, "/encoder/gflops") / rate);
        close("/full_trip_hours", 7990. / number(size, "/train/pairs_per_second") / 3600.);
        assert!(number(size, "/eval/pairs_per_second") > 0.);
    }
    let svg = std::fs::read_to_string(plot).unwrap();
    assert!(svg.starts_with("<svg") && svg.matches("<circle").count() >= 4, "{svg}");
    let exported = json(&reference.join("pairs.json"));
    let pairs = exported["pairs"].as_array().unwrap().len();
    for (size, pairs_per_step) in [("1", 1), ("2", 2)] {
        let steps = exported["steps"][size].as_array().unwrap();
        let indices: Vec<&Value> = steps.iter().flat_map(|step| step.as_array().unwrap()).collect();
        assert_eq!((steps.len(), indices.len()), (2, 2 * pairs_per_step));
        assert!(indices.iter().all(|index| (index.as_u64().unwrap() as usize) < pairs), "{indices:?}");
    }
    assert!(reference.join("heads.safetensors").exists() && reference.join("expected.safetensors").exists());
}

/// The phases that `bench` reports are those of the very step that training takes, whatever it samples or keeps frozen.
#[test]
fn every_kind_of_step_is_timed_phase_by_phase() {
    let tiny = Tiny::new();
    let joint = ["model.detector.kind=joint", "model.detector.context=story", "model.detector.inputs=embeddings"];
    let sampled = [&joint[..], &["train.state_sample_ratio=0.3"]].concat();
    for sets in [vec![], sampled, vec!["train.entities=1"], vec!["encoder.freeze=['encoder']"]] {
        let sets: Vec<String> = sets.into_iter().map(str::to_owned).collect();
        let trial = Trial::prepare(Config::open(&tiny.config(), &sets).unwrap(), None).unwrap();
        let mut fit = trial.fit();
        while fit.encode().is_some() {}
        let mut optimiser = AdamW::new(trial.parameters(), fit.config.adamw);
        let mut timer = PhaseTimer::start(&fit);
        fit.step(None, &mut optimiser, &[0, 1], 0, 1e-2, &mut timer).unwrap();
        let phases = timer.phases().to_array();
        assert!(phases.iter().all(|&seconds| seconds > 0.), "{sets:?}: {phases:?}");
        let encoded: i64 = timer.encoded.tokens();
        let all = fit.train.unique_tokens(&[0, 1]) as i64;
        match sets.last().map(String::as_str) {
            None => assert!(encoded >= all, "{encoded} of {all}"), // and the padding, where a story is shorter
            Some("encoder.freeze=['encoder']") => assert_eq!(encoded, 0),
            Some(_) => assert!(0 < encoded && encoded < all, "{sets:?}: {encoded} of {all}"),
        }
    }
}

#[test]
fn unique_tokens_are_those_of_the_batch() {
    let tiny = Tiny::new();
    for more in [vec![], vec!["model.detector.kind=joint".to_owned(), "model.detector.context=story".to_owned()]] {
        let trial = Trial::prepare(Config::open(&tiny.config(), &more).unwrap(), None).unwrap();
        let layout = Layout { sentences: trial.train.corpus.max_sentences(), pad_to_entities: None };
        let mut seen = 0;
        for pairs in [vec![0], vec![0, 1], vec![1, 4, 6]] {
            let whole =
                |p: &usize| trial.train.corpus.pairs[*p].stories.iter().all(|s| s.sentences.len() == layout.sentences);
            if pairs.iter().all(whole) {
                let batch = trial.train.corpus.batch(&pairs, layout).0;
                assert_eq!(batch.tokens.len() as usize, trial.train.corpus.unique_tokens(&pairs));
                seen += 1;
            }
        }
        assert!(seen > 0, "every batch has a short story and with it the padding's input");
    }
}

#[test]
fn what_can_t_be_measured_is_said_before() {
    let tiny = Tiny::new();
    let existing = tiny.path("encoder/config.json");
    let reference = tiny.path("reference");
    for (arguments, code, words) in [
        (vec!["--pairs-per-step", "0"], 2, "is no number of 1 or more"),
        (vec!["--pairs-per-step", "9"], 2, "only 8 pairs"),
        (vec!["--output", text(&existing)], 73, "--force"),
        (
            vec!["--set", "model.detector.kind=joint", "--reference", text(&reference)],
            78,
            "only has the paper's detector",
        ),
    ] {
        let output = bench(&tiny, &arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}
