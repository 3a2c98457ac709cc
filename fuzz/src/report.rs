//! Of reports, the published scores that a sweep names.

#[path = "../../src/report/published.rs"]
mod published;

pub use published::{PublishedRow, PublishedSet};
