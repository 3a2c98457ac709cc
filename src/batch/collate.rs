//! Turns some pairs of a corpus into tensors: what the model reads ([`Batch`]) and what the loss compares it to
//! ([`Targets`]).

use super::corpus::Corpus;
use super::distinct::DistinctRows;
use super::index::{SequenceNumber, StoryNumber, index_tensor};
use super::input_tokens::InputTokens;
use super::packed::Packed;
use super::rows::{Layout, Row};
use super::sample::Sample;
use super::story_tokens::StoryTokens;
use super::targets::Targets;
use super::tokens::Tokens;
use crate::data::Pair;
use std::collections::BTreeSet;
use tch::{Kind, Tensor};

/// The model's input: B pairs as R rows of N sentences, one row for each entity of each story.
pub struct Batch {
    /// The tokens of the U unique inputs and, if the model reads whole stories, of the distinct stories.
    pub tokens: Tokens,
    /// Which tokens the U inputs read.
    pub read: InputTokens,
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
    /// Equal rows once.
    pub distinct: DistinctRows,
    /// B.
    pub pairs: i64,
    /// Where the sentences of the distinct stories are, if the model reads whole stories.
    pub stories: Option<StoryTokens>,
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
        let rows = self.rows(pairs, sample, layout);
        let stories = self.story_numbers(pairs);
        let inputs = rows.iter().flat_map(|row| row.cells.iter().map(|cell| cell.input));
        let packed = Packed::new(self, inputs, &stories);
        let targets = Targets::new(&rows, &packed, pairs.iter().map(|&p| &self.pairs[p]), layout.sentences);
        let whole = (!stories.is_empty()).then(|| StoryTokens::new(self, &packed, &stories, layout.sentences));
        (Batch::new(&rows, packed, whole, pairs.len(), layout.sentences), targets)
    }

    /// The rows of the pairs, in their order.
    fn rows(&self, pairs: &[usize], sample: &Sample, layout: Layout) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for (b, (&p, drawn)) in pairs.iter().zip(&sample.entities).enumerate() {
            let Pair { stories, soft, .. } = &self.pairs[p];
            for (s, story) in stories.iter().enumerate() {
                let soft = soft.as_ref().map(|soft| &soft.stories[s]);
                rows.extend(layout.rows(2 * b + s, story, soft, &self.cells[p][s], &drawn[s], sample));
            }
        }
        rows
    }

    /// The weight of all cells of such a batch that the losses average over: the sum of [`Targets::cell_weight`].
    pub fn counted_cells(&self, pairs: &[usize], sample: &Sample, layout: Layout) -> f64 {
        let counted = |row: &Row| row.cells.iter().filter(|cell| cell.gold.is_some()).count() as f64;
        self.rows(pairs, sample, layout).iter().map(|row| f64::from(row.weight) * counted(row)).sum()
    }

    /// The number of tokens that are encoded for a batch of these pairs: those of its unique inputs and, if the model
    /// reads whole stories, of its distinct stories.
    pub fn unique_tokens(&self, pairs: &[usize]) -> usize {
        let stories: BTreeSet<StoryNumber> = self.story_numbers(pairs).into_iter().collect();
        let inputs = Sample::all(self, pairs).inputs.into_iter();
        let sequences: BTreeSet<SequenceNumber> = inputs.map(|input| self.input(input).sequence).collect();
        let of_inputs: usize = sequences.into_iter().map(|sequence| self.sequence(sequence).len()).sum();
        of_inputs + stories.into_iter().map(|story| self.story(story).tokens.len()).sum::<usize>()
    }
}

impl Batch {
    /// `pairs` is B, `n` is N.
    fn new(rows: &[Row], packed: Packed, stories: Option<StoryTokens>, pairs: usize, n: usize) -> Self {
        let cells = || rows.iter().flat_map(|row| &row.cells);
        let inputs = index_tensor(cells().map(|cell| packed.unique(cell.input)));
        let mask: Vec<bool> = cells().map(|cell| cell.is_present).collect();
        let row_story: Vec<i64> = rows.iter().map(|row| row.story as i64).collect();
        let row_weight: Vec<f32> = rows.iter().map(|row| row.weight).collect();
        Batch {
            distinct: DistinctRows::new(rows, &packed),
            read: InputTokens::new(&packed),
            inputs: index_tensor(packed.inputs.iter().map(|&(input, _)| input)),
            tokens: packed.tokens,
            cells: inputs.view([-1, n as i64]),
            mask: Tensor::from_slice(&mask).view([-1, n as i64]),
            row_story: Tensor::from_slice(&row_story),
            row_weight: Tensor::from_slice(&row_weight),
            pairs: pairs as i64,
            stories,
        }
    }

    pub(super) fn all_tensors(&mut self) -> Vec<&mut Tensor> {
        let Batch { tokens, read, inputs, cells, mask, row_story, row_weight, distinct, pairs: _, stories } = self;
        let of_stories = stories.iter_mut().flat_map(StoryTokens::all_tensors);
        let own = [inputs, cells, mask, row_story, row_weight];
        tokens
            .all_tensors()
            .into_iter()
            .chain(read.all_tensors())
            .chain(own)
            .chain(distinct.all_tensors())
            .chain(of_stories)
            .collect()
    }

    /// The same batch for an encoder output with one vector for each input, in their order.
    pub fn of_vectors(self) -> Self {
        Batch { read: InputTokens::one_each(self.read.count, self.inputs.device()), ..self }
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
