//! The seam between what is asked (prompts, cascade) and who answers (a server, or a test).

use crate::error::Result;

/// A prompt and the continuations to score after it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What is asked, in words for messages: "tier 2, row 54 (98)".
    pub name: &'a str,
    /// The rendered prompt. White space at its end has moved to the front of every continuation.
    pub prompt: &'a str,
    /// The continuations, in the order of the options.
    pub continuations: &'a [String],
}

/// How likely a continuation is after its prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptionScore {
    /// The sum of its tokens' log-probabilities, and whether each token was the likeliest at its place.
    Exact {
        /// Natural logarithm, at most 0.
        logprob: f64,
        /// Whether each token was the likeliest at its place.
        is_greedy: bool,
    },
    /// The sum is at most this: a server that lists the likeliest tokens only did not list one of its tokens.
    AtMost(f64),
    /// The model answered in words: whether this was its answer. If it is `false` for all options, the answer was none
    /// of them.
    Said(bool),
}

impl OptionScore {
    /// The log-probability, if it is known exactly.
    pub fn exact(self) -> Option<f64> {
        match self {
            OptionScore::Exact { logprob, .. } => Some(logprob),
            _ => None,
        }
    }

    /// The log-probability, or what it is at most; `None` for an answer in words.
    pub fn at_most(self) -> Option<f64> {
        match self {
            OptionScore::Exact { logprob, .. } => Some(logprob),
            OptionScore::AtMost(bound) => Some(bound),
            OptionScore::Said(_) => None,
        }
    }
}

/// Whether every option has log-probability 0: a server does that which does not score what it is asked.
pub fn are_all_zero(scores: &[OptionScore]) -> bool {
    !scores.is_empty() && scores.iter().all(|score| matches!(score, OptionScore::Exact { logprob: 0., .. }))
}

/// Whoever can score continuations. Several threads may ask at once.
pub trait Scorer: Sync {
    /// One score for each continuation, in their order.
    ///
    /// # Errors
    /// `Resumable` if the server stopped answering, `Data` if an answer is wrong for good, `Unavailable` or `Config` if
    /// the server refuses.
    fn score(&self, request: &Request<'_>) -> Result<Vec<OptionScore>>;
}
