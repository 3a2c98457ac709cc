//! Counts over random predictions; metrics against scikit-learn, statistics against statsmodels and SciPy.

use crate::support::{fixture, random_prediction, rng};
use serde::Deserialize;
use tiered::attribute::Attribute;
use tiered::decode::{Decode, StateDecode, judge};
use tiered::metrics::{
    Confusion, KindShares, PairSet, PredictedScores, Resamples, Share, StateCounts, StoryGroups, TierCounts, Tiered,
    confidence_bins, estimates, holm, mcnemar_over_seeds, percentile_interval, reached,
};
use tiered::prediction::LabelledPair;

fn random_predictions(count: usize) -> Vec<LabelledPair> {
    let mut rng = rng(42);
    (0..count).map(|i| random_prediction(&mut rng, i)).collect()
}

#[test]
fn tiers_are_nested() {
    let predictions = random_predictions(500);
    predictions.iter().for_each(|prediction| prediction.check().unwrap());
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

#[test]
fn shares_are_shown_in_percent() {
    let share = Share { interval: Some([0.25, 0.5]), ..Share::new(3, 8) };
    assert_eq!((share.percent(), share.percent_interval()), (Some(37.5), Some([25., 50.])));
    assert_eq!(Share::new(0, 0).percent(), None);
}

#[test]
fn every_count_of_predicted_states_is_the_same() {
    let predictions = random_predictions(60);
    let scores = PredictedScores::of(&predictions, &StoryGroups::of(&predictions));
    let counts = scores.counts;
    assert!(counts.predicted > counts.correct && counts.gold > counts.correct && counts.correct > 0, "{counts:?}");
    assert_eq!(counts, StateCounts::of(&predictions).scores().predicted_states);
    assert_eq!(counts, StateCounts::of_nontrivial(&predictions).scores().predicted_states);
    assert_eq!((scores.precision.count, scores.precision.total), (counts.correct, counts.predicted));
    assert_eq!((scores.recall.count, scores.recall.total), (counts.correct, counts.gold));
}

#[test]
fn confidence_bins_hold_every_pair_once() {
    let predictions = random_predictions(60);
    let bins = confidence_bins(&predictions, 1., &StoryGroups::of(&predictions));
    assert!(bins.iter().all(|bin| bin.right.total > 0 && bin.from <= bin.confidence && bin.confidence <= bin.to));
    assert_eq!(bins.iter().map(|bin| bin.right.total).sum::<u64>(), 60);
    assert_eq!(bins.iter().map(|bin| bin.right.count).sum::<u64>(), TierCounts::of(&predictions).accurate);
}

#[test]
fn without_gold_states_there_is_no_verifiability() {
    let mut predictions = random_predictions(20);
    let has = |predictions: &[LabelledPair]| {
        let seeds = [(0, reached(predictions))].into();
        let of_seeds = estimates(&PairSet::of(predictions), &seeds, &Resamples::of_groups(20)).unwrap();
        of_seeds.verifiability.is_some()
    };
    assert!(has(&predictions));
    predictions[7].gold.stories[0].entities[0].effects.clear();
    assert!(!has(&predictions));
}

#[test]
fn the_tiers_of_single_stories_are_counted_by_hand() {
    let mut predictions = random_predictions(60);
    for (number, pair) in predictions.iter_mut().enumerate() {
        pair.prediction.stories.iter_mut().enumerate().for_each(|(s, story)| story.id = format!("{number}-{s}"));
        let entity = &mut pair.prediction.stories[1 - pair.gold.plausible].entities[0];
        let right = number % 2 == 0;
        let is_in = |sentence: usize| right && pair.gold.conflict.contains(&sentence);
        entity.conflict_probs = (0..entity.conflict_probs.len()).map(|s| f32::from(u8::from(is_in(s)))).collect();
    }
    let judged = judge(&predictions, Decode::Threshold, StateDecode::Argmax).unwrap();
    assert_eq!(judged.len(), 120);
    let groups = StoryGroups::of(&predictions);
    let right = |j: &&tiered::prediction::StoryJudgement| j.gold_conflict.is_some_and(|gold| j.conflict == gold);
    let [consistent, verifiable] =
        [KindShares::consistency(&judged, &groups), KindShares::verifiability(&judged, &groups)];
    assert_eq!(consistent.overall.count as usize, judged.iter().filter(right).count());
    assert!(consistent.overall.count > 0 && consistent.overall.total == 60);
    let explained = judged.iter().filter(right).filter(|j| j.story().explains(j.gold_conflict.unwrap())).count();
    assert_eq!(verifiable.overall.count as usize, explained);
    assert!(explained > 0);
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
        let ours = mcnemar_over_seeds(&[[only_first, only_second]]).unwrap();
        assert!((ours - p).abs() < 1e-12 + 1e-10 * p, "{only_first}, {only_second}: {ours} is not {p}");
    }
    for Holm { p, adjusted } in families {
        let ours = holm(&p);
        assert_eq!(ours.len(), adjusted.len());
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
