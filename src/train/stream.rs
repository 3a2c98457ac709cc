//! The pairs that a run trains on: all in memory, or made for each step.

use super::order::MixtureComponent;
use crate::batch::Corpus;
use crate::error::Result;
use std::sync::Arc;

/// Pairs that are not in memory. They are made, or read from a file, when a step needs them.
///
/// A pair is named by its epoch and its number in it, and is the same whenever and in whichever order it is asked for.
pub trait PairStream: Send + Sync {
    /// The story group of a pair: pairs of one source with the same number share their plausible story.
    fn group(&self, epoch: u64, pair: usize) -> i64;

    /// These pairs of an epoch, in this order, tokenized.
    ///
    /// # Errors
    /// `Data` or `Io` if they can't be made or read, or if the model can't read them.
    fn corpus(&self, epoch: u64, pairs: &[usize]) -> Result<Corpus>;
}

/// A stream, and how many threads work ahead of the steps.
#[derive(Clone)]
pub struct Streamed {
    /// Where the pairs come from.
    pub pairs: Arc<dyn PairStream>,
    /// Their number changes no result.
    pub workers: usize,
}

/// The pairs of a training run.
pub struct TrainPairs {
    /// All pairs; of a stream only the first ones, which stand for the others where a property of all is needed.
    pub corpus: Corpus,
    /// Which pairs are trained on in which epochs: indices in the corpus, or numbers in the stream.
    pub parts: Vec<MixtureComponent>,
    /// `None` if all pairs are in memory.
    pub stream: Option<Streamed>,
}

impl TrainPairs {
    /// The number of pairs of all sources; of synthetic stories, those of an epoch.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.pairs.len()).sum()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The token ids whose embeddings training may change: all that occur; of a stream, all of the `vocabulary`.
    pub fn token_ids(&self, vocabulary: i64) -> Vec<i64> {
        match self.stream {
            None => self.corpus.token_ids(),
            Some(_) => (0..vocabulary).collect(),
        }
    }
}
