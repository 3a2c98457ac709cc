//! Reads Hugging Face's tokenizer files, and turns text into token ids. It knows nothing of batches.

mod json;
mod tokenize;

pub use json::tokenizer_json;
pub use tokenize::{InputTokenizer, StoryInput, TokenSequence};

/// Starts the threads that tokenize, which otherwise start at the first text. They run on the cores of the thread that
/// starts them.
pub fn start_threads() {
    use tokenizers::utils::parallelism::MaybeParallelIterator;
    vec![(); 2].into_maybe_par_iter().for_each(drop);
}
