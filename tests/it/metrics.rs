//! Counts over random predictions, and macro-F1 against scikit-learn.

use crate::support::{random_prediction, rng};
use serde::Deserialize;
use tiered::attribute::Attribute;
use tiered::metrics::{Confusion, StateCounts, TierCounts};
use tiered::prediction::PairPrediction;

fn random_predictions(count: usize) -> Vec<PairPrediction> {
    let mut rng = rng(42);
    (0..count).map(|i| random_prediction(&mut rng, i)).collect()
}

#[test]
fn tiers_are_nested() {
    let predictions = random_predictions(500);
    for prediction in &predictions {
        prediction.check().unwrap();
        assert!(prediction.is_accurate() || !prediction.is_consistent());
        assert!(prediction.is_consistent() || !prediction.is_verifiable());
    }
    let counts = TierCounts::of(&predictions);
    assert_eq!(counts.pairs, 500);
    assert!(counts.pairs > counts.accurate && counts.accurate > counts.consistent);
    assert!(counts.consistent > counts.verifiable && counts.verifiable > 0, "{counts:?}");
}

#[test]
fn counts_add_up_over_parts() {
    let predictions = random_predictions(100);
    let mut parts = TierCounts::of(&predictions[..30]);
    predictions[30..].iter().for_each(|prediction| parts.add(prediction));
    assert_eq!(parts, TierCounts::of(&predictions));
}

#[derive(Deserialize)]
struct Case {
    gold: Vec<u8>,
    pred: Vec<u8>,
    macro_f1: f64,
}

#[test]
fn macro_f1_is_that_of_scikit_learn() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/f1.json");
    let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(!cases.is_empty());
    for Case { gold, pred, macro_f1 } in cases {
        let mut confusion = Confusion::new(9);
        gold.iter().zip(&pred).for_each(|(&gold, &pred)| confusion.add(gold, pred));
        let ours = confusion.macro_f1().unwrap();
        assert!((ours - macro_f1).abs() < 1e-12, "{ours} is not {macro_f1} for {gold:?} and {pred:?}");
    }
}

#[test]
fn nothing_counted_is_undefined() {
    let scores = StateCounts::of(&[]).scores();
    assert_eq!((scores.preconditions.macro_f1, scores.effects.macro_f1, scores.conflicts), (None, None, None));
    assert_eq!((scores.asserted.precision().percent(), scores.asserted.f1()), (None, None));
}

#[test]
fn right_predictions_score_1() {
    let mut predictions = random_predictions(20);
    for entity in predictions.iter_mut().flat_map(|p| &mut p.stories).flat_map(|s| &mut s.entities) {
        entity.preconditions.predicted = entity.preconditions.gold.clone();
        entity.effects.predicted = entity.effects.gold.clone();
        entity.beliefs = entity.gold_beliefs.iter().map(|&gold| gold.into()).collect();
    }
    let scores = StateCounts::of(&predictions).scores();
    let all = [scores.preconditions.macro_f1, scores.effects.macro_f1, scores.conflicts, scores.asserted.f1()];
    assert_eq!(all, [Some(1.0); 4]);
    assert_eq!(scores.effects.by_attribute.len(), Attribute::ALL.len());
}
