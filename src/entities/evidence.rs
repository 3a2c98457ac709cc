//! What one sentence of a story tells about words of the others.

use super::kinds::{Closed, WordKinds};
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
                let is_name = match word.before {
                    Gap::Stop if small.contains(word.lower.as_str()) => false,
                    Gap::Stop => lexicon.kinds(&word.lower).is_unknown() || acts(&words[at..], lexicon),
                    Gap::Comma | Gap::Blank => true,
                };
                let is_closed = lexicon.listed(&word.lower).is_some_and(|kinds| kinds.closed.is_some());
                if is_name && !is_closed && !lexicon.is_no_thing(&word.lower) {
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

/// Whether the first of these words does or has something. What it ends in does not count: "Renato ha", "Kelly's".
fn acts(words: &[Word], lexicon: &Lexicon) -> bool {
    let listed = lexicon.listed(&words[0].lower);
    let followers = words[1..].iter().take_while(|word| word.before == Gap::Blank);
    let mut followers = followers.map(|word| (word, lexicon.kinds(&word.lower)));
    let next = followers.find(|(_, kinds)| !matches!(kinds.closed, Some(Closed::Object | Closed::Adverb)));
    next.is_some_and(|(word, next)| match next.closed {
        Some(Closed::Be | Closed::Have | Closed::Auxiliary) => listed.is_none(),
        _ if word.lower == "'s" => listed.is_none(),
        _ => next.finite && !next.noun && !listed.is_some_and(|kinds| kinds.noun),
    })
}
