//! Answers about pairs and single stories.

use super::*;
use crate::prediction::{EntityPrediction, PredictedStates, StateCandidate};

/// A fridge that is closed by sentence 1 and must be open for sentence 2.
fn story(conflict_probs: [f32; 2]) -> StoryPrediction {
    let open = |classes: [u8; 2]| {
        let of_class = |class| Attribute::ALL.map(|a| if a == Attribute::Open { class } else { a.default_label() });
        PredictedStates { classes: classes.map(of_class).to_vec(), candidates: Vec::new() }
    };
    let fridge = EntityPrediction {
        name: "fridge".into(),
        conflict_probs: conflict_probs.to_vec(),
        preconditions: open([2, 2]),
        effects: open([1, 2]),
    };
    let sentences = vec!["Mia shut the fridge.".into(), "Mia took milk from the fridge.".into()];
    StoryPrediction::without_sentence_pairs("1", sentences, vec![fridge])
}

fn prediction(stories: [StoryPrediction; 2], story_probs: [f32; 2]) -> PairPrediction {
    PairPrediction {
        plausible: usize::from(story_probs[1] > story_probs[0]),
        story_probs,
        conflict: Vec::new(),
        stories,
    }
}

#[test]
fn a_pair_in_words() {
    let prediction = prediction([story([0.9, 0.75]), story([0.1, 0.2])], [0.125, 0.875]);
    let expected = "\
Story 2 is plausible (probability 87.5%).

Sentences in conflict:
  story 1, sentence 1: \"Mia shut the fridge.\" (conflict probability 0.90)
  story 1, sentence 2: \"Mia took milk from the fridge.\" (conflict probability 0.75)

States that explain the conflict:
  after sentence 1: the fridge is closed
  before sentence 2: the fridge must be open
";
    for decode in Decode::ALL {
        assert_eq!(Answer::of_pair(&prediction, decode, None).to_text(), expected);
    }
}

#[test]
fn all_words_are_in_one_language() {
    let other = StoryPrediction {
        sentences: vec!["Mia ha messo il latte nel frigo.".into(), "Mia lo ha preso.".into()],
        ..story([0.1, 0.2])
    };
    let prediction = prediction([story([0.9, 0.75]), other], [0.125, 0.875]);
    let words = |language| Answer::of_pair(&prediction, Decode::Pair, language).states[0].words.clone();
    assert_eq!(words(None), "fridge: chiuso", "it is that of both stories");
    assert_eq!(words(Some(Language::English)), "the fridge is closed");
}

#[test]
fn what_is_a_guess_is_said_so() {
    let mut prediction = prediction([story([0.9, 0.75]), story([0.1, 0.2])], [0.45, 0.55]);
    let candidate = |sentence, class, probability| {
        vec![StateCandidate { sentence, attribute: Attribute::Open, class, probability, otherwise: 0 }]
    };
    prediction.stories[0].entities[0].effects.candidates = candidate(0, 1, 0.25);
    prediction.stories[0].entities[0].preconditions.candidates = candidate(1, 2, 0.5);
    let answer = Answer::of_pair(&prediction, Decode::Pair, None);
    let text = answer.to_text();
    let first = "Story 2 is only slightly more likely to be plausible than story 1 (probability 55.0%).\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("the fridge is closed (uncertain: probability 25.0%)\n"), "{text}");
    assert!(text.contains("the fridge must be open\n") && !answer.to_json().contains("0.25"), "{text}");
    let slightly = Verdict::new(0.45).to_text();
    let expected = "The story is only slightly more likely implausible than plausible (probability 55.0%).\n";
    assert_eq!(slightly, expected);
    assert_eq!(Verdict::new(0.6).to_text(), "The story is plausible (probability 60.0%).\n");
}

#[test]
fn one_sentence_alone_is_not_explained() {
    let prediction = prediction([story([0.9, 0.2]), story([0.1, 0.7])], [0.25, 0.75]);
    let answer = Answer::of_pair(&prediction, Decode::Threshold, None);
    let sentence_pairs: Vec<_> = answer.conflict.iter().map(|sentence| (sentence.story, sentence.sentence)).collect();
    assert_eq!((sentence_pairs, answer.states.len()), (vec![(0, 0), (1, 1)], 0));
    assert!(answer.to_text().contains("No two sentences of the implausible story"), "{}", answer.to_text());
}

#[test]
fn one_story_without_a_conflict() {
    let prediction = prediction([story([0.1, 0.2]), story([0.1, 0.2])], [0.5, 0.5]);
    let expected = "\
No conflict is detected.
No sentence reaches a conflict probability of 0.5; the largest is 0.20, at sentence 2 (--decode pair shows the most \
likely sentence pair).
";
    let answer = Answer::of_story(&prediction, Decode::Threshold, None);
    assert_eq!((answer.to_text().as_str(), answer.conflict_detected), (expected, false));
    let answer = Answer::of_story(&prediction, Decode::Pair, None);
    assert_eq!((answer.conflict.len(), answer.states.len(), answer.conflict_detected), (2, 2, false));
    assert!(answer.to_text().contains("(no conflict probability reaches 0.5)"));
    let near = self::prediction([story([0.1, 0.2]), story([0.1, 0.4999])], [0.5, 0.5]);
    assert!(Answer::of_story(&near, Decode::Threshold, None).to_text().contains("the largest is 0.49, at"));
    assert!(Answer::of_story(&near, Decode::Pair, None).to_text().contains("(conflict probability 0.49)"));
    let mut certain = self::prediction([story([0.; 2]), story([0.; 2])], [0.5, 0.5]);
    certain.stories.iter_mut().for_each(|story| story.no_conflict = Some(1.));
    let text = Answer::of_story(&certain, Decode::Pair, None).to_text();
    assert!(text.contains("the largest is 0.00") && !text.contains("--decode"), "{text}");
}
