//! Noun phrases.

use super::kinds::Closed;
use super::lexicon::Lexicon;
use super::reading::Reading;
use super::word::{Gap, Word};
use crate::language::Language;
use std::ops::Range;

/// Of a longer phrase only the words nearest to its noun are taken: no thing is called by more.
const MAX_WORDS: usize = 5;

/// A noun with its adjectives, or a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    /// Which words of the sentence.
    pub words: Range<usize>,
    /// The noun that the others describe.
    pub head: usize,
    /// Whether a determiner stands before it.
    pub is_determined: bool,
}

/// The noun phrases of a sentence.
pub(super) fn phrases(words: &[Word], readings: &[Reading], lexicon: &Lexicon) -> Vec<Phrase> {
    let mut phrases = Vec::new();
    let mut start = 0;
    while start < words.len() {
        let end = (start + 1..words.len())
            .find(|&i| words[i].before != Gap::Blank || !goes_on(readings, i, lexicon.language))
            .unwrap_or(words.len());
        phrases.extend(phrase(start..end, words, readings, lexicon));
        start = end;
    }
    phrases
}

/// Whether a word belongs to the same phrase as the one before it.
fn goes_on(readings: &[Reading], at: usize, language: Language) -> bool {
    use Reading::{Compound, Modifier, Name, Noun, Outside, Verb};
    match (readings[at - 1], readings[at], language) {
        (Outside | Verb, _, _) | (_, Outside | Verb, _) => false,
        (Name, Name, _) | (Compound, Compound, _) => true,
        (Name, _, _) | (_, Name, _) => false,
        (_, _, Language::English) => true,
        (Noun | Modifier | Compound, Modifier, Language::Italian) => true,
        (_, _, Language::Italian) => false,
    }
}

fn phrase(range: Range<usize>, words: &[Word], readings: &[Reading], lexicon: &Lexicon) -> Option<Phrase> {
    let is_noun = |&i: &usize| matches!(readings[i], Reading::Noun | Reading::Compound | Reading::Name);
    let last = range.clone().rev().find(is_noun)?;
    let (range, head) = match lexicon.language {
        Language::English => (range.start..last + 1, last),
        Language::Italian => (range.clone(), range.clone().find(is_noun)?),
    };
    let before = range.start.checked_sub(1).filter(|_| words[range.start].before == Gap::Blank);
    let determiner = before.and_then(|at| lexicon.kinds(&words[at].lower).closed);
    let is_determined = matches!(determiner, Some(Closed::Determiner | Closed::Clitic));
    let words = match lexicon.language {
        Language::English => range.end.saturating_sub(MAX_WORDS).max(range.start)..range.end,
        Language::Italian => range.start..range.end.min(range.start + MAX_WORDS),
    };
    Some(Phrase { words, head, is_determined })
}
