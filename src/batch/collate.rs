//! Some pairs of a corpus -> tensors: what the model reads ([`Batch`]) and what the loss compares it to ([`Targets`]).

use super::corpus::{Corpus, PADDING_INPUT};
use super::sample::Drawn;
use super::{Sample, TokenSequence, Tokens};
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::{Classes, Conflict, Entity, Pair, Story};
use std::collections::{BTreeSet, HashMap};
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

/// The model's input: B pairs as R rows, one for each (story, entity), of N sentences.
pub struct Batch {
    /// The U distinct (entity, sentence) inputs and, where they are read, the distinct stories.
    pub tokens: Tokens,
    /// `[U]` index of each (entity, sentence) input's first token.
    pub first: Tensor,
    /// `[U]` number of each of these inputs in the corpus.
    pub inputs: Tensor,
    /// `[R, N]` which of the U inputs is at this place; the padding's where `mask` is false.
    pub slots: Tensor,
    /// `[R, N]` true where the row's story has that sentence and that entity.
    pub mask: Tensor,
    /// `[R]` the row's story, 2·pair + 0 or 1.
    pub row_story: Tensor,
    /// `[R]` how many of the story's entities the row stands for: 1 unless some were drawn.
    pub row_weight: Tensor,
    /// B.
    pub pairs: i64,
    /// Where the sentences of whole stories are, if whole stories are read.
    pub stories: Option<StoryTokens>,
}

/// The tokens of the sentences of V distinct stories, each encoded as one input.
pub struct StoryTokens {
    /// V.
    pub distinct: i64,
    /// `[K]` which of the T tokens.
    pub token: Tensor,
    /// `[K]` the sentence it is in, as N·story + sentence.
    pub sentence: Tensor,
    /// `[2B]` which distinct story each story of the batch is.
    pub of_story: Tensor,
    /// `[U]` the sentence that each (entity, sentence) input stands in, as N·story + sentence, where inputs are told
    /// apart by it; 0 for the padding.
    pub of_input: Option<Tensor>,
}

/// Gold answers for a batch, as lists over the S slots (places of rows) that the losses average over.
pub struct Targets {
    /// `[S]` which of the U inputs the slot holds.
    pub slot_input: Tensor,
    /// `[S]` the weight of its row.
    pub slot_weight: Tensor,
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
    /// `[B]` the gold conflict's place in the flattened `[2, N, N]`: story, evidence, breakpoint.
    pub gold_place: Tensor,
}

impl Corpus {
    /// Collates pairs, given by their index.
    ///
    /// # Panics
    /// If a story is longer than `layout.sentences`; callers take N from the model and check the corpus first.
    pub fn batch(&self, pairs: &[usize], layout: Layout) -> (Batch, Targets) {
        self.batch_of(pairs, &Sample::all(self, pairs), layout)
    }

    /// The same with some of the entities and (entity, sentence) inputs only. An entity that was not drawn has no row;
    /// for an input that was not the padding stands in, and it is no target.
    pub fn batch_of(&self, pairs: &[usize], sample: &Sample, layout: Layout) -> (Batch, Targets) {
        let mut rows = Rows::new(layout, &sample.inputs);
        for (b, (&p, entities)) in pairs.iter().zip(&sample.entities).enumerate() {
            for (s, story) in self.pairs[p].stories.iter().enumerate() {
                rows.push_story(2 * b + s, story, &self.slots[p][s], &entities[s]);
            }
        }
        let packed = Packed::new(self, &rows.inputs, pairs, layout);
        rows.finish(packed, pairs.iter().map(|&p| &self.pairs[p]))
    }

