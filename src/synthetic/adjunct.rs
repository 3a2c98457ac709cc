//! Details of sentences: phrases that change nothing in the story's physics, in both languages.

use super::thing::Thing;
use crate::language::Language;
use serde::Deserialize;

/// A phrase at the beginning or the end of a sentence: "Then", "for breakfast".
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Adjunct {
    en: String,
    it: String,
    /// Tags of things, one of which the sentence must be about; none: it fits all sentences.
    #[serde(default)]
    of: Vec<String>,
    /// Whether it begins the sentence. Such a sentence is never the first one of a story.
    #[serde(default)]
    pub begins: bool,
}

impl Adjunct {
    /// Whether it can be said of these things.
    pub fn suits<'a>(&self, mut things: impl Iterator<Item = &'a Thing>) -> bool {
        self.of.is_empty() || things.any(|thing| self.of.iter().any(|tag| thing.is(tag)))
    }

    pub fn text(&self, language: Language) -> &str {
        match language {
            Language::English => &self.en,
            Language::Italian => &self.it,
        }
    }

    /// Tags that it names.
    pub fn tags(&self) -> &[String] {
        &self.of
    }
}
