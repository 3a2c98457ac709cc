//! Models of the Hugging Face hub and the papers' data, from the network to the disk: whole, verified, or not at all.
//!
//! What a server says is not trusted: names become files only if they stay in their folder, no body is longer than it was
//! announced or than its kind may be, and what arrives must have the hash that was announced. `docs/hostile.md` lists
//! what is refused.
//!
//! The client is `ureq`, blocking. `hf-hub` (1.0) needs an asynchronous runtime, and its downloads neither resume nor
//! verify; its cache layout is what [`Cache`] reads and writes.

mod cache;
mod client;
mod dataset;
mod download;
mod model;
mod settings;
mod url;

pub use cache::{Cache, ModelName};
pub use dataset::{Dataset, MIRRORED, REDUCED_TRIP, fetch_data};
pub use model::{Fetched, fetch_model};
pub use settings::Settings;

use std::time::Duration;

/// What happens while files are fetched.
pub enum Event<'a> {
    /// A file begins, of which `have` bytes were there from an earlier try.
    Begins { name: &'a str, have: u64, bytes: Option<u64> },
    /// So many bytes of the file have arrived in all.
    At(u64),
    /// Another try follows after a pause.
    Waits { why: &'a str, pause: Duration },
    /// A file is there.
    Done { name: &'a str, how: How },
}

/// How a file came to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Fetched, and its hash is the one announced or known.
    Verified,
    /// Fetched; nothing told its hash beforehand.
    Unverified,
    /// It was there.
    Kept,
}

/// Who is told of events.
pub type Listener<'a> = &'a mut dyn FnMut(Event);
