//! Counts over random predictions; metrics against scikit-learn, statistics against statsmodels and SciPy.

use crate::support::{fixture, random_prediction, rng};
use serde::Deserialize;
use tiered::attribute::Attribute;
use tiered::metrics::{
    Confusion, Resamples, StateCounts, StoryGroups, TierCounts, Tiered, holm, mcnemar_exact, percentile_interval,
};
use tiered::prediction::LabelledPair;

fn random_predictions(count: usize) -> Vec<LabelledPair> {
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
    assert_eq!((scores.predicted_states.precision().fraction(), scores.predicted_states.f1()), (None, None));
}

#[test]
fn right_predictions_score_1() {
    let mut predictions = random_predictions(20);
    for pair in &mut predictions {
        let gold = pair.gold.stories.iter().flat_map(|story| &story.entities);
        let entities = pair.prediction.stories.iter_mut().flat_map(|story| &mut story.entities);
        for (gold, entity) in gold.zip(entities) {
            entity.preconditions.classes = gold.preconditions.clone();
            entity.effects.classes = gold.effects.clone();
            entity.conflict_probs = gold.conflicts.iter().map(|&gold| gold.into()).collect();
        }
    }
    let scores = StateCounts::of(&predictions).scores();
    let all = [scores.preconditions.macro_f1, scores.effects.macro_f1, scores.conflicts, scores.predicted_states.f1()];
    assert_eq!(all, [Some(1.0); 4]);
    assert_eq!(scores.effects.by_attribute.len(), Attribute::ALL.len());
}

fn read<T: for<'de> Deserialize<'de>>(name: &str) -> T {
    serde_json::from_slice(&std::fs::read(fixture(name)).unwrap()).unwrap()
}

/// Random predictions and what scikit-learn makes of them.
#[derive(Deserialize)]
struct Scored {
    pairs: Vec<LabelledPair>,
    accuracy: f64,
    consistency: f64,
    verifiability: f64,
    preconditions: f64,
    effects: f64,
    conflicts: f64,
    precision: f64,
    recall: f64,
    f1: f64,
}

#[test]
fn all_metrics_are_those_of_scikit_learn() {
    let cases: Vec<Scored> = read("tiers.json");
    assert!(cases.iter().any(|case| case.verifiability > 0.));
    for case in cases {
        case.pairs.iter().for_each(|pair| pair.check().unwrap());
        let tiers = TierCounts::of(&case.pairs);
        let states = StateCounts::of(&case.pairs).scores();
        let share = |share: tiered::metrics::Share| share.fraction().unwrap();
        for (name, ours, theirs) in [
            ("accuracy", share(tiers.accuracy()), case.accuracy),
            ("consistency", share(tiers.consistency()), case.consistency),
            ("verifiability", share(tiers.verifiability()), case.verifiability),
            ("preconditions", states.preconditions.macro_f1.unwrap(), case.preconditions),
            ("effects", states.effects.macro_f1.unwrap(), case.effects),
            ("conflicts", states.conflicts.unwrap(), case.conflicts),
            ("precision", share(states.predicted_states.precision()), case.precision),
            ("recall", share(states.predicted_states.recall()), case.recall),
            ("F1", states.predicted_states.f1().unwrap(), case.f1),
        ] {
            assert!((ours - theirs).abs() < 1e-12, "{name}: {ours} is not {theirs}");
        }
    }
}

#[derive(Deserialize)]
struct Statistics {
    mcnemar: Vec<McNemar>,
    holm: Vec<Holm>,
    bootstrap: Vec<Bootstrap>,
}

#[derive(Deserialize)]
struct McNemar {
    only_first: u64,
    only_second: u64,
    p: f64,
}

