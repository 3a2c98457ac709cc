//! Tokenizes (entity, sentence) inputs with the encoder's tokenizer.

use crate::error::{Error, Result, lack_of_memory};
use crate::untrusted::{self, MAX_GROWTH, MAX_TOKENIZER, json_error, shown};
use serde::Deserialize;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::path::Path;

/// How many inputs are tokenized at once: what the library returns takes far more memory than what is kept of it.
const AT_ONCE: usize = 4096;

/// The encoder's tokenizer (`tokenizer.json`), without truncation or padding. Its own template decides special tokens
/// and token types.
pub struct InputTokenizer {
    inner: tokenizers::Tokenizer,
}

impl InputTokenizer {
    /// Reads a Hugging Face `tokenizer.json`.
    ///
    /// # Errors
    /// `MissingInput` if the file does not exist, `Config` if it is not a tokenizer.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = untrusted::read_regular(path, MAX_TOKENIZER).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => Error::config(format!("{}: not a tokenizer: {error}", path.display())),
            _ => Error::reading(path, &error),
        })?;
        Self::from_json(&bytes).map_err(|error| error.about(path.display()))
    }

    /// Reads a tokenizer from the bytes of a `tokenizer.json`.
    ///
    /// # Errors
    /// `Config` if it is not a tokenizer, or if its first token is not a special one: the model reads the first token.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let wrong = |problem: String| Error::config(format!("not a Hugging Face tokenizer: {problem}"));
        let mut inner = parse(bytes).map_err(wrong)?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|error| wrong(format!("truncation can't be switched off: {error}")))?;
        let probe = caught(|| inner.encode(("a", "b"), true)).map_err(wrong)?;
        match probe.get_special_tokens_mask().first() {
            Some(1) => Ok(InputTokenizer { inner }),
            _ => Err(wrong("its post-processor puts no special token, such as [CLS] or <s>, first".into())),
        }
    }

    /// Tokenizes every (entity, sentence) in parallel, as `<s> entity </s></s> sentence </s>` or `[CLS] entity [SEP]
    /// sentence [SEP]`; the tokenizer's template decides.
    pub fn encode(&self, inputs: Vec<(String, String)>) -> Result<Vec<TokenSequence>> {
        let mut sequences = Vec::with_capacity(inputs.len());
        let mut inputs = inputs.into_iter();
        loop {
            let next: Vec<_> = inputs.by_ref().take(AT_ONCE).collect();
            if next.is_empty() {
                return Ok(sequences);
            }
            let encodings = caught(|| self.inner.encode_batch_fast(next, true)).map_err(failed)?;
            sequences.extend(encodings.iter().map(TokenSequence::from));
        }
    }

    /// Tokenizes every story as `<s> sentence sentence ... </s>`, and notes which sentence each token is in.
    pub fn encode_stories(&self, stories: &[Vec<String>]) -> Result<Vec<StoryInput>> {
        let texts = stories.iter().map(|sentences| sentences.join(" "));
        let encodings = caught(|| self.inner.encode_batch(texts.collect(), true)).map_err(failed)?;
        Ok(encodings.iter().zip(stories).map(|(encoding, story)| StoryInput::new(encoding, 0, story)).collect())
    }

    /// Tokenizes every (entity, story) as `<s> entity </s></s> sentence sentence ... </s>`, and notes which sentence
    /// each token is in.
    pub fn encode_entities_in_stories(&self, inputs: &[(String, Vec<String>)]) -> Result<Vec<StoryInput>> {
        let mut all = Vec::with_capacity(inputs.len());
        for inputs in inputs.chunks(AT_ONCE) {
            let texts = inputs.iter().map(|(entity, sentences)| (entity.clone(), sentences.join(" ")));
            let encodings = caught(|| self.inner.encode_batch(texts.collect(), true)).map_err(failed)?;
            all.extend(encodings.iter().zip(inputs).map(|(encoding, (_, story))| StoryInput::new(encoding, 1, story)));
        }
        Ok(all)
    }
}

/// One input of the encoder.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TokenSequence {
    /// Token ids, special tokens among them.
    pub ids: Vec<i64>,
    /// The type of each token. The tokenizer decides: 1 for the second part of a pair, in families that use types.
    pub types: Vec<i64>,
}

