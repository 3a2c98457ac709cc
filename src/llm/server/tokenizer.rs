//! Splits text into tokens: by the model's `tokenizer.json`, or by asking the server.

use super::answer::list;
use super::client::LlmClient;
use super::identity::optional;
use super::kind::ServerKind;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::{self, MAX_TOKENIZER};
use serde_json::{Value, json};
use std::path::Path;

/// The tokenizer of the model that the server runs.
pub enum Tokenizer {
    /// A `tokenizer.json`, with its SHA-256.
    File { tokenizer: Box<tokenizers::Tokenizer>, sha256: String },
    /// The server's, reached at its path.
    Server { kind: ServerKind, model: String },
}

impl Tokenizer {
    /// # Errors
    /// `MissingInput`, `Io`; `Config` if the file is not a tokenizer.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = untrusted::read_regular(path, MAX_TOKENIZER).map_err(|error| Error::reading(path, &error))?;
        let wrong = |error| Error::config(format!("{}: not a tokenizer.json: {error}", path.display()));
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(&bytes).map_err(wrong)?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(wrong)?;
        Ok(Tokenizer::File { tokenizer: Box::new(tokenizer), sha256: durable::sha256(&bytes) })
    }

    /// The server's own, if it has one to ask.
    ///
    /// # Errors
    /// As [`LlmClient::ask`].
    pub fn of_server(client: &LlmClient, kind: ServerKind, model: &str) -> Result<Option<Self>> {
        let tokenizer = Tokenizer::Server { kind, model: model.to_owned() };
        let (path, body) = tokenizer.request("a", false);
        let answer = optional(client, path, Some(&body))?;
        Ok(answer["tokens"].is_array().then_some(tokenizer))
    }

    /// What names it in keys and results.
    pub fn name(&self) -> String {
        match self {
            Tokenizer::File { sha256, .. } => format!("tokenizer.json {sha256}"),
            Tokenizer::Server { .. } => "the server's".to_owned(),
        }
    }

    fn request(&self, text: &str, adds_special: bool) -> (&'static str, Value) {
        match self {
            Tokenizer::Server { kind: ServerKind::LlamaCpp, .. } => {
                ("/tokenize", json!({"content": text, "add_special": adds_special, "parse_special": true}))
            }
            // It always adds what the model wants.
            Tokenizer::Server { kind: ServerKind::LlamaCppPython, model } => {
                ("/extras/tokenize", json!({"model": model, "input": text}))
            }
            Tokenizer::Server { model, .. } => {
                ("/tokenize", json!({"model": model, "prompt": text, "add_special_tokens": adds_special}))
            }
            Tokenizer::File { .. } => ("", Value::Null),
        }
    }

    /// The tokens of a text; special tokens that are written in it count as such. `adds_special` adds the model's start
    /// token if it has one.
    ///
    /// # Errors
    /// As [`LlmClient::get_done`]; `Config` if the tokenizer fails; `Data` if the server's answer has no tokens.
    pub fn encode(&self, client: &LlmClient, text: &str, adds_special: bool) -> Result<Vec<u32>> {
        if let Tokenizer::File { tokenizer, .. } = self {
            let failed = |error| Error::config(format!("the tokenizer fails: {error}"));
            return Ok(tokenizer.encode_fast(text, adds_special).map_err(failed)?.get_ids().to_vec());
        }
        let (path, body) = self.request(text, adds_special);
        let answer = client.get_done(path, Some(&body))?;
        let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        let ids: Option<Vec<u32>> = list(&answer, "/tokens")?.iter().map(id).collect();
        ids.ok_or_else(|| Error::data("the server's `tokens` are not token ids"))
    }
}

/// Start tokens: which one the model has, and how many a prompt begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bos {
    id: Option<u32>,
    /// `None`: one if the prompt has it in its text, else what the model's tokenizer adds.
    wanted: Option<u32>,
}

impl Bos {
    /// # Errors
    /// As [`Tokenizer::encode`]; `Config` if start tokens are wanted and the model has none, or it adds several.
    pub fn find(tokenizer: &Tokenizer, client: &LlmClient, wanted: Option<u32>) -> Result<Self> {
        let (with, without) = (tokenizer.encode(client, "a", true)?, tokenizer.encode(client, "a", false)?);
        let is_server_with_own = matches!(tokenizer, Tokenizer::Server { kind: ServerKind::LlamaCppPython, .. });
        let id = match with.strip_suffix(without.as_slice()) {
            Some([_, _, ..]) => {
                let message =
                    "the model's tokenizer adds several start tokens, which is not supported; use another model";
                return Err(Error::new(ErrorKind::Config, message));
            }
            Some([id]) => Some(*id),
            // It adds a token at the end too.
            _ if with.get(1..).is_some_and(|rest| rest.starts_with(&without)) => with.first().copied(),
            // It adds one to everything, or to nothing: a text of a letter has one token, and no more.
            _ if is_server_with_own && with.len() > 1 => with.first().copied(),
            _ => None,
        };
        match (id, wanted) {
            (None, Some(1..)) => {
                Err(Error::new(ErrorKind::Config, "--bos: the model's tokenizer adds no start token; leave it out"))
            }
            _ => Ok(Bos { id, wanted }),
        }
    }

    /// How many start tokens the ids begin with.
    pub fn count(self, ids: &[u32]) -> usize {
        ids.iter().take_while(|id| Some(**id) == self.id).count()
    }

    /// The ids of a text without added ones, with as many start tokens as are wanted.
    pub fn put(self, ids: Vec<u32>) -> Vec<u32> {
        let written = self.count(&ids);
        let own = usize::from(self.id.is_some());
        let count = self.wanted.map_or(written.max(own), |count| count as usize);
        let start = self.id.map(|id| vec![id; count]).unwrap_or_default();
        [start.as_slice(), &ids[written..]].concat()
    }

    /// # Errors
    /// `Config` if a server that adds start tokens by itself would show the model another number than wanted.
    pub fn require_wanted(self, ids: &[u32]) -> Result<()> {
        let count = self.count(ids);
        let wanted = self.wanted.map_or(count.min(1), |wanted| wanted as usize);
        if count == wanted {
            return Ok(());
        }
        let message = format!(
            "the model would see {count} start tokens instead of {wanted}: this server takes text only, and adds its own; \
             say --bos {count}, or use a chat template without one"
        );
        Err(Error::config(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_as_many_start_tokens_as_wanted() {
        let bos = |wanted| Bos { id: Some(2), wanted };
        for (ids, own, none, two) in [
            (vec![7, 8], vec![2, 7, 8], vec![7, 8], vec![2, 2, 7, 8]),
            (vec![2, 7, 2], vec![2, 7, 2], vec![7, 2], vec![2, 2, 7, 2]),
        ] {
            assert_eq!(bos(None).put(ids.clone()), own);
            assert_eq!(bos(Some(0)).put(ids.clone()), none);
            assert_eq!(bos(Some(2)).put(ids), two);
        }
        assert_eq!(Bos { id: None, wanted: None }.put(vec![2, 7]), [2, 7]);
    }

    #[test]
    fn a_start_token_too_many_is_refused_where_the_server_adds_its_own() {
        let bos = |wanted| Bos { id: Some(2), wanted };
        assert!(bos(None).require_wanted(&[2, 7]).is_ok() && bos(Some(2)).require_wanted(&[2, 2, 7]).is_ok());
        let error = bos(None).require_wanted(&[2, 2, 7]).unwrap_err();
        assert!(error.message.contains("2 start tokens instead of 1"), "{error}");
        assert!(bos(Some(0)).require_wanted(&[2, 7]).is_err());
    }
}
