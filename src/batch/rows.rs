//! Lays the stories of a batch out as rows of cells: one row for each entity of each story, one cell for each sentence.

use super::index::InputNumber;
use super::sample::{Drawn, Sample};
use crate::attribute::ATTRIBUTES;
use crate::data::{Classes, SoftCell, SoftStory, Story};

/// How pairs are laid out as rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// N, the columns of every row: at least the sentences of the longest story.
    pub sentences: usize,
    /// If set, every story is padded like in TRIP's code: with empty entities up to this many, and with empty sentences
    /// up to N. The losses then average over the padding too. If `None`, they average over real cells only.
    pub pad_to_entities: Option<usize>,
}

/// An entity of a story, or padding.
pub struct Row<'a> {
    /// The story, 2·pair + 0 or 1.
    pub story: usize,
    /// How many of the story's entities it stands for.
    pub weight: f32,
    /// N of them.
    pub cells: Vec<Cell<'a>>,
}

/// A sentence of a row.
pub struct Cell<'a> {
    /// Whether the story has that sentence and that entity.
    pub is_present: bool,
    /// The input that the cell reads: the padding if it is absent or was not drawn.
    pub input: InputNumber,
    /// The gold answers; `None` if the losses do not average over this cell.
    pub gold: Option<GoldCell<'a>>,
}

/// The gold answers of a cell.
pub struct GoldCell<'a> {
    pub preconditions: &'a Classes,
    pub effects: &'a Classes,
    /// Whether the sentence takes part in the conflict of the row's entity.
    pub in_conflict: bool,
    /// What is learned in place of these states.
    pub soft: Option<&'a SoftCell>,
}

/// No attribute changes.
const NOTHING: Classes = [0; ATTRIBUTES];

/// The gold answers of padding.
const PADDING: GoldCell<'static> =
    GoldCell { preconditions: &NOTHING, effects: &NOTHING, in_conflict: false, soft: None };

impl Layout {
    /// The rows of a story: its drawn entities, then padding. `inputs` are numbers by entity and sentence.
    ///
    /// # Panics
    /// If the story is longer than the layout.
    pub(super) fn rows<'a>(
        self,
        number: usize,
        story: &'a Story,
        soft: Option<&'a SoftStory>,
        inputs: &[Vec<InputNumber>],
        drawn: &[Drawn],
        sample: &Sample,
    ) -> Vec<Row<'a>> {
        assert!(story.sentences.len() <= self.sentences, "story {} is longer than the layout", story.id);
        let of_entity = |&Drawn { entity, weight }: &Drawn| {
            let soft = soft.map(|soft| &soft.cells[entity][..]);
            let cells = self.cells_of_entity(story, entity, soft, &inputs[entity], sample);
            Row { story: number, weight, cells }
        };
        let padding = (story.entities.len()..self.pad_to_entities.unwrap_or(0)).map(|_| {
            let cells = (0..self.sentences).map(|_| self.padding(false)).collect();
            Row { story: number, weight: 1., cells }
        });
        drawn.iter().map(of_entity).chain(padding).collect()
    }

    fn cells_of_entity<'a>(
        self,
        story: &'a Story,
        entity: usize,
        soft: Option<&'a [SoftCell]>,
        inputs: &[InputNumber],
        sample: &Sample,
    ) -> Vec<Cell<'a>> {
        let entity = &story.entities[entity];
        let conflict = story.conflict_target(entity);
        let cell = |n: usize| match inputs.get(n) {
            Some(&input) if sample.inputs.contains(&input) => {
                let gold = GoldCell {
                    preconditions: &entity.preconditions[n],
                    effects: &entity.effects[n],
                    in_conflict: conflict.is_some_and(|c| c.evidence == n || c.breakpoint == n),
                    soft: soft.map(|soft| &soft[n]),
                };
                Cell { is_present: true, input, gold: Some(gold) }
            }
            input => self.padding(input.is_some()),
        };
        (0..self.sentences).map(cell).collect()
    }

    /// A cell that reads the padding.
    fn padding(self, is_present: bool) -> Cell<'static> {
        Cell { is_present, input: InputNumber::PADDING, gold: self.pad_to_entities.map(|_| PADDING) }
    }
}
