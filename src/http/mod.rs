//! What every client of a server needs: addresses, a secret for one origin, trusted authorities, and when to try again.
//!
//! `fetch` downloads with it, `llm` asks language models with it. The client is `ureq`, which blocks.

mod address;
mod connection;
mod token;
mod tries;

pub use address::{Address, escaped};
pub use connection::{Connection, authorities, broken, failure};
pub use token::ApiKey;
pub use tries::{Failure, Tries, Wait, asked_pause, first_pause};
