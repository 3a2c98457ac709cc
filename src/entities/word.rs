//! The words of a sentence.

use crate::language::{Language, is_before_name};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

const APOSTROPHES: [char; 2] = ['\'', '’'];

/// What English joins to the word before it.
const ENDINGS: [&str; 6] = ["'s", "'m", "'re", "'ve", "'ll", "'d"];

/// A word, and what stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it is in its sentence, in bytes.
    pub range: Range<usize>,
    /// In lower case, with straight apostrophes.
    pub lower: String,
    /// Whether its first letter is a capital and the others are small.
    pub is_title: bool,
    pub before: Gap,
}

/// What stands between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing but blanks, or the point of "Mr.".
    Blank,
    /// A comma, brackets and the like.
    Comma,
    /// The end of a sentence, an opening quote, or nothing at all: the word is the first one.
    Stop,
}

/// The words of a sentence. "Ann's" is two words, "Ann" and "'s"; so is "l'acqua".
pub(super) fn words(sentence: &str, language: Language) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut end = 0;
    let mut letters = sentence.grapheme_indices(true).peekable();
    while let Some((start, first)) = letters.next() {
        if !begins_word(first) {
            continue;
        }
        let mut stop = start + first.len();
        while let Some(&(at, letter)) = letters.peek() {
            let is_inner = letter == "-" || letter.starts_with(APOSTROPHES);
            if !(begins_word(letter) || is_inner && begins_word(&sentence[at + letter.len()..])) {
                break;
            }
            stop = at + letter.len();
            letters.next();
        }
        let before = gap(&sentence[end..start], words.last());
        end = stop;
        let parts = split(&sentence[start..stop], language).map(|at| start + at);
        let starts = std::iter::once(start).chain(parts);
        let ends = parts.into_iter().chain([stop]);
        for (part, (from, to)) in starts.zip(ends).enumerate() {
            let before = if part == 0 { before } else { Gap::Blank };
            words.push(Word::new(sentence, from..to, before));
        }
    }
    words
}

fn begins_word(text: &str) -> bool {
    text.starts_with(char::is_alphanumeric)
}

/// Where a word falls into two: before the "'s" or "'ll" of English, after the apostrophe of Italian.
fn split(word: &str, language: Language) -> Option<usize> {
    let at = word.rfind(APOSTROPHES)?;
    let (before, joined) = (lower(&word[..at]), lower(&word[at..]));
    match language {
        Language::English => (ENDINGS.contains(&joined.as_str()) && before != "let").then_some(at),
        Language::Italian => Some(at + word[at..].chars().next()?.len_utf8()),
    }
}

fn gap(between: &str, last: Option<&Word>) -> Gap {
    let Some(last) = last else { return Gap::Stop };
    let is_title = is_before_name(&last.lower) && between.trim() == ".";
    let opens_quote = between.ends_with(['"', '\'', '“', '‘', '«']);
    match between {
        _ if is_title || between.trim().is_empty() => Gap::Blank,
        _ if opens_quote || between.contains(['.', '!', '?', ':', ';', '…', '\n']) => Gap::Stop,
        _ => Gap::Comma,
    }
}

impl Word {
    fn new(sentence: &str, range: Range<usize>, before: Gap) -> Self {
        let text = &sentence[range.clone()];
        let mut letters = text.chars();
        let is_title = letters.next().is_some_and(char::is_uppercase)
            && !text.contains(|c: char| c.is_numeric() || c == '-')
            && text.chars().count() > 1
            && letters.all(|c| !c.is_uppercase());
        Word { lower: lower(text), is_title, range, before }
    }
}

/// In lower case, with straight apostrophes.
pub(super) fn lower(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowers(sentence: &str, language: Language) -> Vec<String> {
        words(sentence, language).into_iter().map(|word| word.lower).collect()
    }

    #[test]
    fn words_fall_apart_where_the_language_joins_two() {
        let english = lowers("Ann’s T-shirt didn't fit, did it?", Language::English);
        assert_eq!(english, ["ann", "'s", "t-shirt", "didn't", "fit", "did", "it"]);
        assert_eq!(lowers("I’ll. Let's!", Language::English), ["i", "'ll", "let's"]);
        let italian = lowers("Rosa versa l’acqua nell'unica tazza.", Language::Italian);
        assert_eq!(italian, ["rosa", "versa", "l'", "acqua", "nell'", "unica", "tazza"]);
        assert_eq!(
            lowers("cre\u{300}me bru\u{302}le\u{301}e", Language::English),
            ["cre\u{300}me", "bru\u{302}le\u{301}e"]
        );
        assert!(lowers(" -'’ — !", Language::English).is_empty());
    }

    #[test]
    fn gaps_and_capitals_are_seen() {
        let words = words("Mr. Hill sat. TV, “Ok” then", Language::English);
        let seen: Vec<_> = words.iter().map(|word| (word.before, word.is_title)).collect();
        use Gap::{Blank, Comma, Stop};
        assert_eq!(seen, [(Stop, true), (Blank, true), (Blank, false), (Stop, false), (Stop, true), (Comma, false)]);
    }
}
