//! Where two annotators differ.

use super::answers::TwoAnswers;
use super::words::{answer, no_label, only};
use crate::attribute::Attribute;
use serde::Serialize;

/// Two answers that differ, or an entity that only one annotator labels in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// The tier that the answers belong to.
    pub tier: u8,
    /// The split of the story.
    pub split: String,
    /// Its id.
    pub story: String,
    /// The sentence, from 0; `None` in tier 1.
    pub sentence: Option<usize>,
    /// The words of the sentence.
    pub text: Option<String>,
    /// The entity, in tier 3.
    pub entity: Option<String>,
    /// The attribute; `None` where an annotator leaves the entity out.
    pub attribute: Option<Attribute>,
    /// The answers as labels: in tiers 1 and 2, 1 is implausible and in the conflict. `None` where an annotator gives none.
    pub labels: [Option<u8>; 2],
    /// The answers in words.
    pub says: [String; 2],
}

/// By tier, in the order of the answers. An entity that only one annotator labels in a sentence is one disagreement,
/// whatever the number of its attributes.
pub(super) fn disagreements(answers: &[TwoAnswers]) -> Vec<Disagreement> {
    let of_cell = |cell: &[TwoAnswers]| {
        let labelled = [0, 1].map(|i| cell.iter().filter(|it| it.labels[i].is_some()).count());
        match cell.first().filter(|_| labelled.contains(&0)) {
            Some(first) => vec![Disagreement::left_out(first, labelled)],
            None => cell.iter().filter_map(Disagreement::of).collect(),
        }
    };
    answers.chunk_by(TwoAnswers::is_of_same_cell).flat_map(of_cell).collect()
}

impl Disagreement {
    /// `None` if the labels are the same.
    fn of(answers: &TwoAnswers) -> Option<Self> {
        let TwoAnswers { tier, attribute, labels, .. } = *answers;
        let says = labels.map(|label| label.map_or_else(no_label, |label| answer(tier, attribute, label)));
        (labels[0] != labels[1]).then(|| Disagreement { attribute, labels, ..Self::at(answers, says) })
    }

    /// Of an entity of which one annotator labels so many attributes, and the other none.
    fn left_out(answers: &TwoAnswers, attributes: [usize; 2]) -> Self {
        Self::at(answers, attributes.map(only))
    }

    fn at(answers: &TwoAnswers, says: [String; 2]) -> Self {
        let TwoAnswers { story, tier, sentence, entity, .. } = *answers;
        Disagreement {
            tier,
            split: story.split.to_owned(),
            story: story.passes[0].id.clone(),
            sentence,
            text: sentence.map(|sentence| story.passes[0].sentences[sentence].clone()),
            entity: entity.map(str::to_owned),
            attribute: None,
            labels: [None; 2],
            says,
        }
    }
}
