//! Some pairs of a corpus -> tensors: what the model reads ([`Batch`]) and what the loss compares it to ([`Targets`]).

use super::corpus::{Corpus, PADDING_INPUT};
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::{Classes, Conflict, Entity, Story};
use std::collections::HashMap;
use tch::{Device, Kind, Tensor};

/// How pairs are laid out as rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// N: columns of every row, at least the sentences of the longest story.
    pub sentences: usize,
    /// The reference's normalisation: every story is padded with empty entities to this many, every row with empty
    /// sentences to N, and the losses average over the padding too. `None`: real slots only.
    pub pad_to_entities: Option<usize>,
}

/// U token sequences without padding, sorted by length and laid end to end (T tokens in all).
pub struct Tokens {
    /// `[T]` token ids.
    pub ids: Tensor,
    /// `[T]` position of each token in its sequence, from 0.
    pub positions: Tensor,
    /// `[U]` index of each sequence's first token.
    pub first: Tensor,
    /// Runs of sequences of one length, in order: attention works on each run as a dense block, so that nothing is
    /// ever padded or masked.
    pub groups: Vec<LengthGroup>,
}

/// `count` consecutive sequences of `length` tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthGroup {
    pub count: i64,
    pub length: i64,
}

/// The model's input: B pairs as R rows, one for each (story, entity), of N sentences.
pub struct Batch {
    pub tokens: Tokens,
    /// `[R, N]` which of the U inputs is at this place; the padding's where `mask` is false.
    pub slots: Tensor,
    /// `[R, N]` true where the row's story has that sentence and that entity.
    pub mask: Tensor,
    /// `[R]` the row's story, 2·pair + 0 or 1.
    pub row_story: Tensor,
    /// B.
    pub pairs: i64,
}

/// Gold answers for a batch, as lists over the S slots (places of rows) that the losses average over.
pub struct Targets {
    /// `[S]` which of the U inputs the slot holds.
    pub slot_input: Tensor,
    /// `[S, A]` column of the gold class among the 66 logits of the preconditions.
    pub precondition_columns: Tensor,
    /// `[S, A]` the same for the effects.
    pub effect_columns: Tensor,
    /// `[S]` the slot's place in the flattened `[R, N]` beliefs.
    pub slot_place: Tensor,
    /// `[S]` 1 where the sentence takes part in the conflict.
    pub conflicts: Tensor,
    /// `[B]` index of the plausible story.
    pub plausible: Tensor,
}

impl Corpus {
    /// Collates pairs, given by their index.
    ///
    /// # Panics
    /// If a story is longer than `layout.sentences`; callers take N from the model and check the corpus first.
    pub fn batch(&self, pairs: &[usize], layout: Layout) -> (Batch, Targets) {
        let mut rows = Rows::new(layout);
        for (b, &p) in pairs.iter().enumerate() {
            for (s, story) in self.pairs[p].stories.iter().enumerate() {
                rows.push_story(2 * b + s, story, &self.slots[p][s]);
            }
        }
        let (tokens, rank) = pack(&self.inputs, &rows.inputs);
        let plausible: Vec<i64> = pairs.iter().map(|&p| self.pairs[p].plausible as i64).collect();
        rows.finish(tokens, &rank, &plausible)
    }
}

/// Rows under construction; inputs are still numbered as in the corpus.
struct Rows {
    layout: Layout,
    inputs: Vec<usize>,
    mask: Vec<bool>,
    row_story: Vec<i64>,
    slot_inputs: Vec<usize>,
    precondition_columns: Vec<i64>,
    effect_columns: Vec<i64>,
    slot_place: Vec<i64>,
    conflicts: Vec<f32>,
}

const NOTHING: Classes = [0; ATTRIBUTES];

impl Rows {
    fn new(layout: Layout) -> Self {
        Rows {
            layout,
            inputs: Vec::new(),
            mask: Vec::new(),
            row_story: Vec::new(),
            slot_inputs: Vec::new(),
            precondition_columns: Vec::new(),
            effect_columns: Vec::new(),
            slot_place: Vec::new(),
            conflicts: Vec::new(),
        }
    }

    fn push_story(&mut self, number: usize, story: &Story, inputs: &[Vec<usize>]) {
        assert!(story.sentences.len() <= self.layout.sentences, "story {} is longer than the layout", story.id);
        for (entity, inputs) in story.entities.iter().zip(inputs) {
            self.push_row(number, Some((entity, story.conflict_target(entity))), inputs);
        }
        for _ in story.entities.len()..self.layout.pad_to_entities.unwrap_or(0) {
            self.push_row(number, None, &[]);
        }
    }