    /// Tokens that a batch of these pairs encodes: those of its distinct inputs and, where they are read, its distinct
    /// stories.
    pub fn unique_tokens(&self, pairs: &[usize]) -> usize {
        let inputs = Sample::all(self, pairs).inputs;
        let stories: BTreeSet<usize> =
            pairs.iter().filter_map(|&p| self.story_numbers.get(p)).flatten().copied().collect();
        let of_inputs: usize = inputs.iter().map(|&i| self.inputs[i].len()).sum();
        of_inputs + stories.iter().map(|&i| self.stories[i].tokens.len()).sum::<usize>()
    }
}

/// The distinct inputs of a batch, packed, and where each went.
struct Packed {
    tokens: Tokens,
    first: Tensor,
    /// Number in the corpus of each of the U.
    inputs: Tensor,
    /// Number of an input in the corpus -> which of the U it is.
    rank: HashMap<usize, i64>,
    stories: Option<StoryTokens>,
}

/// A sequence to pack, by its number in the corpus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sequence {
    Input(usize),
    Story(usize),
}

impl Packed {
    fn new(corpus: &Corpus, inputs: &[usize], pairs: &[usize], layout: Layout) -> Self {
        let stories: Vec<usize> = match corpus.stories.is_empty() {
            true => Vec::new(),
            false => pairs.iter().flat_map(|&p| corpus.story_numbers[p]).collect(),
        };
        let tokens_of = |sequence: &Sequence| match *sequence {
            Sequence::Input(i) => &corpus.inputs[i],
            Sequence::Story(i) => &corpus.stories[i].tokens,
        };
        let mut order: Vec<Sequence> = inputs.iter().map(|&i| Sequence::Input(i)).collect();
        order.extend(stories.iter().map(|&i| Sequence::Story(i)));
        order.sort_unstable_by_key(|sequence| (tokens_of(sequence).len(), *sequence));
        order.dedup();

        let (mut first, mut rank, mut starts) = (Vec::new(), HashMap::new(), Vec::new());
        let (mut packed, mut start) = (Vec::new(), 0);
        let mut encoded: HashMap<&TokenSequence, i64> = HashMap::new();
        for sequence in &order {
            let tokens = tokens_of(sequence);
            match *sequence {
                Sequence::Input(i) => {
                    rank.insert(i, first.len() as i64);
                    // The same words in another place are another input, and encoded once all the same.
                    let at = if corpus.places.is_empty() { start } else { *encoded.entry(tokens).or_insert(start) };
                    first.push(at);
                    if at != start {
                        continue;
                    }
                }
                Sequence::Story(i) => starts.push((i, start)),
            }
            packed.push(tokens);
            start += tokens.len() as i64;
        }
        let tokens = Tokens::pack(packed.into_iter());
        let inputs = order.iter().filter_map(|sequence| match *sequence {
            Sequence::Input(i) => Some(i),
            Sequence::Story(_) => None,
        });
        let inputs: Vec<usize> = inputs.collect();
        let stories =
            (!stories.is_empty()).then(|| StoryTokens::new(corpus, &starts, &stories, &inputs, layout.sentences));
        let inputs: Vec<i64> = inputs.iter().map(|&input| input as i64).collect();
        Packed { tokens, first: Tensor::from_slice(&first), inputs: Tensor::from_slice(&inputs), rank, stories }
    }
}

impl StoryTokens {
    /// `starts`: the distinct stories with their first token; `stories`: those of the batch, by number in the corpus;
    /// `inputs`: the U inputs.
    fn new(corpus: &Corpus, starts: &[(usize, i64)], stories: &[usize], inputs: &[usize], sentences: usize) -> Self {
        let (mut token, mut sentence) = (Vec::new(), Vec::new());
        for (v, &(story, start)) in starts.iter().enumerate() {
            for (t, of) in corpus.stories[story].sentences.iter().enumerate() {
                if let Some(n) = of {
                    token.push(start + t as i64);
                    sentence.push((v * sentences + n) as i64);
                }
            }
        }
        let number: HashMap<usize, i64> = starts.iter().enumerate().map(|(v, &(story, _))| (story, v as i64)).collect();
        let of_story: Vec<i64> = stories.iter().map(|story| number[story]).collect();
        let of_input = (!corpus.places.is_empty()).then(|| {
            let place = |input: &usize| {
                corpus.places[*input].map_or(0, |(story, n)| number[&story] * sentences as i64 + n as i64)
            };
            Tensor::from_slice(&inputs.iter().map(place).collect::<Vec<i64>>())
        });
        StoryTokens {
            distinct: starts.len() as i64,
            token: Tensor::from_slice(&token),
            sentence: Tensor::from_slice(&sentence),
            of_story: Tensor::from_slice(&of_story),
            of_input,
        }
    }
}