#[derive(Deserialize)]
struct Holm {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

/// Pairs of groups, how many of them reach a tier, and SciPy's interval of the share.
#[derive(Deserialize)]
struct Bootstrap {
    pairs: Vec<f64>,
    reached: Vec<f64>,
    interval: [f64; 2],
}

#[test]
fn p_values_are_those_of_statsmodels() {
    let Statistics { mcnemar, holm: families, .. } = read("statistics.json");
    assert!(mcnemar.len() >= 20 && families.len() >= 6);
    for McNemar { only_first, only_second, p } in mcnemar {
        let ours = mcnemar_exact(only_first, only_second);
        assert!((ours - p).abs() < 1e-12 + 1e-10 * p, "{only_first}, {only_second}: {ours} is not {p}");
    }
    for Holm { p, adjusted } in families {
        let ours = holm(&p);
        assert!(ours.iter().zip(&adjusted).all(|(a, b)| (a - b).abs() < 1e-12), "{ours:?} is not {adjusted:?}");
    }
}

#[test]
fn intervals_are_those_of_scipy() {
    let cases = read::<Statistics>("statistics.json").bootstrap;
    assert_eq!(cases.len(), 4);
    for Bootstrap { pairs, reached, interval } in cases {
        // As many draws as SciPy took; both miss the true quantile by less than a third of a point.
        let resamples = Resamples::new(pairs.len(), 200_000, 0);
        let ours = percentile_interval(&resamples.ratios(&reached, &pairs)).unwrap();
        let near = ours.iter().zip(interval).all(|(a, b)| (a - b).abs() < 0.003);
        assert!(near, "{} groups: {ours:?} is not {interval:?}", pairs.len());
    }
}

/// Predictions with so many pairs in each group, of which so many are accurate.
fn grouped(groups: &[(u64, u64)]) -> Vec<LabelledPair> {
    let mut rng = rng(7);
    let mut predictions = Vec::new();
    for (group, &(pairs, right)) in groups.iter().enumerate() {
        for pair in 0..pairs {
            let mut labelled = random_prediction(&mut rng, predictions.len());
            let gold = labelled.gold.plausible;
            labelled.prediction.plausible = if pair < right { gold } else { 1 - gold };
            predictions.push(LabelledPair { group: 10 * group as i64, ..labelled });
        }
    }
    predictions
}

#[test]
fn intervals_of_shares_are_those_of_scipy() {
    for Bootstrap { pairs, reached, interval } in read::<Statistics>("statistics.json").bootstrap {
        let groups: Vec<_> = pairs.iter().zip(&reached).map(|(&pairs, &right)| (pairs as u64, right as u64)).collect();
        let predictions = grouped(&groups);
        let ours = StoryGroups::of(&predictions).share_of_pairs(&predictions, LabelledPair::is_accurate);
        assert_eq!((ours.total as f64, ours.count as f64), (pairs.iter().sum(), reached.iter().sum()));
        // Of 10,000 draws.
        let near = ours.interval.unwrap().iter().zip(interval).all(|(a, b)| (a - b).abs() < 0.01);
        assert!(near, "{} groups: {:?} is not {interval:?}", pairs.len(), ours.interval);
    }
}

/// Of few groups every draw can be listed: the quantiles of all 5^5, without those that hold no pair of the subset.
#[test]
fn intervals_of_subsets_are_those_of_all_draws() {
    let groups = [(2, 2), (3, 1), (0, 0), (1, 0), (4, 3)];
    let mut ratios: Vec<f64> = (0..5usize.pow(5))
        .filter_map(|draw| {
            let drawn = (0..5).map(|i| groups[draw / 5usize.pow(i) % 5]);
            let (pairs, right) = drawn.fold((0, 0), |sums, (pairs, right)| (sums.0 + pairs, sums.1 + right));
            (pairs > 0).then(|| f64::from(right) / f64::from(pairs))
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let [low, high] = [0.025, 0.975].map(|share| ratios[(share * (ratios.len() - 1) as f64).round() as usize]);
    let [parts, wholes] = [groups.map(|(_, right)| f64::from(right)), groups.map(|(pairs, _)| f64::from(pairs))];
    let ours = Resamples::of_groups(5).interval(&parts, &wholes).unwrap();
    assert!((ours[0] - low).abs() < 0.02 && (ours[1] - high).abs() < 0.02, "{ours:?} is not {:?}", [low, high]);
}
