//! From beliefs to the sentences in conflict.

use crate::prediction::{PairPrediction, StoryPrediction, differing_places};
use serde::{Deserialize, Serialize};

/// How the sentences in conflict are read off the beliefs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Decode {
    /// The paper's: every sentence of either story in which some entity's belief is at least 0.5.
    Threshold,
    /// The best supported pair of sentences of the story chosen as implausible.
    Pair,
    /// The same, among the pairs of sentences that the other story doesn't also have in this order: one of the two
    /// stories being plausible, what they share is hardly a conflict. Part of the answer is then read off the two
    /// texts, all of it where stories differ by two neighbours swapped.
    Contrast,
}

/// Belief from which on a sentence is said to take part in a conflict.
pub const THRESHOLD: f32 = 0.5;

impl Decode {
    pub const ALL: [Decode; 3] = [Decode::Threshold, Decode::Pair, Decode::Contrast];
    /// Those of every report; the other one is for who asks.
    pub const REPORTED: [Decode; 2] = [Decode::Threshold, Decode::Pair];

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
            Decode::Threshold => prediction.stories.each_ref().map(believed),
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

    /// The sentences in conflict of a story by itself ([`StoryPrediction::alone`]); none if it is judged plausible.
    ///
    /// By `threshold` a story is implausible if exactly two sentences are believed in conflict. By `pair` it is if a
    /// conflict is likelier than none, or where that is not known, if some belief reaches one half. By `contrast` too,
    /// there being no other story.
    pub fn alone(self, story: &StoryPrediction) -> Vec<usize> {
        let believed = believed(story);
        let is_conflict = match (self, story.no_conflict) {
            (Decode::Threshold, _) => believed.len() == 2,
            (_, Some(no_conflict)) => no_conflict < 0.5,
            (_, None) => !believed.is_empty(),
        };
        match (self, is_conflict) {
            (_, false) => Vec::new(),
            (Decode::Threshold, true) => believed,
            (_, true) => best_pair(story),
        }
    }

    /// The predictions with their conflicts decoded this way.
    pub fn apply(self, predictions: &[PairPrediction]) -> Vec<PairPrediction> {
        let decoded = |p: &PairPrediction| PairPrediction { conflict: self.conflict(p), ..p.clone() };
        predictions.iter().map(decoded).collect()
    }
}

fn believed(story: &StoryPrediction) -> Vec<usize> {
    (0..story.sentences.len()).filter(|&sentence| story.belief(sentence) >= THRESHOLD).collect()
}

/// The pair i < j with the most support; the earliest where several are equal.
fn best_pair(story: &StoryPrediction) -> Vec<usize> {
    best_pair_where(story, |_, _| true)
}

/// The best pair of sentences i < j that `other` doesn't tell in this order; of all, if it tells every one.
fn best_pair_not_in(story: &StoryPrediction, other: &StoryPrediction) -> Vec<usize> {
    match differing_places(&story.sentences, &other.sentences) {
        places if places.is_empty() => best_pair(story),
        places => best_pair_where(story, |i, j| places.contains(&[i, j])),
    }
}

fn best_pair_where(story: &StoryPrediction, is_candidate: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let n = story.sentences.len();
    let mut best = (f32::NEG_INFINITY, Vec::new());
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
    use crate::prediction::{EntityPrediction, StateLabels};

    fn story(beliefs: &[&[f32]]) -> StoryPrediction {
        let nothing = StateLabels { gold: Vec::new(), predicted: Vec::new(), candidates: Vec::new() };
        let entity = |beliefs: &&[f32]| EntityPrediction {
            name: String::new(),
            beliefs: beliefs.to_vec(),
            gold_beliefs: Vec::new(),
            preconditions: nothing.clone(),
            effects: nothing.clone(),
        };
        let sentences = vec![String::new(); beliefs[0].len()];
        StoryPrediction {
            id: String::new(),
            sentences,
            places: Vec::new(),
            subjects: Vec::new(),
            no_conflict: None,
            entities: beliefs.iter().map(entity).collect(),
        }
    }

    #[test]
    fn threshold_joins_both_stories_and_all_entities() {
        let stories = [story(&[&[0.5, 0.1, 0.2], &[0.1, 0.1, 0.1]]), story(&[&[0.1, 0.1, 0.9]])];
        let prediction = PairPrediction {
            id: String::new(),
            group: 0,
            kind: String::new(),
            gold_plausible: 0,
            gold_conflict: [0, 1],
            plausible: 0,
            story_probs: [0.5, 0.5],
            conflict: Vec::new(),
            stories,
        };
        assert_eq!(Decode::Threshold.by_story(&prediction), [vec![0], vec![2]]);
        assert_eq!(Decode::Threshold.conflict(&prediction), [0, 2]);
        assert_eq!(Decode::Pair.by_story(&prediction), [vec![], vec![0, 2]]);
    }

    #[test]
    fn contrast_looks_at_what_the_other_story_does_not_tell_in_this_order() {
        let told = |sentences: &[&str]| StoryPrediction {
            sentences: sentences.iter().map(|&sentence| sentence.to_owned()).collect(),
            ..story(&[&[0.9, 0.8, 0.2, 0.3]])
        };
        let swapped = told(&["wakes", "cooks", "eats", "buys"]);
        assert_eq!(best_pair(&swapped), [0, 1]);
        assert_eq!(best_pair_not_in(&swapped, &told(&["wakes", "buys", "cooks", "eats"])), [1, 3]);
        assert_eq!(best_pair_not_in(&swapped, &told(&["wakes", "cooks", "eats", "sleeps"])), [0, 3]);
        assert_eq!(best_pair_not_in(&swapped, &swapped), [0, 1], "nothing differs");
        let twice = told(&["eats", "wakes", "eats", "sleeps"]);
        assert_eq!(best_pair_not_in(&twice, &told(&["wakes", "eats", "sleeps"])), [0, 1], "eating, then waking up");
    }

    #[test]
    fn pair_needs_one_entity_to_believe_in_both_sentences() {
        let split = story(&[&[0.9, 0.0, 0.4, 0.5], &[0.0, 0.9, 0.4, 0.5]]);
        assert_eq!(best_pair(&split), [0, 3]);
        assert_eq!(best_pair(&story(&[&[0.3]])), Vec::<usize>::new());
    }
}
