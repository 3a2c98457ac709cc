//! Judges single stories, from predictions about pairs of them.

use super::{Decode, StateDecode};
use crate::prediction::{LabelledPair, LabelledStory, StoryJudgement};
use std::collections::BTreeSet;

/// Judges every story as a single story. A plausible story of several pairs is judged once. `None` if that is not
/// possible: a distribution over the sentence pairs of two stories does not tell whether one of them has a conflict.
pub fn judge(pairs: &[LabelledPair], conflicts: Decode, states: StateDecode) -> Option<Vec<StoryJudgement>> {
    let mut seen = BTreeSet::new();
    let mut judgements = Vec::new();
    for pair in pairs {
        let plausible = pair.plausible_story();
        if seen.insert(&plausible.prediction.id) {
            judgements.push(judge_one(plausible, None, (pair.group, "plausible"), conflicts, states)?);
        }
        let kind = (pair.group, pair.kind.as_str());
        judgements.push(judge_one(pair.implausible_story(), Some(pair.gold.conflict), kind, conflicts, states)?);
    }
    Some(judgements)
}

fn judge_one(
    story: LabelledStory,
    gold_conflict: Option<[usize; 2]>,
    (group, kind): (i64, &str),
    conflicts: Decode,
    states: StateDecode,
) -> Option<StoryJudgement> {
    let gold = story.gold.clone();
    let mut prediction = story.prediction.single_story()?;
    let conflict = conflicts.single_story(&prediction);
    states.apply_to_story(&mut prediction, &conflict);
    Some(StoryJudgement { group, kind: kind.to_owned(), gold_conflict, conflict, gold, prediction })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::{EntityPrediction, PairGold, PairPrediction, StoryGold, StoryPrediction};

    fn story(id: &str, sentence_pairs: [f32; 3], no_conflict: Option<f32>) -> StoryPrediction {
        let [a, b, c] = sentence_pairs;
        let entity = EntityPrediction::without_states("cup", vec![a + b, a + c, b + c]);
        StoryPrediction {
            id: id.into(),
            sentences: vec![String::new(); 3],
            sentence_pairs: vec![vec![0., a, b], vec![0., 0., c], vec![0.; 3]],
            subjects: Vec::new(),
            no_conflict,
            entities: vec![entity],
        }
    }

    fn pair(id: &str, stories: [StoryPrediction; 2]) -> LabelledPair {
        LabelledPair {
            id: id.into(),
            group: 1,
            kind: "order".into(),
            gold: PairGold { plausible: 0, conflict: [0, 2], stories: [StoryGold::default(), StoryGold::default()] },
            prediction: PairPrediction { plausible: 0, story_probs: [0.5, 0.5], conflict: Vec::new(), stories },
        }
    }

    #[test]
    fn a_story_is_judged_whatever_the_other_one_is() {
        // In the pair the first story has a tenth of the conflict probability. As a single story it has a conflict with
        // probability 0.8.
        let [likely, unlikely] =
            [story("1", [0.01, 0.08, 0.01], Some(0.2)), story("1-O0", [0.1, 0.7, 0.1], Some(0.75))];
        let single_story = likely.single_story().unwrap();
        assert!(
            (single_story.sentence_pairs[0][2] - 0.64).abs() < 1e-6
                && (single_story.conflict_prob(0) - 0.72).abs() < 1e-6
        );
        let pairs = [pair("1-O0", [likely.clone(), unlikely.clone()]), pair("1-O1", [likely, unlikely])];
        let judged = judge(&pairs, Decode::Pair, StateDecode::Argmax).unwrap();
        let found: Vec<_> = judged.iter().map(|j| (j.kind.as_str(), j.conflict.clone(), j.gold_conflict)).collect();
        let implausible = ("order", vec![], Some([0, 2]));
        assert_eq!(found, [("plausible", vec![0, 2], None), implausible.clone(), implausible]);
        let by_probs = judge(&pairs, Decode::Threshold, StateDecode::Argmax).unwrap();
        assert_eq!(by_probs[0].conflict, [0, 2], "conflict_probs 0.72, 0.16, 0.72");
    }

    #[test]
    fn a_distribution_over_two_stories_says_nothing_about_one() {
        let pairs = [pair("1-O0", [story("1", [0.1; 3], None), story("1-O0", [0.2; 3], None)])];
        assert!(judge(&pairs, Decode::Pair, StateDecode::Argmax).is_none());
    }

    #[test]
    fn conflict_probs_say_a_conflict_with_exactly_two_sentences() {
        let believing = |conflict_probs: [f32; 3]| {
            let mut story = story("1", [0.; 3], None);
            story.sentence_pairs.clear();
            story.entities[0].conflict_probs = conflict_probs.to_vec();
            Decode::REPORTED.map(|decode| decode.single_story(&story))
        };
        assert_eq!(believing([0.9, 0.1, 0.5]), [vec![0, 2], vec![0, 2]]);
        assert_eq!(believing([0.9, 0.6, 0.5]), [vec![], vec![0, 1]]);
        assert_eq!(believing([0.4, 0.1, 0.4]), [Vec::<usize>::new(), vec![]]);
    }
}
