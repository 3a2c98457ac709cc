//! What contradicts what a story has said so far.

use super::thing::ThingId;
use crate::attribute::Attribute;

/// A need that contradicts what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Violation {
    /// The last sentence that said otherwise.
    pub evidence: usize,
    /// The sentence whose need is not met.
    pub breakpoint: usize,
    /// The subject: a thing, or the actor (`None`).
    pub thing: Option<ThingId>,
    /// The attribute that an annotator would name as the cause.
    pub attribute: Attribute,
    pub strength: Strength,
}

/// How obvious a violation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    Plain,
    /// The actor takes, perhaps out of something, what they already hold.
    Held,
    /// Something is put, or somebody goes, to where they already are.
    Repeated,
}
