//! Properties that hold whatever the input is: of metrics, decoding, reading and the shots of language models.

use crate::support::{random_prediction, rng};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use tiered::data::{Sentences, read_plain};
use tiered::decode::{Decode, StateDecode};
use tiered::llm::{OptionScore, draw_shots};
use tiered::metrics::{Calibration, StateCounts, StoryGroups, TierCounts, holm, mcnemar_over_seeds};
use tiered::prediction::{
    CONFLICT_THRESHOLD, LabelledPair, StoryPrediction, mean_predictions, parse_predictions, write_lines,
};

fn predictions() -> impl Strategy<Value = Vec<LabelledPair>> {
    (any::<u64>(), 1..12_usize).prop_map(|(seed, pairs)| {
        let mut rng = rng(seed);
        (0..pairs).map(|number| random_prediction(&mut rng, number)).collect()
    })
}

fn states(story: &StoryPrediction) -> usize {
    let sides: Vec<_> =
        (0..story.sentences.len()).flat_map(|n| tiered::attribute::Side::BOTH.map(|s| (s, n))).collect();
    story.predicted_states(&sides).len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_pairs_changes_no_score(pairs in predictions()) {
        let reversed: Vec<_> = pairs.iter().rev().cloned().collect();
        prop_assert_eq!(TierCounts::of(&pairs), TierCounts::of(&reversed));
        prop_assert_eq!(StateCounts::of(&pairs).scores(), StateCounts::of(&reversed).scores());
    }

    #[test]
    fn the_order_of_the_two_stories_changes_no_score(pairs in predictions()) {
        let turned: Vec<_> = pairs.iter().cloned().map(LabelledPair::turned).collect();
        prop_assert_eq!(TierCounts::of(&pairs), TierCounts::of(&turned));
        let [first, second] = [&pairs, &turned].map(|pairs| Calibration::of(pairs, 1.));
        let errors = [(first.nll, second.nll), (first.ece, second.ece)];
        prop_assert!(errors.iter().all(|(a, b)| (a.unwrap() - b.unwrap()).abs() < 1e-9));
        for decode in Decode::ALL {
            let conflicts = |pairs: &[LabelledPair]| decode.apply(pairs).into_iter().map(|pair| pair.prediction.conflict).collect::<Vec<_>>();
            prop_assert_eq!(conflicts(&pairs), conflicts(&turned));
        }
    }

    #[test]
    fn an_interval_holds_its_share(groups in prop::collection::vec((0..6_i64, any::<bool>()), 1..60)) {
        let share = StoryGroups::of_numbers(groups.iter().map(|(group, _)| *group)).share(groups.iter().copied());
        let (fraction, [low, high]) = (share.fraction().unwrap(), share.interval.unwrap());
        prop_assert!(0. <= low && low <= fraction + 1e-12 && fraction <= high + 1e-12 && high <= 1.);
        prop_assert_eq!(share.count, groups.iter().filter(|(_, is_so)| *is_so).count() as u64);
    }

    #[test]
    fn corrected_p_values_are_larger_and_keep_their_order(p_values in prop::collection::vec(0.0..1.0_f64, 0..12)) {
        let corrected = holm(&p_values);
        for (i, p) in p_values.iter().enumerate() {
            prop_assert!(*p <= corrected[i] && corrected[i] <= 1.);
            prop_assert!(p_values.iter().zip(&corrected).all(|(other, later)| other < p || *later >= corrected[i] || other == p));
        }
    }

    #[test]
    fn mcnemar_is_a_probability_and_knows_no_first(only_first in 0..200_u64, only_second in 0..200_u64) {
        let p = mcnemar_over_seeds(&[[only_first, only_second]]).unwrap();
        prop_assert!(0. < p && p <= 1.);
        prop_assert_eq!(Some(p), mcnemar_over_seeds(&[[only_second, only_first]]));
    }

    #[test]
    fn by_threshold_a_sentence_conflicts_exactly_if_its_probability_is_reached(pairs in predictions()) {
        for pair in pairs.iter().map(|pair| &pair.prediction) {
            for (story, found) in pair.stories.iter().zip(Decode::Threshold.by_story(pair)) {
                let reached = |&n: &usize| story.entities.iter().any(|e| e.conflict_probs[n] >= CONFLICT_THRESHOLD);
                prop_assert_eq!(found, (0..story.sentences.len()).filter(reached).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn by_pair_no_other_pair_of_sentences_has_more_support(pairs in predictions()) {
        for pair in pairs.iter().map(|pair| &pair.prediction) {
            let conflict = Decode::Pair.conflict(pair);
            let story = &pair.stories[1 - pair.plausible];
            prop_assert!(conflict.len() == 2 && conflict[0] < conflict[1]);
            let support = |i: usize, j: usize| story.entities.iter().map(|e| e.conflict_probs[i] * e.conflict_probs[j]).sum::<f32>();
            let best = support(conflict[0], conflict[1]);
            for j in 1..story.sentences.len() {
                prop_assert!((0..j).all(|i| support(i, j) <= best));
            }
        }
    }

    #[test]
    fn a_higher_threshold_predicts_no_more_states(pairs in predictions(), low in 0.3..0.9_f32, step in 0.0..0.1_f32) {
        let [few, many] = [low + step, low].map(|threshold| StateDecode::Threshold(threshold).apply(&pairs));
        for (few, many) in few.iter().zip(&many).flat_map(|(few, many)| few.prediction.stories.iter().zip(&many.prediction.stories)) {
            prop_assert!(states(few) <= states(many));
        }
        let argmax = StateDecode::Argmax.apply(&pairs);
        prop_assert_eq!(argmax, pairs);
    }

    #[test]
    fn the_fallback_adds_one_state_at_most(pairs in predictions(), threshold in 0.3..1.0_f32) {
        let [plain, top1] = [StateDecode::Threshold(threshold), StateDecode::ThresholdTop1(threshold)].map(|way| way.apply(&pairs));
        for (plain, top1) in plain.iter().zip(&top1) {
            let count = |pair: &LabelledPair| pair.prediction.stories.iter().map(states).sum::<usize>();
            prop_assert!((count(plain)..=count(plain) + 1).contains(&count(top1)));
        }
    }

    #[test]
    fn predictions_are_read_as_they_were_written(pairs in predictions()) {
        let (mut bytes, path) = (Vec::new(), Path::new("predictions.jsonl"));
        write_lines(&mut bytes, path, &pairs).unwrap();
        prop_assert_eq!(parse_predictions(path, &bytes).unwrap().pairs, pairs);
    }

    #[test]
    fn the_mean_of_a_system_with_itself_is_that_system(pairs in predictions()) {
        let mean = mean_predictions(&[pairs.clone(), pairs.clone()]).unwrap();
        let probs = |pairs: &[LabelledPair]| pairs.iter().map(|pair| pair.prediction.story_probs).collect::<Vec<_>>();
        prop_assert_eq!(probs(&mean), probs(&pairs));
        prop_assert_eq!(Decode::Threshold.apply(&mean).iter().map(|p| p.prediction.conflict.clone()).collect::<Vec<_>>(),
                        Decode::Threshold.apply(&pairs).iter().map(|p| p.prediction.conflict.clone()).collect::<Vec<_>>());
    }

    #[test]
    fn typed_text_is_read_or_refused_and_no_sentence_is_invented(text in "(entities: [a-z]{1,5}\n)?([A-Za-z#*.,0-9 \n]{0,80}\n){0,6}") {
        let entities = ["Mia".to_owned()];
        if let Ok(typed) = read_plain(&text, "typed", &entities, Sentences::AsGiven, &|_| Vec::new()) {
            let sentences = typed.stories.iter().flat_map(|story| &story.sentences);
            for sentence in sentences {
                prop_assert!(!sentence.trim().is_empty() && text.contains(sentence.as_str()), "{sentence:?} of {text:?}");
            }
        }
    }

    #[test]
    fn a_changed_byte_is_read_or_refused_with_the_line(pairs in predictions(), place in any::<prop::sample::Index>(), byte in 32..127_u8) {
        let (mut bytes, path) = (Vec::new(), Path::new("predictions.jsonl"));
        write_lines(&mut bytes, path, &pairs).unwrap();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        match parse_predictions(path, &bytes) {
            Ok(read) => prop_assert!(read.pairs.len() <= pairs.len()),
            Err(error) => prop_assert!(error.message.starts_with("predictions.jsonl: "), "{error}"),
        }
    }

    #[test]
    fn shots_are_distinct_others_of_the_pool(pool in 1..40_usize, shots in 0..5_usize, seed in any::<u32>()) {
        let places: Vec<Option<usize>> = (0..pool).map(Some).collect();
        for (own, drawn) in draw_shots(&places, pool, shots, seed).into_iter().enumerate() {
            let distinct: BTreeSet<usize> = drawn.iter().copied().collect();
            prop_assert!(distinct.len() == drawn.len() && !distinct.contains(&own));
            prop_assert!(drawn.iter().all(|&place| place < pool));
            prop_assert_eq!(drawn.len(), shots.min(pool - 1));
        }
    }

    #[test]
    fn the_option_chosen_has_the_highest_score(logprobs in prop::collection::vec(-50.0..0.0_f64, 1..14)) {
        let scores: Vec<OptionScore> = logprobs.iter().map(|&logprob| OptionScore::Exact { logprob, is_greedy: false }).collect();
        let chosen = tiered::llm::Choice::of(&scores).index().unwrap();
        prop_assert!(logprobs.iter().all(|&logprob| logprob <= logprobs[chosen]));
        prop_assert!(logprobs[..chosen].iter().all(|&logprob| logprob < logprobs[chosen]), "ties go to the earlier");
    }
}
