//! The distinct token sequences of a batch, each encoded once, laid end to end.

use super::corpus::Corpus;
use super::index::{DistinctStory, InputNumber, ReadIndex, SequenceNumber, StoryNumber, UniqueInput};
use super::tokens::Tokens;
use crate::tokenizer::TokenSequence;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The sequences of a batch, and where each of them went.
pub struct Packed {
    pub tokens: Tokens,
    /// The U unique inputs, with the tokens that they read.
    pub inputs: Vec<(InputNumber, Vec<ReadIndex>)>,
    /// The S distinct stories, with the first token of their sentences.
    pub stories: Vec<(StoryNumber, ReadIndex)>,
    unique: HashMap<InputNumber, UniqueInput>,
    distinct: HashMap<StoryNumber, DistinctStory>,
}

/// A sequence to pack. Of the same length, those of inputs come before stories.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sequence {
    OfInputs(SequenceNumber),
    Story(StoryNumber),
}

impl Sequence {
    fn tokens(self, corpus: &Corpus) -> &TokenSequence {
        match self {
            Sequence::OfInputs(sequence) => corpus.sequence(sequence),
            Sequence::Story(story) => &corpus.story(story).tokens,
        }
    }

    /// The tokens whose output is read, in order: those that these inputs read, or those of the story's sentences.
    fn read(self, corpus: &Corpus, inputs: &BTreeSet<InputNumber>) -> Vec<usize> {
        let of_inputs = inputs.iter().flat_map(|&input| &corpus.input(input).read);
        let read: BTreeSet<usize> = match self {
            Sequence::OfInputs(_) => of_inputs.copied().collect(),
            Sequence::Story(story) => corpus.story(story).in_sentences().collect(),
        };
        read.into_iter().collect()
    }
}

impl Packed {
    /// Packs inputs and stories, which may occur several times.
    pub fn new(corpus: &Corpus, inputs: impl Iterator<Item = InputNumber>, stories: &[StoryNumber]) -> Self {
        let mut of_sequence: BTreeMap<(usize, Sequence), BTreeSet<InputNumber>> = BTreeMap::new();
        let key = |sequence: Sequence| (sequence.tokens(corpus).len(), sequence);
        for input in inputs {
            of_sequence.entry(key(Sequence::OfInputs(corpus.input(input).sequence))).or_default().insert(input);
        }
        for &story in stories {
            of_sequence.entry(key(Sequence::Story(story))).or_default();
        }
        let (mut inputs, mut stories, mut laid) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        for ((_, sequence), its_inputs) in of_sequence {
            let read = sequence.read(corpus, &its_inputs);
            let index = |&token: &usize| ReadIndex(end + read.partition_point(|&earlier| earlier < token));
            let of_input = |input| (input, corpus.input(input).read.iter().map(index).collect());
            inputs.extend(its_inputs.into_iter().map(of_input));
            if let Sequence::Story(story) = sequence {
                stories.push((story, ReadIndex(end)));
            }
            end += read.len();
            laid.push((sequence.tokens(corpus), read));
        }
        let unique = inputs.iter().enumerate().map(|(u, &(input, _))| (input, UniqueInput(u))).collect();
        let distinct = stories.iter().enumerate().map(|(s, &(story, _))| (story, DistinctStory(s))).collect();
        Packed { tokens: Tokens::pack_reading(laid.into_iter()), inputs, stories, unique, distinct }
    }

    /// Where an input went.
    pub fn unique(&self, input: InputNumber) -> UniqueInput {
        self.unique[&input]
    }

    /// Where a story went.
    pub fn distinct(&self, story: StoryNumber) -> DistinctStory {
        self.distinct[&story]
    }
}
