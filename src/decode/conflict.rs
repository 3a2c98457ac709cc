//! From conflict probabilities to the sentences in conflict.

use crate::prediction::{CONFLICT_THRESHOLD, LabelledPair, PairPrediction, StoryPrediction, differing_pairs};
use serde::{Deserialize, Serialize};

/// What stands for a decoding where a file names its sentences in conflict itself.
pub const AS_RECORDED: &str = "as recorded";

/// How the sentences in conflict are read from the conflict probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Decode {
    /// The papers' way: every sentence of either story whose conflict probability is at least 0.5. With the paper's
    /// detector one entity's is enough; with the joint one it is over all entities.
    Threshold,
    /// The sentence pair with the most support, in the story chosen as implausible.
    Pair,
    /// Like `pair`, but only sentence pairs that the other story does not tell in the same order. One of the two
    /// stories is plausible, so what they share is hardly a conflict. The two texts then give away part of the answer;
    /// where two neighbouring sentences are swapped, they give away all of it.
    Contrast,
}

impl Decode {
    /// Every decoding, the papers' first.
    pub const ALL: [Decode; 3] = [Decode::Threshold, Decode::Pair, Decode::Contrast];
    /// The decodings of every report. The third one is reported on request only.
    pub const REPORTED: [Decode; 2] = [Decode::Threshold, Decode::Pair];

    /// The name in arguments, in JSON and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Decode::Threshold => "threshold",
            Decode::Pair => "pair",
            Decode::Contrast => "contrast",
        }
    }

    /// The sentences in conflict, sorted, over both stories.
    pub fn conflict(self, prediction: &PairPrediction) -> Vec<usize> {
        let mut sentences = self.by_story(prediction).concat();
        sentences.sort_unstable();
        sentences.dedup();
        sentences
    }

    /// The sentences in conflict of each story, sorted.
    pub fn by_story(self, prediction: &PairPrediction) -> [Vec<usize>; 2] {
        match self {
            Decode::Threshold => prediction.stories.each_ref().map(above_threshold),
            Decode::Pair | Decode::Contrast => {
                let [plausible, implausible] = [prediction.plausible, 1 - prediction.plausible];
                let story = &prediction.stories[implausible];
                let mut sentences = [Vec::new(), Vec::new()];
                sentences[implausible] = match self {
                    Decode::Contrast => best_pair_not_in(story, &prediction.stories[plausible]),
                    _ => best_pair(story),
                };
                sentences
            }
        }
    }

    /// The sentences in conflict of a single story ([`StoryPrediction::single_story`]); none if it is judged plausible.
    ///
    /// By `threshold`, a story is implausible if exactly two sentences reach the threshold. By `pair` and `contrast`,
    /// it is implausible if a conflict is more likely than none. Where that probability is unknown, some conflict
    /// probability must reach 0.5. There is no other story, so `contrast` is the same as `pair`.
    pub fn single_story(self, story: &StoryPrediction) -> Vec<usize> {
        let above_threshold = above_threshold(story);
        let is_conflict = match (self, story.no_conflict) {
            (Decode::Threshold, _) => above_threshold.len() == 2,
            (_, Some(no_conflict)) => no_conflict < 0.5,
            (_, None) => !above_threshold.is_empty(),
        };
        match (self, is_conflict) {
            (_, false) => Vec::new(),
            (Decode::Threshold, true) => above_threshold,
            (_, true) => best_pair(story),
        }
    }

    /// The pair with the conflict decoded in this way.
    pub fn apply_to(self, mut pair: LabelledPair) -> LabelledPair {
        pair.prediction.conflict = self.conflict(&pair.prediction);
        pair
    }

    /// Decodes copies of all pairs, each as [`Decode::apply_to`] does.
    pub fn apply(self, pairs: &[LabelledPair]) -> Vec<LabelledPair> {
        pairs.iter().map(|pair| self.apply_to(pair.clone())).collect()
    }
}

fn above_threshold(story: &StoryPrediction) -> Vec<usize> {
    (0..story.sentences.len()).filter(|&sentence| story.conflict_prob(sentence) >= CONFLICT_THRESHOLD).collect()
}

/// The sentence pair i < j with the most support; if several are equal, the earliest; none if none has any.
fn best_pair(story: &StoryPrediction) -> Vec<usize> {
    best_pair_where(story, |_, _| true)
}

/// The sentence pair i < j with the most support that `other` does not tell in this order; if it tells all, of all.
fn best_pair_not_in(story: &StoryPrediction, other: &StoryPrediction) -> Vec<usize> {
    match differing_pairs(&story.sentences, &other.sentences) {
        sentence_pairs if sentence_pairs.is_empty() => best_pair(story),
        sentence_pairs => best_pair_where(story, |i, j| sentence_pairs.contains(&[i, j])),
    }
}

fn best_pair_where(story: &StoryPrediction, is_candidate: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let n = story.sentences.len();
    let mut best = (0., Vec::new());
    for j in 1..n {
        for i in 0..j {
            let value = story.support(i, j);
            if value > best.0 && is_candidate(i, j) {
                best = (value, vec![i, j]);
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::EntityPrediction;

    fn story(conflict_probs: &[&[f32]]) -> StoryPrediction {
        let entity = |conflict_probs: &&[f32]| EntityPrediction::without_states("", conflict_probs.to_vec());
        let sentences = vec![String::new(); conflict_probs[0].len()];
        StoryPrediction::without_sentence_pairs("", sentences, conflict_probs.iter().map(entity).collect())
    }

    #[test]
    fn threshold_joins_both_stories_and_all_entities() {
        let stories = [story(&[&[0.5, 0.1, 0.2], &[0.1, 0.1, 0.1]]), story(&[&[0.1, 0.1, 0.9]])];
        let prediction = PairPrediction { plausible: 0, story_probs: [0.5, 0.5], conflict: Vec::new(), stories };
        assert_eq!(Decode::Threshold.by_story(&prediction), [vec![0], vec![2]]);
        assert_eq!(Decode::Threshold.conflict(&prediction), [0, 2]);
        assert_eq!(Decode::Pair.by_story(&prediction), [vec![], vec![0, 2]]);
    }

    #[test]
    fn contrast_looks_at_what_the_other_story_does_not_tell_in_this_order() {
        let story = |sentences: &[&str]| StoryPrediction {
            sentences: sentences.iter().map(|&sentence| sentence.to_owned()).collect(),
            ..story(&[&[0.9, 0.8, 0.2, 0.3]])
        };
        let swapped = story(&["wakes", "cooks", "eats", "buys"]);
        assert_eq!(best_pair(&swapped), [0, 1]);
        assert_eq!(best_pair_not_in(&swapped, &story(&["wakes", "buys", "cooks", "eats"])), [1, 3]);
        assert_eq!(best_pair_not_in(&swapped, &story(&["wakes", "cooks", "eats", "sleeps"])), [0, 3]);
        assert_eq!(best_pair_not_in(&swapped, &swapped), [0, 1], "nothing differs");
        let twice = story(&["eats", "wakes", "eats", "sleeps"]);
        assert_eq!(best_pair_not_in(&twice, &story(&["wakes", "eats", "sleeps"])), [0, 1], "eating, then waking up");
    }

    #[test]
    fn pair_needs_one_entity_to_believe_in_both_sentences() {
        let split = story(&[&[0.9, 0.0, 0.4, 0.5], &[0.0, 0.9, 0.4, 0.5]]);
        assert_eq!(best_pair(&split), [0, 3]);
        assert_eq!(best_pair(&story(&[&[0.3]])), Vec::<usize>::new());
    }
}
