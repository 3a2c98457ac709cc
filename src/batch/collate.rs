//! Turns some pairs of a corpus into tensors: what the model reads ([`Batch`]) and what the loss compares it to
//! ([`Targets`]).

use super::corpus::{Corpus, PADDING_INPUT};
use super::sample::{Drawn, Sample};
use super::tokenize::TokenSequence;
use super::tokens::Tokens;
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::{Classes, Conflict, Entity, Pair, Story};
use std::collections::{BTreeSet, HashMap};
use tch::{Device, Kind, Tensor};

/// How pairs are laid out as rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// N, the columns of every row: at least the sentences of the longest story.
    pub sentences: usize,
    /// If set, every story is padded like in TRIP's code: with empty entities up to this many, and with empty sentences
    /// up to N. The losses then average over the padding too. If `None`, they average over real cells only.
    pub pad_to_entities: Option<usize>,
}

/// The model's input: B pairs as R rows of N sentences, one row for each entity of each story.
pub struct Batch {
    /// The tokens of the U unique inputs and, if the model reads whole stories, of the distinct stories.
    pub tokens: Tokens,
    /// `[U]` index of the first token of each input.
    pub first: Tensor,
    /// `[U]` number of each input in the corpus.
    pub inputs: Tensor,
    /// `[R, N]` which of the U inputs this cell reads; the padding input where `mask` is false.
    pub cells: Tensor,
    /// `[R, N]` true where the row's story has that sentence and that entity.
    pub mask: Tensor,
    /// `[R]` the row's story, 2·pair + 0 or 1.
    pub row_story: Tensor,
    /// `[R]` how many of the story's entities the row stands for: 1, unless entities were sampled.
    pub row_weight: Tensor,
    /// B.
    pub pairs: i64,
    /// Where the sentences of the distinct stories are, if the model reads whole stories.
    pub stories: Option<StoryTokens>,
}

/// The tokens of the sentences of S distinct stories. Each story is encoded as one input.
pub struct StoryTokens {
    /// S.
    pub distinct: i64,
    /// Indices among the T tokens: those of the stories' tokens, without special tokens.
    pub token: Tensor,
    /// The sentence of each of these tokens, as N·story + sentence.
    pub sentence: Tensor,
    /// `[2B]` which of the S distinct stories each story of the batch is.
    pub of_story: Tensor,
    /// `[U]` the sentence in which each input stands, as N·story + sentence; 0 for the padding input. Only if an input
    /// is identified by its sentence too.
    pub of_input: Option<Tensor>,
}

/// Gold answers for a batch, as lists over the C cells that the losses average over.
pub struct Targets {
    /// `[C]` which of the U inputs the cell holds.
    pub cell_input: Tensor,
    /// `[C]` the weight of its row.
    pub cell_weight: Tensor,
    /// `[C, A]` column of the gold class among the 66 logits of the preconditions.
    pub precondition_columns: Tensor,
    /// `[C, A]` the same for the effects.
    pub effect_columns: Tensor,
    /// `[C]` the index of the cell in the flattened `[R, N]` conflict probabilities.
    pub cell_index: Tensor,
    /// `[C]` 1 where the sentence takes part in the conflict.
    pub conflicts: Tensor,
    /// `[B]` index of the plausible story.
    pub plausible: Tensor,
    /// `[B]` index of the gold conflict in the flattened `[2, N, N]`: story, evidence, breakpoint.
    pub gold_pair: Tensor,
}

impl Corpus {
    /// Collates the pairs with these indices.
    ///
    /// # Panics
    /// If a story is longer than `layout.sentences`. Callers take N from the model and check the corpus first.
    pub fn batch(&self, pairs: &[usize], layout: Layout) -> (Batch, Targets) {
        self.batch_of(pairs, &Sample::all(self, pairs), layout)
    }

    /// Like [`Corpus::batch`], with a sample of the entities and inputs. An entity that was not drawn has no row. An
    /// input that was not drawn is replaced by the padding input and is no target.
    pub fn batch_of(&self, pairs: &[usize], sample: &Sample, layout: Layout) -> (Batch, Targets) {
        let mut rows = Rows::new(layout, &sample.inputs);
        for (b, (&p, entities)) in pairs.iter().zip(&sample.entities).enumerate() {
            for (s, story) in self.pairs[p].stories.iter().enumerate() {
                rows.push_story(2 * b + s, story, &self.cells[p][s], &entities[s]);
            }
        }
        let packed = Packed::new(self, &rows.inputs, pairs, layout);
        rows.finish(packed, pairs.iter().map(|&p| &self.pairs[p]))
    }

    /// The number of tokens that are encoded for a batch of these pairs: those of its unique inputs and, if the model
    /// reads whole stories, of its distinct stories.
    pub fn unique_tokens(&self, pairs: &[usize]) -> usize {
        let inputs = Sample::all(self, pairs).inputs;
        let stories: BTreeSet<usize> =
            pairs.iter().filter_map(|&p| self.story_numbers.get(p)).flatten().copied().collect();
        let of_inputs: usize = inputs.iter().map(|&i| self.inputs[i].len()).sum();
        of_inputs + stories.iter().map(|&i| self.stories[i].tokens.len()).sum::<usize>()
    }
}

