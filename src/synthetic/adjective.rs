//! Adjectives in both languages.

use super::noun::{EnglishNoun, ItalianNoun};
use super::thing::Thing;
use serde::Deserialize;

/// An adjective that distinguishes a thing from others of its kind: "red", "ross@".
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Adjective {
    en: String,
    /// In Italian it follows the noun, with "@" for the ending.
    it: String,
    /// Tags of the things that can have it.
    of: Vec<String>,
}

impl Adjective {
    pub fn suits(&self, thing: &Thing) -> bool {
        self.of.iter().any(|tag| thing.is(tag))
    }

    /// Tags that it names.
    pub fn tags(&self) -> &[String] {
        &self.of
    }

    pub fn english(&self, noun: &EnglishNoun) -> EnglishNoun {
        EnglishNoun { text: format!("{} {}", self.en, noun.text), number: noun.number }
    }

    pub fn italian(&self, noun: &ItalianNoun) -> ItalianNoun {
        let adjective = self.it.replace('@', &noun.ending().to_string());
        ItalianNoun { text: format!("{} {adjective}", noun.text), ..*noun }
    }
}
