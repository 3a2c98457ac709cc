//! Cuts prompt and continuation into tokens: by their count, never by offsets in the text.

use super::client::LlmClient;
use super::tokenizer::{Bos, Tokenizer};
use super::wire::{Sent, Token};
use crate::error::{Error, Result};
use crate::untrusted::shown;

/// Cuts for one model, as its server takes prompts.
pub struct Cutter {
    pub tokenizer: Tokenizer,
    pub bos: Bos,
    /// Whether prompts are sent as ids, else as text.
    pub sends_ids: bool,
}

/// A prompt and a continuation as tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// Of the prompt and the continuation together.
    pub ids: Vec<u32>,
    /// How many of them are the prompt's.
    pub prompt: usize,
    /// Whether the prompt alone has other tokens than its part here.
    pub is_unaligned: bool,
    /// The text of prompt and continuation.
    text: String,
    /// Where the continuation's tokens end in the text, in bytes, after where they begin. Empty where ids are sent and
    /// named.
    ends: Vec<usize>,
}

impl Cutter {
    /// The tokens of a text, with start tokens as wanted.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; `Config` if the start tokens can't be had.
    pub fn encode(&self, client: &LlmClient, text: &str) -> Result<Vec<u32>> {
        if self.sends_ids {
            return Ok(self.bos.put(self.tokenizer.encode(client, text, false)?));
        }
        let ids = self.tokenizer.encode(client, text, true)?;
        self.bos.require_wanted(&ids)?;
        Ok(ids)
    }

    /// A cut for each continuation. `needs_text` asks for the text of each token too.
    ///
    /// # Errors
    /// As [`Cutter::encode`]; `Data` if a continuation adds no token; `Config` if tokens have no text of their own.
    pub fn cut(
        &self,
        client: &LlmClient,
        prompt: &str,
        continuations: &[String],
        needs_text: bool,
    ) -> Result<Vec<Cut>> {
        let prompt_ids = self.encode(client, prompt)?;
        let cut = |continuation: &String| {
            let text = format!("{prompt}{continuation}");
            let ids = self.encode(client, &text)?;
            if ids.len() <= prompt_ids.len() {
                let what = shown(continuation, 60);
                return Err(Error::data(format!("the continuation {what:?} adds no token to its prompt")));
            }
            let is_unaligned = !ids.starts_with(&prompt_ids);
            let mut cut = Cut { ids, prompt: prompt_ids.len(), is_unaligned, text, ends: Vec::new() };
            if needs_text {
                cut.ends = self.ends(client, &cut, prompt.len())?;
            }
            Ok(cut)
        };
        continuations.iter().map(cut).collect()
    }

    /// Where each token of the continuation ends in the text: the shortest text with exactly the tokens so far.
    fn ends(&self, client: &LlmClient, cut: &Cut, prompt: usize) -> Result<Vec<usize>> {
        let impossible = || {
            let what = shown(&cut.text[prompt..], 60);
            let remedy = "this server takes text only; use one that takes token ids (vLLM, llama-server)";
            Error::config(format!("the tokens of {what:?} can't be written as text; {remedy}"))
        };
        if cut.is_unaligned {
            return Err(impossible());
        }
        let mut ends = vec![prompt];
        for count in cut.prompt + 1..cut.ids.len() {
            let mut end = *ends.last().unwrap_or(&prompt);
            loop {
                end += cut.text[end..].chars().next().map_or(0, char::len_utf8);
                if end >= cut.text.len() {
                    return Err(impossible());
                }
                if self.encode(client, &cut.text[..end])? == cut.ids[..count] {
                    break;
                }
            }
            ends.push(end);
        }
        ends.push(cut.text.len());
        Ok(ends)
    }
}

impl Cut {
    /// How many tokens the continuation has.
    pub fn len(&self) -> usize {
        self.ids.len() - self.prompt
    }

    /// The continuation's token of this number, from 0.
    pub fn token(&self, number: usize) -> Token<'_> {
        let text = self.ends.get(number..number + 2).map(|ends| &self.text[ends[0]..ends[1]]);
        Token { id: self.ids[self.prompt + number], text }
    }

    /// What precedes that token; all of it for the number after the last.
    pub fn before(&self, number: usize, sends_ids: bool) -> Sent<'_> {
        if sends_ids {
            return Sent::Ids(&self.ids[..self.prompt + number]);
        }
        Sent::Text(self.ends.get(number).map_or(&self.text, |end| &self.text[..*end]))
    }
}

impl Cut {
    /// A prompt and one token after it, where ids are sent.
    pub fn of_ids(prompt: &[u32], token: u32) -> Self {
        let ids = [prompt, &[token]].concat();
        Cut { ids, prompt: prompt.len(), is_unaligned: false, text: String::new(), ends: Vec::new() }
    }
}
