//! Downloads models of the Hugging Face hub and the papers' data. Each file arrives complete and verified, or not at
//! all.
//!
//! We do not trust servers. Names become files only if they stay in their folder. A body must not be longer than
//! announced, or than the limit for its kind. The content must have the announced hash. `docs/hostile.md` lists what is
//! refused.
//!
//! The client is `ureq`. `hf-hub` 1.0 has a blocking client too, but it begins a broken download again at the first
//! byte, and does not compare what it wrote with the announced hash. We read and write its cache layout ([`Cache`]).

mod cache;
mod client;
mod dataset;
mod download;
mod model;
mod part;
mod settings;

pub use cache::{Cache, ModelName};
pub use dataset::{Dataset, MIRRORED, REDUCED_TRIP, fetch_data};
pub use model::{Fetched, fetch_model};
pub use settings::HubSettings;

use std::time::Duration;

/// What happens during a download.
pub enum FetchEvent<'a> {
    /// A file begins; `have` bytes exist from an earlier try.
    Begins {
        /// The file as messages name it.
        name: &'a str,
        /// Bytes from an earlier try.
        have: u64,
        /// Its announced or known length; `None` if there is none.
        bytes: Option<u64>,
    },
    /// This many bytes of the file have arrived in all.
    At(u64),
    /// Another try follows after a pause.
    Waits {
        /// The message of the failed try.
        why: &'a str,
        /// Until the next try.
        pause: Duration,
    },
    /// A file is complete.
    Done {
        /// The file as messages name it.
        name: &'a str,
        /// Whether it was downloaded, and whether its hash was known.
        how: How,
    },
}

/// How a file was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Downloaded; its hash is the announced or known one.
    Verified,
    /// Downloaded; its hash was not known before.
    Unverified,
    /// It existed already.
    Kept,
}

/// Receives the events.
pub type Listener<'a> = &'a mut dyn FnMut(FetchEvent);