/// Rows under construction; inputs are still numbered as in the corpus.
struct Rows<'a> {
    layout: Layout,
    /// Those that are encoded.
    encoded: &'a BTreeSet<usize>,
    inputs: Vec<usize>,
    mask: Vec<bool>,
    row_story: Vec<i64>,
    row_weight: Vec<f32>,
    slot_inputs: Vec<usize>,
    slot_weight: Vec<f32>,
    precondition_columns: Vec<i64>,
    effect_columns: Vec<i64>,
    slot_place: Vec<i64>,
    conflicts: Vec<f32>,
}

const NOTHING: Classes = [0; ATTRIBUTES];

impl<'a> Rows<'a> {
    fn new(layout: Layout, encoded: &'a BTreeSet<usize>) -> Self {
        Rows {
            layout,
            encoded,
            inputs: Vec::new(),
            mask: Vec::new(),
            row_story: Vec::new(),
            row_weight: Vec::new(),
            slot_inputs: Vec::new(),
            slot_weight: Vec::new(),
            precondition_columns: Vec::new(),
            effect_columns: Vec::new(),
            slot_place: Vec::new(),
            conflicts: Vec::new(),
        }
    }

    fn push_story(&mut self, number: usize, story: &Story, inputs: &[Vec<usize>], drawn: &[Drawn]) {
        assert!(story.sentences.len() <= self.layout.sentences, "story {} is longer than the layout", story.id);
        for &Drawn { entity: e, weight } in drawn {
            let entity = &story.entities[e];
            self.row_weight.push(weight);
            self.push_row(number, Some((entity, story.conflict_target(entity))), &inputs[e]);
        }
        for _ in story.entities.len()..self.layout.pad_to_entities.unwrap_or(0) {
            self.row_weight.push(1.);
            self.push_row(number, None, &[]);
        }
    }

