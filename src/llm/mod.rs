//! Asks language models the three tiers' questions, and scores their answers.
//!
//! stories -> prompts -> a server's log-probabilities -> answers, tier by tier -> scores. Knows no tensors.

pub mod piqa;
mod scorer;

pub use scorer::{OptionScore, Request, Scorer};
