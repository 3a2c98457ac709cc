//! One model on one server, and what can be asked of it.

use super::answer::TokenScore;
use super::client::LlmClient;
use super::cut::{Cut, Cutter};
use super::identity::Identity;
use super::kind::{ServerKind, Way};
use super::llama_cpp;
use super::openai::Completions;
use super::wire::{Next, Place, Sent, Token};
use crate::error::{Error, Result};

/// The scores of a continuation's tokens, and whether each was the likeliest at its place.
pub type TokenScores = Vec<(TokenScore, bool)>;

/// The scores of a continuation, token by token, up to the first of which only a bound is known.
pub fn scores(cut: &Cut, mut of_token: impl FnMut(usize) -> Result<(TokenScore, bool)>) -> Result<TokenScores> {
    let mut scores = TokenScores::new();
    for number in 0..cut.len() {
        let score = of_token(number)?;
        scores.push(score);
        if matches!(score.0, TokenScore::AtMost(_)) {
            break;
        }
    }
    Ok(scores)
}

/// One model on one server, and how its prompts are cut.
pub struct Asker {
    pub client: LlmClient,
    pub identity: Identity,
    pub cutter: Cutter,
    pub way: Way,
    /// The most tokens to list beside the generated one.
    pub alternatives: u32,
}

impl Asker {
    fn completions(&self) -> Completions<'_> {
        Completions { client: &self.client, kind: self.identity.kind, model: &self.identity.model }
    }

    /// One token after a prompt of `tokens` tokens: the likeliest, or the forced one.
    ///
    /// # Errors
    /// As [`LlmClient::get_done`]; `Data` if the answer is wrong, or the server counts other tokens.
    pub fn next(&self, prompt: Sent, tokens: usize, force: Option<Token>, alternatives: u32) -> Result<Next> {
        let next = match self.identity.kind {
            ServerKind::LlamaCpp => llama_cpp::next(&self.client, prompt, force, alternatives)?,
            _ => self.completions().next(prompt, force, alternatives)?,
        };
        match next.prompt_tokens {
            Some(count) if count != tokens as u64 && self.identity.kind != ServerKind::Other => {
                let why = "it has another tokenizer than --tokenizer, or adds a start token by itself";
                Err(Error::data(format!("the server counts {count} tokens in a prompt of {tokens}: {why}")))
            }
            _ => Ok(next),
        }
    }

    /// The places of the tokens of a prompt.
    ///
    /// # Errors
    /// As [`Asker::next`].
    pub fn echo(&self, prompt: Sent, tokens: usize) -> Result<Vec<Option<Place>>> {
        self.completions().echo(prompt, tokens)
    }

    /// Whether the server's answers depend, slightly, on what it evaluated before. Then the options of a prompt are
    /// asked together or not at all, so that a run that goes on gets the same answers.
    pub fn depends_on_history(&self) -> bool {
        self.identity.kind == ServerKind::LlamaCpp
    }

    /// Prepares for questions about a prompt, so that their answers don't depend on earlier ones.
    ///
    /// # Errors
    /// As [`Asker::next`].
    pub fn begin(&self, prompt: Sent) -> Result<()> {
        if self.depends_on_history() { llama_cpp::evaluate_afresh(&self.client, prompt) } else { Ok(()) }
    }

    /// Whether tokens have to be told apart by their text.
    fn needs_text(&self) -> bool {
        let names_ids = matches!(self.identity.kind, ServerKind::LlamaCpp | ServerKind::Vllm);
        !self.cutter.sends_ids || (self.way != Way::Echo && !names_ids)
    }

    /// Prompt and continuations as tokens.
    ///
    /// # Errors
    /// As [`Cutter::cut`].
    pub fn cut(&self, prompt: &str, continuations: &[String]) -> Result<Vec<Cut>> {
        self.cutter.cut(&self.client, prompt, continuations, self.needs_text())
    }
}