    fn push_row(&mut self, story: usize, entity: Option<(&Entity, Option<Conflict>)>, inputs: &[usize]) {
        self.row_story.push(story as i64);
        for n in 0..self.layout.sentences {
            let input = inputs.get(n).copied();
            self.mask.push(input.is_some());
            let encoded = input.filter(|input| self.encoded.contains(input));
            self.inputs.push(encoded.unwrap_or(PADDING_INPUT));
            match (encoded, entity) {
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
        self.slot_weight.extend(self.row_weight.last());
        self.slot_place.push(self.inputs.len() as i64 - 1);
        self.precondition_columns.extend(columns(preconditions));
        self.effect_columns.extend(columns(effects));
        self.conflicts.push(f32::from(u8::from(conflict)));
    }

    fn finish<'p>(self, packed: Packed, pairs: impl Iterator<Item = &'p Pair>) -> (Batch, Targets) {
        let Packed { tokens, first, inputs, rank, stories } = packed;
        let (plausible, gold_place): (Vec<i64>, Vec<i64>) =
            pairs.map(|pair| (pair.plausible as i64, gold_place(pair, self.layout.sentences) as i64)).unzip();
        let ranked = |inputs: &[usize]| Tensor::from_slice(&inputs.iter().map(|i| rank[i]).collect::<Vec<_>>());
        let n = self.layout.sentences as i64;
        let slots = self.slot_inputs.len() as i64;
        let batch = Batch {
            tokens,
            first,
            inputs,
            stories,
            slots: ranked(&self.inputs).view([-1, n]),
            mask: Tensor::from_slice(&self.mask).view([-1, n]),
            row_story: Tensor::from_slice(&self.row_story),
            row_weight: Tensor::from_slice(&self.row_weight),
            pairs: plausible.len() as i64,
        };
        let targets = Targets {
            slot_input: ranked(&self.slot_inputs),
            slot_weight: Tensor::from_slice(&self.slot_weight),
            precondition_columns: Tensor::from_slice(&self.precondition_columns).view([slots, ATTRIBUTES as i64]),
            effect_columns: Tensor::from_slice(&self.effect_columns).view([slots, ATTRIBUTES as i64]),
            slot_place: Tensor::from_slice(&self.slot_place),
            conflicts: Tensor::from_slice(&self.conflicts),
            plausible: Tensor::from_slice(&plausible),
            gold_place: Tensor::from_slice(&gold_place),
        };
        (batch, targets)
    }
}

/// The gold conflict in the flattened `[2, N, N]` of a pair.
fn gold_place(pair: &Pair, n: usize) -> usize {
    ((1 - pair.plausible) * n + pair.conflict.evidence) * n + pair.conflict.breakpoint
}

/// The column of each attribute's class among the logits of a side.
fn columns(classes: &Classes) -> impl Iterator<Item = i64> + '_ {
    Attribute::ALL.into_iter().zip(classes).map(|(attribute, &class)| attribute.offset() as i64 + i64::from(class))
}

impl Batch {
    pub fn to_device(&self, device: Device) -> Self {
        Batch {
            tokens: self.tokens.to_device(device),
            first: self.first.to_device(device),
            inputs: self.inputs.to_device(device),
            stories: self.stories.as_ref().map(|stories| stories.to_device(device)),
            slots: self.slots.to_device(device),
            mask: self.mask.to_device(device),
            row_story: self.row_story.to_device(device),
            row_weight: self.row_weight.to_device(device),
            pairs: self.pairs,
        }
    }

    /// The same batch for an encoder's output of one vector an input, in their order.
    pub fn of_vectors(self) -> Self {
        Batch { first: Tensor::arange(self.inputs.size()[0], (Kind::Int64, self.inputs.device())), ..self }
    }

    /// `[R, N]` 1.0 where `mask` is true.
    pub fn mask_f32(&self) -> Tensor {
        self.mask.to_kind(Kind::Float)
    }

    /// Adds up the rows of each story. `[R, ..]` -> `[2B, ..]`
    pub fn sum_over_rows(&self, rows: &Tensor) -> Tensor {
        let mut shape = rows.size();
        shape[0] = 2 * self.pairs;
        Tensor::zeros(&shape, (rows.kind(), rows.device())).index_add(0, &self.row_story, rows)
    }

    /// `[2B, N]` 1.0 where the story has that sentence.
    pub fn sentences_present(&self) -> Tensor {
        self.sum_over_rows(&self.mask_f32()).clamp_max(1.)
    }
}

impl StoryTokens {
    fn to_device(&self, device: Device) -> Self {
        StoryTokens {
            distinct: self.distinct,
            token: self.token.to_device(device),
            sentence: self.sentence.to_device(device),
            of_story: self.of_story.to_device(device),
            of_input: self.of_input.as_ref().map(|places| places.to_device(device)),
        }
    }
}

impl Targets {
    pub fn to_device(&self, device: Device) -> Self {
        Targets {
            slot_input: self.slot_input.to_device(device),
            slot_weight: self.slot_weight.to_device(device),
            precondition_columns: self.precondition_columns.to_device(device),
            effect_columns: self.effect_columns.to_device(device),
            slot_place: self.slot_place.to_device(device),
            conflicts: self.conflicts.to_device(device),
            plausible: self.plausible.to_device(device),
            gold_place: self.gold_place.to_device(device),
        }
    }
}
