//! Pairs -> deduplicated token batches.
//!
//! A pair of stories repeats itself. The two stories share all but one or two sentences, and the pairs of a group share
//! one story. So every (entity, sentence) is tokenized once for a corpus ([`Corpus`]) and encoded once for a batch
//! ([`Batch`]). The rows of a batch point to its unique inputs.

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
