//! Pairs -> deduplicated token batches.
//!
//! A pair of stories repeats itself: the two stories share all but one or two sentences, and the pairs of a
//! group share one story. Every (entity, sentence) is therefore tokenized once a corpus ([`Corpus`]) and encoded
//! once a batch ([`Batch`]); rows of the batch point to the unique inputs.

mod collate;
mod corpus;
mod sample;
mod tokenize;
mod tokenizer_json;
mod tokens;

pub use collate::{Batch, Layout, StoryTokens, Targets};
pub use corpus::{ClassFrequencies, Corpus, WholeStories};
pub use sample::{Sample, Strata};
pub use tokenize::{InputTokenizer, StoryInput, TokenSequence};
pub use tokenizer_json::tokenizer_json;
pub use tokens::{LengthGroup, Tokens};
