//! The distinct token sequences of a batch, each encoded once, laid end to end.

use super::corpus::Corpus;
use super::index::{DistinctStory, InputNumber, ReadIndex, StoryNumber, UniqueInput};
use super::tokens::Tokens;
use crate::tokenizer::TokenSequence;
use std::collections::HashMap;

/// The sequences of a batch, and where each of them went.
pub struct Packed {
    pub tokens: Tokens,
    /// The U unique inputs, with their first tokens.
    pub inputs: Vec<(InputNumber, ReadIndex)>,
    /// The S distinct stories, with the first token of their sentences.
    pub stories: Vec<(StoryNumber, ReadIndex)>,
    unique: HashMap<InputNumber, UniqueInput>,
    distinct: HashMap<StoryNumber, DistinctStory>,
}

/// A sequence to pack. Of the same length, inputs come before stories.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sequence {
    Input(InputNumber),
    Story(StoryNumber),
}

impl Sequence {
    fn tokens(self, corpus: &Corpus) -> &TokenSequence {
        match self {
            Sequence::Input(input) => corpus.input(input),
            Sequence::Story(story) => &corpus.story(story).tokens,
        }
    }

    /// The tokens whose output is read: of an input the first one, of a story those of its sentences.
    fn read(self, corpus: &Corpus) -> Vec<usize> {
        match self {
            Sequence::Input(_) => vec![0],
            Sequence::Story(story) => {
                let sentences = corpus.story(story).sentences.iter().enumerate();
                sentences.filter_map(|(token, sentence)| sentence.map(|_| token)).collect()
            }
        }
    }
}

impl Packed {
    /// Packs inputs and stories, which may occur several times.
    pub fn new(corpus: &Corpus, inputs: impl Iterator<Item = InputNumber>, stories: &[StoryNumber]) -> Self {
        let mut sequences: Vec<Sequence> = inputs.map(Sequence::Input).collect();
        sequences.extend(stories.iter().copied().map(Sequence::Story));
        sequences.sort_unstable_by_key(|&sequence| (sequence.tokens(corpus).len(), sequence));
        sequences.dedup();

        let (mut inputs, mut stories, mut laid) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = ReadIndex(0);
        let mut encoded: HashMap<&TokenSequence, ReadIndex> = HashMap::new();
        for sequence in sequences {
            let tokens = sequence.tokens(corpus);
            let first = match sequence {
                // The same words in another sentence are another input, but they are encoded once only.
                Sequence::Input(_) if corpus.tells_places_apart() => *encoded.entry(tokens).or_insert(end),
                _ => end,
            };
            match sequence {
                Sequence::Input(input) => inputs.push((input, first)),
                Sequence::Story(story) => stories.push((story, first)),
            }
            if first == end {
                let read = sequence.read(corpus);
                end = ReadIndex(end.0 + read.len());
                laid.push((tokens, read));
            }
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