    fn push_row(&mut self, story: usize, entity: Option<(&Entity, Option<Conflict>)>, inputs: &[usize]) {
        self.row_story.push(story as i64);
        for n in 0..self.layout.sentences {
            let input = inputs.get(n).copied();
            self.mask.push(input.is_some());
            self.inputs.push(input.unwrap_or(PADDING_INPUT));
            match (input, entity) {
                (Some(input), Some((entity, conflict))) => {
                    let is_gold = conflict.is_some_and(|c| c.evidence == n || c.breakpoint == n);
                    self.push_slot(input, &entity.preconditions[n], &entity.effects[n], is_gold);
                }
                _ if self.layout.pad_to_entities.is_some() => self.push_slot(PADDING_INPUT, &NOTHING, &NOTHING, false),
                _ => {}
            }
        }
    }

    /// A slot at the place pushed last.
    fn push_slot(&mut self, input: usize, preconditions: &Classes, effects: &Classes, conflict: bool) {
        self.slot_inputs.push(input);
        self.slot_place.push(self.inputs.len() as i64 - 1);
        self.precondition_columns.extend(columns(preconditions));
        self.effect_columns.extend(columns(effects));
        self.conflicts.push(f32::from(u8::from(conflict)));
    }

    fn finish(self, tokens: Tokens, rank: &HashMap<usize, i64>, plausible: &[i64]) -> (Batch, Targets) {
        let ranked = |inputs: &[usize]| Tensor::from_slice(&inputs.iter().map(|i| rank[i]).collect::<Vec<_>>());
        let n = self.layout.sentences as i64;
        let slots = self.slot_inputs.len() as i64;
        let batch = Batch {
            tokens,
            slots: ranked(&self.inputs).view([-1, n]),
            mask: Tensor::from_slice(&self.mask).view([-1, n]),
            row_story: Tensor::from_slice(&self.row_story),
            pairs: plausible.len() as i64,
        };
        let targets = Targets {
            slot_input: ranked(&self.slot_inputs),
            precondition_columns: Tensor::from_slice(&self.precondition_columns).view([slots, ATTRIBUTES as i64]),
            effect_columns: Tensor::from_slice(&self.effect_columns).view([slots, ATTRIBUTES as i64]),
            slot_place: Tensor::from_slice(&self.slot_place),
            conflicts: Tensor::from_slice(&self.conflicts),
            plausible: Tensor::from_slice(plausible),
        };
        (batch, targets)
    }
}

/// The column of each attribute's class among the logits of a side.
fn columns(classes: &Classes) -> impl Iterator<Item = i64> + '_ {
    Attribute::ALL.into_iter().zip(classes).map(|(attribute, &class)| attribute.offset() as i64 + i64::from(class))
}

/// Packs the distinct ones of `wanted` end to end, shortest first, and says where each went.
fn pack(inputs: &[Vec<i64>], wanted: &[usize]) -> (Tokens, HashMap<usize, i64>) {
    let mut order = wanted.to_vec();
    order.sort_unstable_by_key(|&i| (inputs[i].len(), i));
    order.dedup();
    let rank = order.iter().enumerate().map(|(r, &i)| (i, r as i64)).collect();
    (Tokens::pack(order.iter().map(|&i| inputs[i].as_slice())), rank)
}

impl Tokens {
    /// Lays sequences end to end. They must come sorted by length.
    pub fn pack<'a>(sequences: impl Iterator<Item = &'a [i64]>) -> Self {
        let (mut ids, mut positions, mut first) = (Vec::new(), Vec::new(), Vec::new());
        let mut groups: Vec<LengthGroup> = Vec::new();
        for sequence in sequences {
            first.push(ids.len() as i64);
            ids.extend_from_slice(sequence);
            positions.extend(0..sequence.len() as i64);
            match groups.last_mut() {
                Some(group) if group.length == sequence.len() as i64 => group.count += 1,
                _ => groups.push(LengthGroup { count: 1, length: sequence.len() as i64 }),
            }
        }
        Tokens {
            ids: Tensor::from_slice(&ids),
            positions: Tensor::from_slice(&positions),
            first: Tensor::from_slice(&first),
            groups,
        }
    }

    /// T.
    pub fn len(&self) -> i64 {
        self.ids.size()[0]
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn to_device(&self, device: Device) -> Self {
        Tokens {
            ids: self.ids.to_device(device),
            positions: self.positions.to_device(device),
            first: self.first.to_device(device),
            groups: self.groups.clone(),
        }
    }
}

impl Batch {
    pub fn to_device(&self, device: Device) -> Self {
        Batch {
            tokens: self.tokens.to_device(device),
            slots: self.slots.to_device(device),
            mask: self.mask.to_device(device),
            row_story: self.row_story.to_device(device),
            pairs: self.pairs,
        }
    }

    /// `[R, N]` 1.0 where `mask` is true.
    pub fn mask_f32(&self) -> Tensor {
        self.mask.to_kind(Kind::Float)
    }
}

impl Targets {
    pub fn to_device(&self, device: Device) -> Self {
        Targets {
            slot_input: self.slot_input.to_device(device),
            precondition_columns: self.precondition_columns.to_device(device),
            effect_columns: self.effect_columns.to_device(device),
            slot_place: self.slot_place.to_device(device),
            conflicts: self.conflicts.to_device(device),
            plausible: self.plausible.to_device(device),
        }
    }
}