/// The unique inputs of a batch, packed, and where each input went.
struct Packed {
    tokens: Tokens,
    first: Tensor,
    /// `[U]` number of each input in the corpus.
    inputs: Tensor,
    /// Number of an input in the corpus -> its index among the U inputs.
    rank: HashMap<usize, i64>,
    stories: Option<StoryTokens>,
}

/// A sequence to pack, with its number in the corpus.
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
                    // The same words in another sentence are another input, but they are encoded once only.
                    let at =
                        if corpus.story_positions.is_empty() { start } else { *encoded.entry(tokens).or_insert(start) };
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
    /// `starts`: the distinct stories and their first tokens. `stories`: the stories of the batch, by number in the
    /// corpus. `inputs`: the U inputs.
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
        let of_input = (!corpus.story_positions.is_empty()).then(|| {
            let position = |input: &usize| {
                corpus.story_positions[*input].map_or(0, |(story, n)| number[&story] * sentences as i64 + n as i64)
            };
            Tensor::from_slice(&inputs.iter().map(position).collect::<Vec<i64>>())
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

/// Rows under construction. Inputs still have their numbers in the corpus.
struct Rows<'a> {
    layout: Layout,
    /// The inputs that are encoded.
    encoded: &'a BTreeSet<usize>,
    inputs: Vec<usize>,
    mask: Vec<bool>,
    row_story: Vec<i64>,
    row_weight: Vec<f32>,
    cell_inputs: Vec<usize>,
    cell_weight: Vec<f32>,
    precondition_columns: Vec<i64>,
    effect_columns: Vec<i64>,
    cell_index: Vec<i64>,
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
            cell_inputs: Vec::new(),
            cell_weight: Vec::new(),
            precondition_columns: Vec::new(),
            effect_columns: Vec::new(),
            cell_index: Vec::new(),
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
                    self.push_cell(input, &entity.preconditions[n], &entity.effects[n], is_gold);
                }
                _ if self.layout.pad_to_entities.is_some() => self.push_cell(PADDING_INPUT, &NOTHING, &NOTHING, false),
                _ => {}
            }
        }
    }

    /// Adds the cell of the row and sentence that was pushed last.
    fn push_cell(&mut self, input: usize, preconditions: &Classes, effects: &Classes, conflict: bool) {
        self.cell_inputs.push(input);
        self.cell_weight.extend(self.row_weight.last());
        self.cell_index.push(self.inputs.len() as i64 - 1);
        self.precondition_columns.extend(columns(preconditions));
        self.effect_columns.extend(columns(effects));
        self.conflicts.push(f32::from(u8::from(conflict)));
    }

    fn finish<'p>(self, packed: Packed, pairs: impl Iterator<Item = &'p Pair>) -> (Batch, Targets) {
        let Packed { tokens, first, inputs, rank, stories } = packed;
        let (plausible, gold_pair): (Vec<i64>, Vec<i64>) =
            pairs.map(|pair| (pair.plausible as i64, gold_pair(pair, self.layout.sentences) as i64)).unzip();
        let ranked = |inputs: &[usize]| Tensor::from_slice(&inputs.iter().map(|i| rank[i]).collect::<Vec<_>>());
        let n = self.layout.sentences as i64;
        let cells = self.cell_inputs.len() as i64;
        let batch = Batch {
            tokens,
            first,
            inputs,
            stories,
            cells: ranked(&self.inputs).view([-1, n]),
            mask: Tensor::from_slice(&self.mask).view([-1, n]),
            row_story: Tensor::from_slice(&self.row_story),
            row_weight: Tensor::from_slice(&self.row_weight),
            pairs: plausible.len() as i64,
        };
        let targets = Targets {
            cell_input: ranked(&self.cell_inputs),
            cell_weight: Tensor::from_slice(&self.cell_weight),
            precondition_columns: Tensor::from_slice(&self.precondition_columns).view([cells, ATTRIBUTES as i64]),
            effect_columns: Tensor::from_slice(&self.effect_columns).view([cells, ATTRIBUTES as i64]),
            cell_index: Tensor::from_slice(&self.cell_index),
            conflicts: Tensor::from_slice(&self.conflicts),
            plausible: Tensor::from_slice(&plausible),
            gold_pair: Tensor::from_slice(&gold_pair),
        };
        (batch, targets)
    }
}

/// Index of the gold conflict in the flattened `[2, N, N]` of a pair.
fn gold_pair(pair: &Pair, n: usize) -> usize {
    ((1 - pair.plausible) * n + pair.conflict.evidence) * n + pair.conflict.breakpoint
}

/// The column of each attribute's class among the 66 logits of a side.
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
            cells: self.cells.to_device(device),
            mask: self.mask.to_device(device),
            row_story: self.row_story.to_device(device),
            row_weight: self.row_weight.to_device(device),
            pairs: self.pairs,
        }
    }

    /// The same batch for an encoder output with one vector for each input, in their order.
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
            of_input: self.of_input.as_ref().map(|sentences| sentences.to_device(device)),
        }
    }
}

impl Targets {
    pub fn to_device(&self, device: Device) -> Self {
        Targets {
            cell_input: self.cell_input.to_device(device),
            cell_weight: self.cell_weight.to_device(device),
            precondition_columns: self.precondition_columns.to_device(device),
            effect_columns: self.effect_columns.to_device(device),
            cell_index: self.cell_index.to_device(device),
            conflicts: self.conflicts.to_device(device),
            plausible: self.plausible.to_device(device),
            gold_pair: self.gold_pair.to_device(device),
        }
    }
}
