//! What a word of a sentence is.

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// No part of a noun phrase.
    Outside,
    /// A verb.
    Verb,
    /// An adjective of a noun phrase.
    Modifier,
    Noun,
    /// Part of a noun of several words.
    Compound,
    /// The name of a person.
    Name,
}
