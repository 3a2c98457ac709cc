//! Gold and predicted states, at a conflict and of a whole story.

use crate::attribute::{Attribute, Side};
use crate::language::Language;
use crate::prediction::{LabelledEntity, LabelledStory};
use crate::report::explaining_cells;
use crate::report::labels::label;

/// The states on one side of a sentence that explain a conflict.
pub struct ReasonsView {
    /// "Before" or "After".
    pub when: &'static str,
    /// The conflict of the sentence: "gold", "predicted", "gold and predicted".
    pub of: &'static str,
    pub rows: Vec<StateView>,
}

/// A nontrivial state that is gold, predicted, or both.
pub struct StateView {
    pub entity: String,
    pub attribute: Attribute,
    /// "right"; "wrong" (predicted, not gold); "missed" (gold, not predicted); "not labelled" (predicted, and the story
    /// has no labels).
    pub status: &'static str,
    pub mark: &'static str,
    pub gold: Option<&'static str>,
    pub predicted: Option<&'static str>,
}

/// The states of an entity at a sentence.
pub struct StateRow {
    pub sentence: usize,
    pub entity: String,
    /// Before and after the sentence.
    pub sides: [Vec<StateView>; 2],
}

/// The states before and after a sentence that explain the conflicts of its story.
pub fn reasons(
    story: LabelledStory,
    sentence: usize,
    gold: &[usize],
    predicted: &[usize],
    language: Language,
) -> Vec<ReasonsView> {
    let sides = [("Before", Side::Precondition), ("After", Side::Effect)];
    let view = |(when, side)| {
        let is_in = |conflict: &[usize]| explaining_cells(conflict).contains(&(side, sentence));
        let of = match (is_in(gold), is_in(predicted)) {
            (true, true) => "gold and predicted",
            (true, false) => "gold",
            (false, true) => "predicted",
            (false, false) => return None,
        };
        let rows = story.entities().flat_map(|entity| states(entity, side, sentence, language)).collect();
        Some(ReasonsView { when, of, rows })
    };
    sides.into_iter().filter_map(view).collect()
}

/// All states of a story. Rows without a gold or predicted state are left out.
pub fn rows(story: LabelledStory, language: Language) -> Vec<StateRow> {
    let sentences = 0..story.prediction.sentences.len();
    let cells = sentences.flat_map(|n| story.entities().map(move |entity| (n, entity)));
    let row = |(n, entity): (usize, LabelledEntity)| StateRow {
        sentence: n + 1,
        entity: entity.prediction.name.clone(),
        sides: Side::BOTH.map(|side| states(entity, side, n, language)),
    };
    cells.map(row).filter(|row| row.sides.iter().any(|states| !states.is_empty())).collect()
}

fn states(entity: LabelledEntity, side: Side, sentence: usize, language: Language) -> Vec<StateView> {
    let states = entity.side(side);
    let view = |attribute: Attribute| {
        let [gold, predicted] = [states.gold, &states.predicted.classes].map(|rows| {
            let class = rows.get(sentence)?[attribute.index()];
            label(attribute, side, class, language).filter(|_| attribute.is_nontrivial(class))
        });
        let (status, mark) = match (gold, predicted) {
            (None, None) => return None,
            (Some(_), None) => ("missed", "○"),
            (None, Some(_)) if states.gold.is_empty() => ("not labelled", "·"),
            (gold, predicted) if gold == predicted => ("right", "✓"),
            _ => ("wrong", "✗"),
        };
        Some(StateView { entity: entity.prediction.name.clone(), attribute, status, mark, gold, predicted })
    };
    Attribute::ALL.into_iter().filter_map(view).collect()
}
