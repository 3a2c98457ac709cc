//! The language of a story.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The language of a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)] // comments of variants become help text
pub enum Language {
    #[value(name = "en")]
    #[serde(rename = "en")]
    English,
    #[value(name = "it")]
    #[serde(rename = "it")]
    Italian,
}

/// Function words that the other language does not have.
const ENGLISH: [&str; 16] =
    ["the", "and", "was", "is", "of", "to", "with", "from", "his", "her", "he", "she", "it", "on", "at", "into"];
const ITALIAN: [&str; 22] = [
    "il", "lo", "la", "gli", "le", "un", "una", "di", "del", "della", "nel", "nella", "dal", "dalla", "con", "per",
    "che", "si", "è", "ha", "e", "sul",
];

impl Language {
    /// Guesses the language from function words, because story files and predictions do not state it. English if there
    /// are none, or equally many of both.
    pub fn of<'a>(sentences: impl IntoIterator<Item = &'a String>) -> Self {
        let (mut english, mut italian) = (0, 0);
        for sentence in sentences {
            for word in sentence.to_lowercase().split(|c: char| !c.is_alphabetic()) {
                english += usize::from(ENGLISH.contains(&word));
                italian += usize::from(ITALIAN.contains(&word));
            }
        }
        if italian > english { Language::Italian } else { Language::English }
    }

    /// The code for HTML's `lang`.
    pub const fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Italian => "it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_tell_the_language() {
        let of = |text: &str| Language::of([&text.to_owned()]);
        assert_eq!(of("Mia put the cup on the table."), Language::English);
        assert_eq!(of("Mia ha messo l’acqua nella tazza."), Language::Italian);
        assert_eq!(of("Mia dorme."), Language::English, "nothing tells");
    }
}
