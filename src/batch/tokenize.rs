//! (entity, sentence) -> token ids, with the tokenizer that came with the encoder.

use crate::error::{Error, ErrorKind, Result};
use std::path::Path;

/// The encoder's tokenizer (`tokenizer.json`), without truncation or padding.
pub struct InputTokenizer {
    inner: tokenizers::Tokenizer,
}

impl InputTokenizer {
    /// Reads a Hugging Face `tokenizer.json`.
    ///
    /// # Errors
    /// `MissingInput` if there is none, `Config` if it is not a tokenizer.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Error::reading(path, &error))?;
        let mut inner = tokenizers::Tokenizer::from_bytes(bytes)
            .map_err(|error| Error::config(format!("{}: not a Hugging Face tokenizer: {error}", path.display())))?;
        inner.with_padding(None);
        inner
            .with_truncation(None)
            .map_err(|error| Error::config(format!("{}: truncation can't be switched off: {error}", path.display())))?;
        Ok(InputTokenizer { inner })
    }

    /// Token ids of `<s> entity </s></s> sentence </s>` for every (entity, sentence), in parallel.
    pub fn encode(&self, inputs: Vec<(String, String)>) -> Result<Vec<Vec<i64>>> {
        let encodings = self
            .inner
            .encode_batch_fast(inputs, true)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("tokenizer: {error}")))?;
        Ok(encodings.iter().map(|encoding| encoding.get_ids().iter().map(|&id| id.into()).collect()).collect())
    }
}
