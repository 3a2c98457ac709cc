//! Recall of gold states in consistent pairs, and confusions of attributes (GITA, section 4.5).

use crate::attribute::{ATTRIBUTES, Attribute};
use crate::metrics::{Share, StoryGroups, Tiered};
use crate::prediction::LabelledPair;
use serde::Serialize;

/// Recall of nontrivial gold states, preconditions and effects, in the implausible stories of consistent pairs. A state
/// counts as recalled if its class was predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recall {
    /// The number of consistent pairs.
    pub pairs: u64,
    /// Of the gold states of all attributes, those that are recalled.
    pub states: Share,
    /// The recall of each attribute with a gold state.
    pub by_attribute: Vec<AttributeRecall>,
}

/// Recall of the gold states of one attribute, both sides together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AttributeRecall {
    /// The one that the gold states are of.
    pub attribute: Attribute,
    /// Of its nontrivial gold states, those that are recalled.
    pub states: Share,
}

/// How often a gold state was missed while another was wrongly predicted for the same entity, sentence and side. If
/// there are several, every combination counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Confused {
    /// The attribute of the missed state.
    pub gold: Attribute,
    /// The same attribute as `gold` if only its class is wrong.
    pub predicted: Attribute,
    /// The number of such combinations in both stories of all pairs.
    pub count: u64,
}

impl Recall {
    pub(super) fn of(predictions: &[LabelledPair], groups: &StoryGroups) -> Self {
        let consistent: Vec<_> = predictions.iter().filter(|prediction| prediction.is_consistent()).collect();
        let counts: Vec<_> = consistent.iter().map(|prediction| (prediction.group, recalled(prediction))).collect();
        let share = |of: &dyn Fn(&[[u64; 2]; ATTRIBUTES]) -> [u64; 2]| {
            groups.share_of_counts(counts.iter().map(|(group, counts)| {
                let [count, total] = of(counts);
                (*group, count, total)
            }))
        };
        let sum = |counts: &[[u64; 2]; ATTRIBUTES]| [0, 1].map(|i| counts.iter().map(|counts| counts[i]).sum());
        let states = |a: Attribute| AttributeRecall { attribute: a, states: share(&|counts| counts[a.index()]) };
        Recall {
            pairs: consistent.len() as u64,
            states: share(&sum),
            by_attribute: Attribute::ALL.map(states).into_iter().filter(|row| row.states.total > 0).collect(),
        }
    }
}

/// For each attribute, the nontrivial gold states of the implausible story that were predicted, and all of them.
fn recalled(prediction: &LabelledPair) -> [[u64; 2]; ATTRIBUTES] {
    let mut counts = [[0; 2]; ATTRIBUTES];
    for states in prediction.implausible_story().states() {
        for (_, attribute, gold, predicted) in states.cells().filter(|(_, a, gold, _)| a.is_nontrivial(*gold)) {
            let [recalled, all] = &mut counts[attribute.index()];
            *recalled += u64::from(predicted == gold);
            *all += 1;
        }
    }
    counts
}

/// The confusions in both stories of all pairs, the most frequent first.
pub(super) fn confusions(predictions: &[LabelledPair]) -> Vec<Confused> {
    let mut counts = [[0; ATTRIBUTES]; ATTRIBUTES];
    for states in predictions.iter().flat_map(LabelledPair::states) {
        for (gold, predicted) in states.gold.iter().zip(&states.predicted.classes) {
            let wrong = |classes: &[u8; ATTRIBUTES]| {
                let is_nontrivial = |a: &Attribute| a.is_nontrivial(classes[a.index()]);
                let wrong = Attribute::ALL.into_iter().filter(|a| gold[a.index()] != predicted[a.index()]);
                wrong.filter(is_nontrivial).collect::<Vec<_>>()
            };
            let (missed, predicted) = (wrong(gold), wrong(predicted));
            for (missed, predicted) in missed.iter().flat_map(|m| predicted.iter().map(move |a| (m, a))) {
                counts[missed.index()][predicted.index()] += 1;
            }
        }
    }
    let all = Attribute::ALL.into_iter().flat_map(|gold| Attribute::ALL.map(|predicted| (gold, predicted)));
    let confused =
        all.map(|(gold, predicted)| Confused { gold, predicted, count: counts[gold.index()][predicted.index()] });
    let mut confused: Vec<_> = confused.filter(|confused| confused.count > 0).collect();
    confused.sort_by_key(|confused| std::cmp::Reverse(confused.count));
    confused
}
