//! Test-time augmentation: each pair is read as it is, and again without one of its sentences, for each of them.

use super::mean::{mean, mean_states};
use super::{LabelledPair, PairPrediction, PredictedStates, StateCandidate, StoryPrediction};
use crate::attribute::Side;
use crate::data::{Pair, Story};
use std::ops::Range;

/// Each pair, followed by the same without its first sentence, without its second one, and so on. The sentence is left
/// out of both stories; a story of fewer than three sentences, or without such a sentence, stays whole. The shorter pairs have no gold answers.
pub fn all_readings(pairs: Vec<Pair>) -> Vec<Pair> {
    let readings = |pair: Pair| {
        let shortened: Vec<Pair> = left_out(pair.stories.each_ref().map(|story| story.sentences.len()))
            .map(|sentence| Pair::unlabelled(pair.stories.each_ref().map(|story| shortened(story, sentence))))
            .collect();
        std::iter::once(pair).chain(shortened)
    };
    pairs.into_iter().flat_map(readings).collect()
}

/// The predictions about pairs, from those about [`all_readings`] of them.
///
/// The support of a sentence pair is its mean probability over the readings that have both sentences. The distribution
/// over the sentence pairs of both stories is in proportion to it, and the probability of a story follows from that
/// distribution; where the system has none, it is the mean over all readings. The conflict probability and the states of an
/// entity in a sentence are means over the readings that have the sentence (states as in
/// [`mean_predictions`](super::mean_predictions)); with such a distribution, the conflict probabilities are scaled as the
/// one of the sentence is. All else is that of the whole pair: the entity of a sentence pair, and the probability that a
/// single story has no conflict.
pub fn mean_of_readings(predictions: Vec<LabelledPair>) -> Vec<LabelledPair> {
    let mut predictions = predictions.into_iter();
    let mut means = Vec::new();
    while let Some(mut pair) = predictions.next() {
        let count = left_out(pair.prediction.stories.each_ref().map(|story| story.sentences.len())).len();
        let shortened: Vec<_> = predictions.by_ref().take(count).map(|reading| reading.prediction).collect();
        if !shortened.is_empty() {
            pair.prediction = mean_reading(&pair.prediction, &shortened);
        }
        means.push(pair);
    }
    means
}

/// The sentences that are left out, one a reading, of two stories of these lengths.
fn left_out(lengths: [usize; 2]) -> Range<usize> {
    let longest = lengths[0].max(lengths[1]);
    0..if longest < 3 { 0 } else { longest }
}

fn shortened(story: &Story, sentence: usize) -> Story {
    match story.sentences.len() {
        n if n < 3 || sentence >= n => story.clone(),
        _ => story.without_sentence(sentence),
    }
}

fn mean_reading(whole: &PairPrediction, shortened: &[PairPrediction]) -> PairPrediction {
    let readings = [0, 1].map(|s| {
        let whole = Reading { story: &whole.stories[s], left_out: None };
        let shortened = shortened.iter().map(|reading| &reading.stories[s]).enumerate();
        let length = whole.story.sentences.len();
        let shortened = shortened.map(|(k, story)| Reading::without(k, story, length));
        std::iter::once(whole).chain(shortened).collect::<Vec<_>>()
    });
    let mut stories = readings.each_ref().map(|readings| mean_story(readings));
    let support = stories.each_ref().map(|story| story.sentence_pairs.iter().flatten().sum::<f32>());
    let total = support[0] + support[1];
    let story_probs = match total > 0. {
        true => {
            stories.iter_mut().zip(&readings).for_each(|(story, readings)| normalize(story, total, readings));
            [support[1] / total, support[0] / total]
        }
        false => [0, 1].map(|s| mean(std::iter::once(whole).chain(shortened).map(|pair| pair.story_probs[s]))),
    };
    let plausible = usize::from(story_probs[1] > story_probs[0]);
    PairPrediction { plausible, story_probs, conflict: Vec::new(), stories }
}

/// Divides the support of the sentence pairs by that of both stories. The conflict probabilities of a sentence's entities
/// change as that of the sentence does.
fn normalize(story: &mut StoryPrediction, total: f32, readings: &[Reading]) {
    story.sentence_pairs.iter_mut().flatten().for_each(|prob| *prob /= total);
    for sentence in 0..story.sentences.len() {
        let of_readings =
            readings.iter().filter_map(|reading| Some(reading.story.conflict_prob(reading.place(sentence)?)));
        let (before, now) = (mean(of_readings), story.conflict_prob(sentence));
        let scale = if before > 0. { now / before } else { 0. };
        story.entities.iter_mut().for_each(|entity| entity.conflict_probs[sentence] *= scale);
    }
}

/// What one reading says about a story.
struct Reading<'a> {
    story: &'a StoryPrediction,
    left_out: Option<usize>,
}

