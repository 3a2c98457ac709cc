//! What one sentence of a story tells about words of the others.

use super::kinds::WordKinds;
use super::lexicon::Lexicon;
use super::phrase::Phrase;
use super::word::{Gap, Word};
use std::collections::HashSet;

/// Words that a story shows to be names or nouns, in lower case.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    names: HashSet<String>,
    nouns: HashSet<String>,
}

impl Evidence {
    /// Names by capitals: those inside a sentence, and at its beginning those that are no other word and are never
    /// written small.
    pub fn of_capitals(sentences: &[Vec<Word>], lexicon: &Lexicon) -> Self {
        let all = || sentences.iter().flatten();
        let small: HashSet<&str> = all().filter(|word| !word.is_title).map(|word| word.lower.as_str()).collect();
        let mut names = HashSet::new();
        for words in sentences {
            for (at, word) in words.iter().enumerate().filter(|(_, word)| word.is_title) {
                let kinds = lexicon.kinds(&word.lower);
                let next = words.get(at + 1).map(|next| lexicon.kinds(&next.lower)).unwrap_or_default();
                let acts = next.finite && !next.noun && !kinds.noun;
                let is_name = match word.before {
                    Gap::Stop => (kinds.is_unknown() || acts) && !small.contains(word.lower.as_str()),
                    Gap::Comma | Gap::Blank => true,
                };
                if is_name && kinds.closed.is_none() && !lexicon.is_no_thing(&word.lower) {
                    names.insert(word.lower.clone());
                }
            }
        }
        Evidence { names, nouns: HashSet::new() }
    }

    /// Learns that what follows a determiner is a noun, unless it is surely a verb.
    pub fn learn(&mut self, phrases: &[Phrase], words: &[Word], lexicon: &Lexicon) {
        for phrase in phrases.iter().filter(|phrase| phrase.is_determined) {
            let head = &words[phrase.head].lower;
            if !lexicon.kinds(head).finite {
                self.nouns.insert(head.clone());
            }
        }
    }

    /// What a word may be in this story.
    pub fn kinds(&self, lexicon: &Lexicon, word: &str) -> WordKinds {
        let kinds = lexicon.kinds(word);
        WordKinds { noun: kinds.noun || self.nouns.contains(word), ..kinds }
    }

    /// Whether a word is the name of a person.
    pub fn is_name(&self, lexicon: &Lexicon, word: &Word) -> bool {
        word.is_title && (lexicon.is_name(&word.lower) || self.names.contains(&word.lower))
    }
}
