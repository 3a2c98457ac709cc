//! Order sensitivity: whether the model finds a conflict more likely in the order of the implausible story.

use crate::metrics::{Share, StoryGroups};
use crate::prediction::LabelledPair;

/// Among pairs whose plausible story has the two sentences in conflict in the other order, the share in which the
/// conflict of the two is more likely in the implausible story. Chance level is one half. The rest of the stories is
/// ignored, so that only the model's knowledge of the two events counts.
pub(super) fn order_sensitivity(predictions: &[LabelledPair], groups: &StoryGroups) -> Share {
    groups.share(predictions.iter().filter_map(|pair| Some((pair.group, is_sensitive(pair)?))))
}

/// `None` if the plausible story lacks one of the two sentences or has them in the same order.
fn is_sensitive(pair: &LabelledPair) -> Option<bool> {
    let [implausible, plausible] = [pair.implausible_story(), pair.plausible_story()].map(|story| story.prediction);
    let [evidence, breakpoint] = pair.gold.conflict;
    let position = |sentence: usize| plausible.sentences.iter().position(|s| *s == implausible.sentences[sentence]);
    let (first, second) = (position(breakpoint)?, position(evidence)?);
    (first < second).then(|| implausible.support(evidence, breakpoint) > plausible.support(first, second))
}
