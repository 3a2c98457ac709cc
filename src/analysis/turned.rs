//! Whether the model minds that two sentences are told the wrong way round.

use crate::metrics::Share;
use crate::prediction::PairPrediction;

/// Of pairs whose plausible story tells the two sentences in conflict the other way round: those that support a conflict
/// of the two more in the implausible story. Half of them is chance. Nothing else in the stories is asked about, so that
/// what the model knows of the two events is told from what distracts it.
pub(super) fn turned_round(predictions: &[PairPrediction]) -> Share {
    let minded: Vec<bool> = predictions.iter().filter_map(is_minded).collect();
    Share { count: minded.iter().filter(|&&is| is).count() as u64, total: minded.len() as u64 }
}

/// `None` if the plausible story doesn't tell the two sentences, or in the same order.
fn is_minded(pair: &PairPrediction) -> Option<bool> {
    let [implausible, plausible] = [pair.implausible_story(), &pair.stories[pair.gold_plausible]];
    let [evidence, breakpoint] = pair.gold_conflict;
    let place = |sentence: usize| plausible.sentences.iter().position(|told| *told == implausible.sentences[sentence]);
    let (first, second) = (place(breakpoint)?, place(evidence)?);
    (first < second).then(|| implausible.support(evidence, breakpoint) > plausible.support(first, second))
}