impl TokenSequence {
    /// The number of tokens, special tokens among them.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it has no tokens.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

impl From<&tokenizers::Encoding> for TokenSequence {
    fn from(encoding: &tokenizers::Encoding) -> Self {
        let wide = |numbers: &[u32]| numbers.iter().map(|&number| number.into()).collect();
        TokenSequence { ids: wide(encoding.get_ids()), types: wide(encoding.get_type_ids()) }
    }
}

/// The parts of a `tokenizer.json` that rewrite text, in their order.
#[derive(Deserialize)]
struct Rewriting {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
}

/// Reads a tokenizer. Before the library reads them, refuses text that is not JSON and tokenizers that could fill
/// memory from a short text.
fn parse(bytes: &[u8]) -> Result<tokenizers::Tokenizer, String> {
    let Rewriting { normalizer, pre_tokenizer } = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
    if growth(&normalizer) * growth(&pre_tokenizer) > MAX_GROWTH {
        return Err(format!("its normalizer could make text more than {MAX_GROWTH} times as long"));
    }
    caught(|| tokenizers::Tokenizer::from_bytes(bytes))
}

/// The largest factor by which a part of a tokenizer can lengthen a text, in characters. Real tokenizers stay below
/// 2000.
fn growth(part: &Value) -> f64 {
    let length = |text: &Value| text.as_str().map_or(0, |text| text.chars().count()) as f64;
    let own = match part["type"].as_str() {
        _ if part["content"].is_string() => match length(&part["pattern"]["String"]) {
            // A regular expression can match nothing, which it finds before every character.
            0. => 1. + length(&part["content"]),
            replaced => (length(&part["content"]) / replaced).max(1.),
        },
        Some("NFKC" | "NFKD" | "Precompiled") => 18.,
        Some("NFC" | "NFD" | "Lowercase" | "Bert" | "BertNormalizer" | "ByteLevel") => 4.,
        _ => 1.,
    };
    let parts = ["normalizers", "pretokenizers"].into_iter().filter_map(|key| part[key].as_array());
    parts.flatten().map(growth).product::<f64>() * own
}

/// Runs the library. For malformed parts it may panic instead of returning an error, when it reads them or when it uses
/// them.
fn caught<T>(act: impl FnOnce() -> tokenizers::Result<T>) -> Result<T, String> {
    match std::panic::catch_unwind(AssertUnwindSafe(act)) {
        Ok(done) => done.map_err(|error| shown(&error.to_string(), 300)),
        Err(panic) if lack_of_memory(&*panic).is_some() => std::panic::resume_unwind(panic),
        Err(_) => Err("one of its parts is malformed".into()),
    }
}

fn failed(problem: String) -> Error {
    Error::config(format!("the tokenizer can't read the stories: {problem}"))
}

/// A whole story as one input.
#[derive(Clone)]
pub struct StoryInput {
    /// The sentences joined by spaces, perhaps after an entity, with special tokens around them.
    pub tokens: TokenSequence,
    /// The sentence of each token; `None` for special tokens and those of the entity.
    pub sentences: Vec<Option<usize>>,
}

impl StoryInput {
    /// `part`: which text of the encoding is the story.
    fn new(encoding: &tokenizers::Encoding, part: usize, sentences: &[String]) -> Self {
        let places = encoding.get_offsets().iter().zip(encoding.get_sequence_ids());
        let sentence = |(&(start, end), of): (&(usize, usize), Option<usize>)| {
            if of == Some(part) { sentence_at(sentences, start, end) } else { None }
        };
        StoryInput { tokens: TokenSequence::from(encoding), sentences: places.map(sentence).collect() }
    }

    /// The tokens of all sentences, by their positions.
    pub fn in_sentences(&self) -> impl Iterator<Item = usize> {
        (0..self.sentences.len()).filter(|&token| self.sentences[token].is_some())
    }

    /// The tokens of a sentence, by their positions.
    pub fn tokens_of(&self, sentence: usize) -> Vec<usize> {
        (0..self.sentences.len()).filter(|&token| self.sentences[token] == Some(sentence)).collect()
    }
}

/// The sentence that holds the last byte of a token, where sentences are joined by spaces. A token may begin with the
/// space before its sentence.
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
    fn a_text_that_would_grow_without_end_is_refused() {
        let part = |text: &str| growth(&serde_json::from_str(text).unwrap());
        assert_eq!(part("null"), 1.);
        assert_eq!(part(r#"{"type": "Replace", "pattern": {"String": "``"}, "content": "\""}"#), 1.);
        assert_eq!(part(r#"{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"}"#), 2.);
        let tenfold = r#"{"pattern": {"String": "a"}, "content": "aaaaaaaaaa"}"#;
        let sequence = |parts: &str| format!(r#"{{"type": "Sequence", "normalizers": [{parts}]}}"#);
        assert_eq!(part(&sequence(&[tenfold, &sequence(tenfold), r#"{"type": "NFD"}"#].join(","))), 400.);
        let tokenizer = format!(r#"{{"normalizer": {}}}"#, sequence(&[tenfold; 5].join(",")));
        assert!(parse(tokenizer.as_bytes()).unwrap_err().contains("more than 10000 times as long"));
    }

    #[test]
    fn a_token_is_in_the_sentence_of_its_last_byte() {
        let sentences = ["ab c".to_owned(), String::new(), "d".to_owned()]; // "ab c  d"
        let places = [(0, 0), (0, 2), (2, 4), (5, 7), (6, 7)].map(|(start, end)| sentence_at(&sentences, start, end));
        assert_eq!(places, [None, Some(0), Some(0), Some(2), Some(2)]);
    }
}
