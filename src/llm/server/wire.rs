//! What is sent to a server and what comes back, whichever server it is.

use super::answer::TokenScore;
use serde_json::{Value, json};

/// A prompt as it is sent.
#[derive(Debug, Clone, Copy)]
pub enum Sent<'a> {
    Ids(&'a [u32]),
    Text(&'a str),
}

impl Sent<'_> {
    pub fn json(self) -> Value {
        match self {
            Sent::Ids(ids) => json!(ids),
            Sent::Text(text) => json!(text),
        }
    }
}

/// A token of ours: its id, and its text where a server knows tokens by text only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Token<'a> {
    pub id: u32,
    pub text: Option<&'a str>,
}

/// A token as a server names it.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenName {
    pub id: Option<u32>,
    pub text: String,
}

impl TokenName {
    /// Whether it is this token of ours; `None` if that can't be told.
    pub fn is(&self, token: Token) -> Option<bool> {
        match (self.id, token.text) {
            (Some(id), _) => Some(id == token.id),
            (None, Some(text)) => Some(self.text == text),
            (None, None) => None,
        }
    }
}

/// What a server says about the one token that it generated.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    pub token: TokenName,
    pub score: TokenScore,
    /// The likeliest tokens with their log-probabilities, in any order; it may hold the generated one too.
    pub listed: Vec<(TokenName, TokenScore)>,
    /// How many tokens the server counted in the prompt, if it says so.
    pub prompt_tokens: Option<u64>,
}

impl Next {
    /// The log-probability of the likeliest token that is listed.
    pub fn highest(&self) -> Option<f64> {
        self.listed.iter().map(|(_, score)| score.value()).max_by(f64::total_cmp)
    }
}

/// One token of an echoed prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub score: TokenScore,
    /// Whether the token was the likeliest.
    pub is_greedy: bool,
}
