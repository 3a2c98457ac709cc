//! Reads Hugging Face's tokenizer files, and turns text into token ids. It knows nothing of batches.

mod json;
mod tokenize;

pub use json::tokenizer_json;
pub use tokenize::{InputTokenizer, StoryInput, TokenSequence};