impl<'a> Reading<'a> {
    /// The reading of a story of `length` sentences in a pair without sentence `k`.
    fn without(k: usize, story: &'a StoryPrediction, length: usize) -> Self {
        Reading { story, left_out: (story.sentences.len() < length).then_some(k) }
    }

    /// Where a sentence of the whole story is in this reading.
    fn place(&self, sentence: usize) -> Option<usize> {
        match self.left_out {
            Some(left_out) if sentence == left_out => None,
            Some(left_out) if sentence > left_out => Some(sentence - 1),
            _ => Some(sentence),
        }
    }

    fn sentence_pair(&self, i: usize, j: usize) -> Option<f32> {
        Some(self.story.sentence_pairs[self.place(i)?][self.place(j)?])
    }

    fn conflict_prob(&self, entity: usize, sentence: usize) -> Option<f32> {
        Some(self.story.entities[entity].conflict_probs[self.place(sentence)?])
    }

    /// The states before or after one sentence, as those of a story of one sentence.
    fn states(&self, entity: usize, side: Side, sentence: usize) -> Option<PredictedStates> {
        let (place, states) = (self.place(sentence)?, self.story.entities[entity].side(side));
        let here = states.candidates.iter().filter(|candidate| candidate.sentence == place);
        let candidates = here.map(|candidate| StateCandidate { sentence: 0, ..candidate.clone() }).collect();
        Some(PredictedStates { classes: vec![states.classes[place]], candidates })
    }
}

/// `readings` begins with that of the whole story. The support of its sentence pairs is not scaled yet.
fn mean_story(readings: &[Reading]) -> StoryPrediction {
    let whole = readings[0].story;
    let mut story = whole.clone();
    for (i, row) in story.sentence_pairs.iter_mut().enumerate() {
        for (j, prob) in row.iter_mut().enumerate() {
            *prob = mean(readings.iter().filter_map(|reading| reading.sentence_pair(i, j)));
        }
    }
    for (e, entity) in story.entities.iter_mut().enumerate() {
        for (sentence, prob) in entity.conflict_probs.iter_mut().enumerate() {
            *prob = mean(readings.iter().filter_map(|reading| reading.conflict_prob(e, sentence)));
        }
        for side in Side::BOTH {
            let of_sentence = |sentence: usize| {
                let readings: Vec<_> =
                    readings.iter().filter_map(|reading| reading.states(e, side, sentence)).collect();
                mean_states(&readings.iter().collect::<Vec<_>>())
            };
            *entity.side_mut(side) = told_in_order((0..whole.sentences.len()).map(of_sentence));
        }
    }
    story
}

