//! A type for each index space of a batch (drawn in the module's doc), so that a number of one can't be used in another.

use tch::Tensor;

/// The number of an (entity, sentence) input in the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputNumber(pub usize);

impl InputNumber {
    /// The padding: an empty entity in an empty sentence.
    pub const PADDING: Self = InputNumber(0);
}

/// The number of a distinct token sequence in the corpus, from which inputs are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceNumber(pub usize);

/// The number of a distinct story in the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoryNumber(pub usize);

/// A sentence of a distinct story of the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SentencePlace {
    pub story: StoryNumber,
    /// Counted from 0, in its story.
    pub sentence: usize,
}

/// One of the U unique inputs of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UniqueInput(pub usize);

/// One of the S distinct stories of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistinctStory(pub usize);

/// One of the D distinct rows of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistinctRow(pub usize);

/// One of the S·N sentences of the distinct stories: N·story + sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentenceIndex(pub usize);

/// One of the O tokens of a batch whose output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadIndex(pub usize);

/// One of the R·N cells of a batch: N·row + sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellIndex(pub usize);

/// Implements [`Index`] for types that hold one number.
macro_rules! indices {
    ($($index:ident),+) => {
        $(impl Index for $index {
            fn number(self) -> usize {
                self.0
            }
        })+
    };
}

/// A number of one of the index spaces.
pub trait Index {
    fn number(self) -> usize;
}

indices!(InputNumber, SequenceNumber, UniqueInput, DistinctStory, DistinctRow, SentenceIndex, ReadIndex, CellIndex);

/// Indices as a tensor of 64-bit integers.
pub fn index_tensor<I: Index>(indices: impl IntoIterator<Item = I>) -> Tensor {
    Tensor::from_slice(&indices.into_iter().map(|index| index.number() as i64).collect::<Vec<i64>>())
}
