//! Order sensitivity: whether the model finds a conflict more likely in the order of the implausible story.

use crate::metrics::{Share, StoryGroups};
use crate::prediction::{LabelledPair, StoryPrediction};
use std::cmp::Ordering;

/// Among pairs whose plausible story has the two sentences in conflict in the other order, the share in which the
/// conflict of the two is more likely in the implausible story, and how many pairs are left out because it is as likely
/// in both. Chance level is one half. The rest of the stories is ignored, so that only the model's knowledge of the two
/// events counts. Pairs of which only one story was asked about count nowhere: it would always win.
pub(super) fn order_sensitivity(predictions: &[LabelledPair], groups: &StoryGroups) -> (Share, u64) {
    let compared = || predictions.iter().filter_map(|pair| Some((pair.group, compare(pair)?)));
    let untied = compared().filter(|(_, order)| order.is_ne());
    let share = groups.share(untied.map(|(group, order)| (group, order.is_gt())));
    (share, compared().filter(|(_, order)| order.is_eq()).count() as u64)
}

/// The probability of the conflict in the implausible story, compared with that in the plausible one. `None` if the
/// plausible story lacks one of the two sentences or has them in the same order, or was not asked about.
fn compare(pair: &LabelledPair) -> Option<Ordering> {
    let [implausible, plausible] = [pair.implausible_story(), pair.plausible_story()].map(|story| story.prediction);
    if !are_both_asked([implausible, plausible]) {
        return None;
    }
    let [evidence, breakpoint] = pair.gold.conflict;
    let position = |sentence: usize| plausible.sentences.iter().position(|s| *s == implausible.sentences[sentence]);
    let (first, second) = (position(breakpoint)?, position(evidence)?);
    let (told, other) = (implausible.support(evidence, breakpoint), plausible.support(first, second));
    (first < second).then(|| told.partial_cmp(&other).unwrap_or(Ordering::Equal))
}

/// Whether the predictions tell of a conflict in either story. Of a language model they may tell of one story only: by
/// protocol pairs the other one has no sentence pairs, by har no probability above 0.
fn are_both_asked(stories: [&StoryPrediction; 2]) -> bool {
    let has_support = |story: &StoryPrediction| {
        let of_entities = story.entities.iter().flat_map(|entity| &entity.conflict_probs);
        story.sentence_pairs.iter().flatten().chain(of_entities).any(|&probability| probability > 0.)
    };
    let [first, second] = stories;
    first.sentence_pairs.is_empty() == second.sentence_pairs.is_empty() && stories.into_iter().all(has_support)
}
