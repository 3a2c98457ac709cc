//! The language of a story, and the titles of both languages.

use icu_normalizer::ComposingNormalizerBorrowed;
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

/// Function words that the other language does not have, nor as a name: "Al", "Ed".
const ENGLISH: [&str; 22] = [
    "the", "and", "was", "is", "of", "to", "with", "from", "his", "her", "he", "she", "it", "on", "at", "into", "an",
    "had", "has", "they", "my", "for",
];
const ITALIAN: [&str; 56] = [
    "il", "lo", "la", "gli", "le", "un", "una", "di", "del", "della", "nel", "nella", "dal", "dalla", "con", "per",
    "che", "si", "è", "ha", "e", "sul", "alla", "allo", "alle", "agli", "sulla", "sulle", "dello", "dei", "degli",
    "delle", "nei", "nelle", "negli", "da", "dai", "dagli", "dalle", "dallo", "sui", "sugli", "sullo", "l", "nell",
    "dell", "sull", "dall", "non", "ho", "hanno", "sono", "suo", "sua", "anche", "più",
];

/// Titles of both languages, which a point shortens: it ends no sentence.
const TITLES: [&str; 8] = ["mr", "mrs", "ms", "dr", "st", "sig", "dott", "prof"];

/// The text with one character for each letter that has one (Unicode's NFC): some keyboards and systems write "é" as "e"
/// and an accent. Texts that look alike are then the same.
pub(crate) fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// Whether a word in lower case is a title such as "mr", whose point ends no sentence, since a name follows.
pub fn is_before_name(word: &str) -> bool {
    TITLES.contains(&word)
}

impl Language {
    /// Guesses the language from function words, because story files and predictions do not state it. English if there
    /// are none, or equally many of both.
    pub fn of(sentences: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let (mut english, mut italian) = (0, 0);
        for sentence in sentences {
            // "non-stick" is one word.
            for word in sentence.as_ref().to_lowercase().split(|c: char| !c.is_alphabetic() && c != '-') {
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
    fn a_letter_and_its_accent_become_one() {
        assert_eq!(composed("perche\u{301} caffe\u{300}"), "perch\u{e9} caff\u{e8}");
        assert_eq!(composed("caffè, ½ ℃"), "caffè, ½ ℃");
    }

    #[test]
    fn function_words_tell_the_language() {
        for (text, language) in [
            ("Mia put the cup on the table.", Language::English),
            ("Mia ha messo l’acqua nella tazza.", Language::Italian),
            ("Ho lavato i bicchieri. I bicchieri sono sporchi.", Language::Italian),
            ("I fried eggs in a non-stick pan. Al ate. Ed slept.", Language::English),
            ("Mia versa l'acqua nell'imbuto.", Language::Italian),
            ("Mia dorme.", Language::English), // nothing tells
        ] {
            assert_eq!(Language::of([text]), language, "{text}");
        }
    }
}
