//! Asks language models the three tiers' questions, and scores their answers.
//!
//! stories -> prompts -> a server's log-probabilities -> answers, tier by tier -> scores. Knows no tensors.

mod scorer;
pub mod server;

pub use scorer::{OptionScore, Request, Scorer};
