//! The pairs of a run that are not all in memory.

use super::sources::SourceStories;
use crate::batch::{Corpus, Reads};
use crate::data::Pair;
use crate::error::Result;
use crate::model::EncoderConfig;
use crate::tokenizer::InputTokenizer;
use crate::train::{MixtureComponent, PairStream};

/// How many pairs are in memory while they are checked.
const CHECKED_AT_ONCE: usize = 64;

/// The sources of a run, and what is needed to tokenize their pairs.
pub struct SourceStream {
    pub stories: Vec<SourceStories>,
    /// Which pairs belong to which source.
    pub parts: Vec<MixtureComponent>,
    pub tokenizer: InputTokenizer,
    pub encoder: EncoderConfig,
    pub reads: Reads,
    /// The run's, which decides which story of a pair comes first.
    pub seed: u64,
}

impl SourceStream {
    /// The source of a pair, and the pair's number in it.
    fn place(&self, pair: usize) -> (usize, usize) {
        let source = self.parts.partition_point(|part| part.pairs.end <= pair);
        (source, pair - self.parts[source].pairs.start)
    }

    /// Tokenizes the pairs that may be too long for the encoder, before the first step.
    ///
    /// # Errors
    /// `Data` if one is.
    pub fn check_lengths(&self) -> Result<()> {
        for (stories, part) in self.stories.iter().zip(&self.parts) {
            let long = stories.perhaps_too_long(self.encoder.max_tokens());
            let long: Vec<usize> = long.into_iter().map(|pair| part.pairs.start + pair).collect();
            long.chunks(CHECKED_AT_ONCE).try_for_each(|pairs| self.corpus(1, pairs).map(drop))?;
        }
        Ok(())
    }

    fn pairs(&self, epoch: u64, pairs: &[usize]) -> Result<Vec<Pair>> {
        let places: Vec<(usize, usize)> = pairs.iter().map(|&pair| self.place(pair)).collect();
        let mut all = Vec::with_capacity(pairs.len());
        for of_source in places.chunk_by(|(a, _), (b, _)| a == b) {
            let numbers: Vec<usize> = of_source.iter().map(|&(_, number)| number).collect();
            all.extend(self.stories[of_source[0].0].pairs(epoch, &numbers, self.seed)?);
        }
        Ok(all)
    }
}

impl PairStream for SourceStream {
    fn group(&self, epoch: u64, pair: usize) -> i64 {
        let (source, number) = self.place(pair);
        self.stories[source].group(epoch, number)
    }

    fn corpus(&self, epoch: u64, pairs: &[usize]) -> Result<Corpus> {
        let pairs = self.pairs(epoch, pairs)?;
        let corpus = Corpus::new(pairs, &self.tokenizer, self.encoder.max_tokens(), self.reads)?;
        corpus.check_tokens(self.encoder.vocab_size, self.encoder.token_types())?;
        corpus.check_padding(self.encoder.padding_id())?;
        Ok(corpus)
    }
}
