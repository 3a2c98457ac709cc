//! (entity, sentence) -> token ids, with the tokenizer that came with the encoder.

use super::TokenSequence;
use crate::error::{Error, ErrorKind, Result};
use crate::outside::{self, MAX_TOKENIZER, json_error, shown};
use std::path::Path;

/// The encoder's tokenizer (`tokenizer.json`), without truncation or padding. Special tokens and types of tokens are
/// those of its own template.
pub struct InputTokenizer {
    inner: tokenizers::Tokenizer,
}

impl InputTokenizer {
    /// Reads a Hugging Face `tokenizer.json`.
    ///
    /// # Errors
    /// `MissingInput` if there is none, `Config` if it is not a tokenizer.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = outside::read_regular(path, MAX_TOKENIZER).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => Error::config(format!("{}: not a tokenizer: {error}", path.display())),
            _ => Error::reading(path, &error),
        })?;
        Self::from_json(&bytes).map_err(|error| error.about(path.display()))
    }

    /// The tokenizer in the bytes of a `tokenizer.json`.
    ///
    /// # Errors
    /// `Config` if it is not a tokenizer, or one that puts no special token first: the model reads that one.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let wrong = |problem: String| Error::config(format!("not a Hugging Face tokenizer: {problem}"));
        let mut inner = parse(bytes).map_err(wrong)?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|error| wrong(format!("truncation can't be switched off: {error}")))?;
        let probe = inner.encode(("a", "b"), true).map_err(|error| wrong(shown(&error.to_string(), 300)))?;
        match probe.get_special_tokens_mask().first() {
            Some(1) => Ok(InputTokenizer { inner }),
            _ => Err(wrong("its post-processor puts no special token, such as [CLS] or <s>, first".into())),
        }
    }

    /// Tokens of `<s> entity </s></s> sentence </s>` or `[CLS] entity [SEP] sentence [SEP]`, as the tokenizer has it,
    /// for every (entity, sentence), in parallel.
    pub fn encode(&self, inputs: Vec<(String, String)>) -> Result<Vec<TokenSequence>> {
        let encodings = self
            .inner
            .encode_batch_fast(inputs, true)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("tokenizer: {error}")))?;
        Ok(encodings.iter().map(TokenSequence::from).collect())
    }

    /// Tokens of `<s> sentence sentence ... </s>` for every story, with the sentence that each token is in.
    pub fn encode_stories(&self, stories: &[Vec<String>]) -> Result<Vec<StoryInput>> {
        let texts: Vec<String> = stories.iter().map(|sentences| sentences.join(" ")).collect();
        let encodings = self
            .inner
            .encode_batch(texts, true)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("tokenizer: {error}")))?;
        let input = |(encoding, sentences): (&tokenizers::Encoding, &Vec<String>)| StoryInput {
            tokens: TokenSequence::from(encoding),
            sentences: encoding.get_offsets().iter().map(|&(start, end)| sentence_at(sentences, start, end)).collect(),
        };
        Ok(encodings.iter().zip(stories).map(input).collect())
    }
}

/// Reads a tokenizer. On parts that are malformed the library panics instead of returning an error, so what is no JSON
/// never reaches it, and what is left is caught.
fn parse(bytes: &[u8]) -> Result<tokenizers::Tokenizer, String> {
    let _: serde::de::IgnoredAny = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
    match std::panic::catch_unwind(|| tokenizers::Tokenizer::from_bytes(bytes)) {
        Ok(read) => read.map_err(|error| shown(&error.to_string(), 300)),
        Err(_) => Err("one of its parts is malformed".into()),
    }
}

/// A whole story as one input.
#[derive(Clone)]
pub struct StoryInput {
    pub tokens: TokenSequence,
    /// Of each token; `None` for the special ones.
    pub sentences: Vec<Option<usize>>,
}

/// The sentence that the last byte of a token is in, when they are joined by spaces: a token may begin with the space
/// before its sentence.
fn sentence_at(sentences: &[String], start: usize, end: usize) -> Option<usize> {
    let mut before = 0;
    sentences.iter().position(|sentence| {
        before += sentence.len() + 1;
        start < end && end < before + 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_in_the_sentence_of_its_last_byte() {
        let sentences = ["ab c".to_owned(), String::new(), "d".to_owned()]; // "ab c  d"
        let places = [(0, 0), (0, 2), (2, 4), (5, 7), (6, 7)].map(|(start, end)| sentence_at(&sentences, start, end));
        assert_eq!(places, [None, Some(0), Some(0), Some(2), Some(2)]);
    }
}
