//! Of batches, how text becomes tokens.

#[path = "../../src/batch/tokenize.rs"]
mod tokenize;
#[path = "../../src/batch/tokenizer_json.rs"]
mod tokenizer_json;

pub use tokenize::InputTokenizer;
pub use tokenizer_json::tokenizer_json;
