//! Which gold states are recognised where the system was consistent, and what it takes for what (GITA, section 4.5).

use crate::attribute::{ATTRIBUTES, Attribute, Side};
use crate::metrics::Share;
use crate::prediction::PairPrediction;
use serde::Serialize;

/// Nontrivial gold states, preconditions and effects, of the implausible stories of consistent pairs; a state is
/// recognised if its class was predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recognised {
    /// Consistent pairs.
    pub pairs: u64,
    pub states: Share,
    /// Of attributes with a gold state.
    pub by_attribute: Vec<RecognisedAttribute>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RecognisedAttribute {
    pub attribute: Attribute,
    pub states: Share,
}

/// How often a gold state was missed and another asserted wrongly of the same entity, in the same sentence, on the same
/// side. Where several are, every combination counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Confused {
    pub gold: Attribute,
    /// The same attribute as `gold` if only its class is wrong.
    pub asserted: Attribute,
    pub count: u64,
}

impl Recognised {
    pub(super) fn of(predictions: &[PairPrediction]) -> Self {
        let consistent: Vec<_> = predictions.iter().filter(|prediction| prediction.is_consistent()).collect();
        let mut shares = [Share { count: 0, total: 0 }; ATTRIBUTES];
        let entities = consistent.iter().flat_map(|prediction| &prediction.implausible_story().entities);
        for labels in entities.flat_map(|entity| Side::BOTH.map(|side| entity.side(side))) {
            for (_, attribute, gold, predicted) in labels.slots().filter(|(_, a, gold, _)| a.is_nontrivial(*gold)) {
                let share = &mut shares[attribute.index()];
                share.count += u64::from(predicted == gold);
                share.total += 1;
            }
        }
        let by_attribute = Attribute::ALL.into_iter().zip(shares).filter(|(_, states)| states.total > 0);
        Recognised {
            pairs: consistent.len() as u64,
            states: Share {
                count: shares.iter().map(|share| share.count).sum(),
                total: shares.iter().map(|share| share.total).sum(),
            },
            by_attribute: by_attribute.map(|(attribute, states)| RecognisedAttribute { attribute, states }).collect(),
        }
    }
}

/// Of both stories of all pairs, the most frequent first.
pub(super) fn confusions(predictions: &[PairPrediction]) -> Vec<Confused> {
    let mut counts = [[0; ATTRIBUTES]; ATTRIBUTES];
    let entities = predictions.iter().flat_map(|p| &p.stories).flat_map(|story| &story.entities);
    for labels in entities.flat_map(|entity| Side::BOTH.map(|side| entity.side(side))) {
        for (gold, predicted) in labels.gold.iter().zip(&labels.predicted) {
            let wrong = |classes: &[u8; ATTRIBUTES]| {
                let is_said = |a: &Attribute| a.is_nontrivial(classes[a.index()]);
                let wrong = Attribute::ALL.into_iter().filter(|a| gold[a.index()] != predicted[a.index()]);
                wrong.filter(is_said).collect::<Vec<_>>()
            };
            let (missed, asserted) = (wrong(gold), wrong(predicted));
            for (missed, asserted) in missed.iter().flat_map(|m| asserted.iter().map(move |a| (m, a))) {
                counts[missed.index()][asserted.index()] += 1;
            }
        }
    }
    let all = Attribute::ALL.into_iter().flat_map(|gold| Attribute::ALL.map(|asserted| (gold, asserted)));
    let confused =
        all.map(|(gold, asserted)| Confused { gold, asserted, count: counts[gold.index()][asserted.index()] });
    let mut confused: Vec<_> = confused.filter(|confused| confused.count > 0).collect();
    confused.sort_by_key(|confused| std::cmp::Reverse(confused.count));
    confused
}
