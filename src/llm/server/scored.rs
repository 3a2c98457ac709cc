//! What was found out about one continuation: the value of a line of the journal.

use super::answer::TokenScore;
use crate::llm::OptionScore;
use serde::{Deserialize, Serialize};

/// The log-probabilities of a continuation's tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// One for each token, in order; if `is_bound`, up to the first one that is not known, and the last is its bound.
    pub logprobs: Vec<f64>,
    /// Whether each token was the likeliest at its place.
    pub is_greedy: bool,
    /// Whether the sum is only an upper bound.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_bound: bool,
    /// Whether the tokens of the prompt are not the first tokens of prompt and continuation.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_unaligned: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Scored {
    /// From the scores of tokens in order. A bound ends them: what follows can only be less likely.
    pub fn of(tokens: &[(TokenScore, bool)], is_unaligned: bool) -> Self {
        let known = |(score, _): &(TokenScore, bool)| matches!(score, TokenScore::Known(_));
        let end = tokens.iter().position(|token| !known(token)).map_or(tokens.len(), |bound| bound + 1);
        let is_bound = tokens[..end].last().is_some_and(|token| !known(token));
        Scored {
            logprobs: tokens[..end].iter().map(|(score, _)| score.value()).collect(),
            is_greedy: !is_bound && tokens.iter().all(|(_, is_greedy)| *is_greedy),
            is_bound,
            is_unaligned,
        }
    }

    /// Refuses what no server said: nothing, or a number that is no log-probability.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.logprobs.is_empty() {
            return Err("`logprobs` is empty".to_owned());
        }
        let is_wrong = |logprob: &&f64| !logprob.is_finite() || **logprob > 0.;
        let wrong = self.logprobs.iter().find(is_wrong);
        wrong.map_or(Ok(()), |wrong| Err(format!("`logprobs`: {wrong} is no log-probability; it must be at most 0")))
    }

    /// The continuation's log-probability; its upper bound if `is_bound`.
    pub fn sum(&self) -> f64 {
        self.logprobs.iter().sum()
    }

    /// The sum as the score of an option.
    pub fn score(&self) -> OptionScore {
        match self.is_bound {
            true => OptionScore::AtMost(self.sum()),
            false => OptionScore::Exact { logprob: self.sum(), is_greedy: self.is_greedy },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_not_known_leaves_a_bound() {
        let (known, bound) = (|value| (TokenScore::Known(value), true), (TokenScore::AtMost(-87.), false));
        assert_eq!(
            Scored::of(&[known(-1.), known(-0.5)], false).score(),
            OptionScore::Exact { logprob: -1.5, is_greedy: true }
        );
        let scored = Scored::of(&[known(-1.), bound, known(-2.)], false);
        assert_eq!((scored.logprobs.as_slice(), scored.score()), (&[-1., -87.][..], OptionScore::AtMost(-88.)));
        assert!(!scored.is_greedy);
    }
}
