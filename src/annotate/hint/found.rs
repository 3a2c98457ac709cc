//! A hint.

use crate::annotate::change::{EntityId, SentenceId};
use crate::attribute::Attribute;
use serde::Serialize;

/// Something that an annotator may want to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// Its stable name; those of `tiered data check` keep theirs.
    pub code: &'static str,
    /// What is odd, and what may be done.
    pub message: String,
    /// The sentences that it is about.
    pub sentences: Vec<SentenceId>,
    /// The entity that it is about.
    pub entity: Option<EntityId>,
    /// The attribute that it is about.
    pub attribute: Option<Attribute>,
}