/// The states of a story from those of its sentences.
fn told_in_order(sentences: impl Iterator<Item = PredictedStates>) -> PredictedStates {
    let mut story = PredictedStates { classes: Vec::new(), candidates: Vec::new() };
    for (sentence, states) in sentences.enumerate() {
        story.classes.extend(states.classes);
        story
            .candidates
            .extend(states.candidates.into_iter().map(|candidate| StateCandidate { sentence, ..candidate }));
    }
    story
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::Attribute;
    use crate::prediction::EntityPrediction;

    fn story(length: usize, sentence_pairs: &[(usize, usize, f32)], conflict_probs: &[f32]) -> StoryPrediction {
        let entity = EntityPrediction::without_states("cup", conflict_probs.to_vec());
        let mut story = StoryPrediction::without_sentence_pairs("1", vec![String::new(); length], vec![entity]);
        if !sentence_pairs.is_empty() {
            story.sentence_pairs = vec![vec![0.; length]; length];
            sentence_pairs.iter().for_each(|&(i, j, prob)| story.sentence_pairs[i][j] = prob);
        }
        story
    }

    fn pair(story_probs: [f32; 2], stories: [StoryPrediction; 2]) -> PairPrediction {
        PairPrediction { plausible: 0, story_probs, conflict: Vec::new(), stories }
    }

    fn close(actual: f32, expected: f32) {
        assert!((actual - expected).abs() < 1e-6, "{actual}, not {expected}");
    }

    #[test]
    fn a_sentence_pair_has_the_mean_of_the_readings_with_both_sentences() {
        let whole = pair(
            [0.4, 0.6],
            [
                story(3, &[(0, 1, 0.3), (0, 2, 0.1), (1, 2, 0.2)], &[0.4, 0.5, 0.3]),
                story(3, &[(0, 2, 0.4)], &[0.4, 0., 0.4]),
            ],
        );
        // Without the first, the second and the third sentence, one sentence pair of each story is left.
        let shortened = [(0.8, 0.2), (0.3, 0.7), (0.1, 0.9)].map(|(first, second)| {
            let one_pair = |prob| story(2, &[(0, 1, prob)], &[prob, prob]);
            pair([second, first], [one_pair(first), one_pair(second)])
        });
        let mean = mean_reading(&whole, &shortened);
        let total = (0.3 + 0.1) / 2. + (0.1 + 0.3) / 2. + (0.2 + 0.8) / 2. + 0.9 / 2. + (0.4 + 0.7) / 2. + 0.2 / 2.;
        close(mean.stories[0].sentence_pairs[0][1], 0.2 / total);
        close(mean.stories[0].sentence_pairs[0][2], 0.2 / total);
        close(mean.stories[0].sentence_pairs[1][2], 0.5 / total);
        close(mean.stories[1].sentence_pairs[0][1], 0.45 / total);
        close(mean.stories[1].sentence_pairs[0][2], 0.55 / total);
        close(mean.story_probs[0], 1.1 / total);
        close(mean.story_probs[1], 0.9 / total);
        assert_eq!(mean.plausible, 0, "the whole pair alone says story 1");
        // The only entity takes part in a conflict where a sentence does.
        for (sentence, expected) in [0.4, 0.7, 0.7].into_iter().enumerate() {
            close(mean.stories[0].entities[0].conflict_probs[sentence], expected / total);
        }
    }

    #[test]
    fn a_state_has_the_mean_of_the_readings_with_its_sentence() {
        let believing = |probabilities: &[f32]| {
            let mut story = story(probabilities.len(), &[], &vec![0.; probabilities.len()]);
            let effects = &mut story.entities[0].effects;
            for (sentence, &probability) in probabilities.iter().enumerate() {
                let class = u8::from(probability > 0.5);
                effects.classes[sentence][Attribute::Open.index()] = class;
                let attribute = Attribute::Open;
                effects.candidates.push(StateCandidate { sentence, attribute, class: 1, probability, otherwise: 0 });
            }
            story
        };
        let pair_of = |probabilities: &[f32]| pair([0.5, 0.5], [believing(probabilities), believing(probabilities)]);
        let shortened = [[0.7, 0.1], [0.9, 0.2], [0.1, 0.3]].map(|probabilities| pair_of(&probabilities));
        let mean = mean_reading(&pair_of(&[0.6, 0.4, 0.8]), &shortened);
        let effects = &mean.stories[1].entities[0].effects;
        // In all readings, in order: the first sentence 0.6, 0.9, 0.1; the second 0.4, 0.7, 0.3; the third 0.8, 0.1, 0.2.
        for (candidate, expected) in effects.candidates.iter().zip([1.6 / 3., 1.4 / 3., 1.1 / 3.]) {
            close(candidate.probability, expected);
        }
        assert_eq!(effects.candidates.iter().map(|candidate| candidate.sentence).collect::<Vec<_>>(), [0, 1, 2]);
        let classes = effects.classes.iter().map(|classes| classes[Attribute::Open.index()]);
        assert_eq!(classes.collect::<Vec<_>>(), [1, 0, 0], "what most readings say");
        assert!(mean.stories[1].entities[0].preconditions.candidates.is_empty());
    }

    #[test]
    fn a_shorter_story_stays_whole_where_it_has_no_such_sentence() {
        let whole = pair([0.5, 0.5], [story(3, &[], &[0.9, 0.3, 0.3]), story(2, &[], &[0.5, 0.1])]);
        let shortened =
            [0.2, 0.4, 0.6].map(|p| pair([p, 1. - p], [story(2, &[], &[0.3, 0.6]), story(2, &[], &[p, 0.])]));
        let mean = mean_reading(&whole, &shortened);
        close(mean.story_probs[0], (0.5 + 0.2 + 0.4 + 0.6) / 4.);
        close(mean.stories[0].entities[0].conflict_probs[0], (0.9 + 0.3 + 0.3) / 3.);
        close(mean.stories[1].entities[0].conflict_probs[0], (0.5 + 0.2 + 0.4 + 0.6) / 4.);
    }

    #[test]
    fn every_pair_is_followed_by_its_shorter_readings() {
        let story = |sentences: &[&str]| {
            let sentences = sentences.iter().map(|&sentence| sentence.to_owned()).collect();
            Story::unlabelled("1", sentences, vec!["cup".into()])
        };
        let long = Pair::unlabelled([story(&["a", "b", "c"]), story(&["a", "c", "b"])]);
        let short = Pair::unlabelled([story(&["d", "e"]), story(&["e"])]);
        let uneven = Pair::unlabelled([story(&["f", "g", "h"]), story(&["f", "g"])]);
        let readings = all_readings(vec![long, short, uneven]);
        let told = |pair: &Pair| pair.stories.each_ref().map(|story| story.sentences.concat());
        let expected = [
            ["abc", "acb"],
            ["bc", "cb"],
            ["ac", "ab"],
            ["ab", "ac"],
            ["de", "e"],
            ["fgh", "fg"],
            ["gh", "fg"],
            ["fh", "fg"],
            ["fg", "fg"],
        ];
        assert_eq!(readings.iter().map(told).collect::<Vec<_>>(), expected);
        let entity = &readings[1].stories[0].entities[0];
        assert_eq!((entity.preconditions.len(), entity.effects.len(), entity.labelled.len()), (2, 2, 2));
    }
}
