//! What a word may be.

use crate::language::Language;

/// What a word may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WordKinds {
    pub closed: Option<Closed>,
    pub noun: bool,
    pub adjective: bool,
    /// An Italian adjective that stands before its noun too.
    pub prenominal: bool,
    /// An adjective that says in what state something is, and is no part of its name.
    pub state: bool,
    /// An infinitive.
    pub base: bool,
    /// A form with a person and a tense.
    pub finite: bool,
    pub participle: bool,
    pub gerund: bool,
}

impl WordKinds {
    /// Of a word of a closed class.
    pub fn closed(class: Closed) -> Self {
        WordKinds { closed: Some(class), ..WordKinds::default() }
    }

    /// Of a word that is in no table, by its ending.
    pub fn by_ending(word: &str, language: Language) -> Self {
        match language {
            _ if word.starts_with(|c: char| c.is_numeric()) => WordKinds::closed(Closed::Determiner),
            Language::English => english_ending(word),
            Language::Italian => italian_ending(word),
        }
    }

    pub fn is_verb(self) -> bool {
        self.base || self.finite || self.participle || self.gerund
    }

    pub fn is_only_verb(self) -> bool {
        self.is_verb() && !self.noun && !self.adjective
    }

    /// Whether neither the tables nor the ending tell anything.
    pub fn is_unknown(self) -> bool {
        self == WordKinds::default()
    }
}

/// The closed classes, by what they say about the words after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    Determiner,
    /// "la, lo, le, gli": an article, or before a verb a pronoun.
    Clitic,
    Pronoun,
    Object,
    Preposition,
    Conjunction,
    Subordinator,
    Be,
    Have,
    Auxiliary,
    Infinitive,
    Adverb,
}

fn english_ending(word: &str) -> WordKinds {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.len() > ending.len() + 2 && word.ends_with(ending));
    match () {
        () if word == "'s" => WordKinds::closed(Closed::Determiner),
        () if ends(&["ly"]) => WordKinds::closed(Closed::Adverb),
        () if ends(&["ing"]) => WordKinds { gerund: true, ..WordKinds::default() },
        () if ends(&["ed"]) => WordKinds { finite: true, participle: true, ..WordKinds::default() },
        () if ends(&["ful", "less", "ous", "able", "ible", "ish"]) => {
            WordKinds { adjective: true, ..WordKinds::default() }
        }
        () => WordKinds::default(),
    }
}

fn italian_ending(word: &str) -> WordKinds {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.len() > ending.len() + 1 && word.ends_with(ending));
    const INFINITIVES: [&str; 21] = [
        "are", "ere", "ire", "arsi", "ersi", "irsi", "arlo", "arla", "arli", "arle", "erlo", "erla", "erli", "erle",
        "irlo", "irla", "irli", "irle", "argli", "arci", "erci",
    ];
    const VOWELS: [char; 4] = ['o', 'a', 'i', 'e'];
    match () {
        () if ends(&["mente"]) => WordKinds::closed(Closed::Adverb),
        () if ends(&["ando", "endo", "andosi", "endosi", "andolo", "andola", "endolo", "endola"]) => {
            WordKinds { gerund: true, ..WordKinds::default() }
        }
        () if ends(&["iere"]) => WordKinds::default(),
        () if ends(&INFINITIVES) => WordKinds { base: true, ..WordKinds::default() },
        () if ends(&["ava", "avano", "eva", "evano", "ò", "arono", "irono"]) => {
            WordKinds { finite: true, ..WordKinds::default() }
        }
        () if word.len() > 5 && ["at", "ut", "it"].iter().any(|end| word.trim_end_matches(VOWELS).ends_with(end)) => {
            WordKinds { participle: true, ..WordKinds::default() }
        }
        () => WordKinds::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_what_unknown_words_may_be() {
        let [gerund, past, adverb, number, unknown] = ["blorking", "blorked", "blorkly", "7th", "blork"]
            .map(|word| WordKinds::by_ending(word, Language::English));
        assert!(gerund.gerund && past.finite && past.participle && unknown.is_unknown());
        assert_eq!([adverb.closed, number.closed], [Some(Closed::Adverb), Some(Closed::Determiner)]);
        let [infinitive, participle, noun, finite] =
            ["blorcarla", "blorcata", "blorchiere", "blorcò"].map(|word| WordKinds::by_ending(word, Language::Italian));
        assert!(infinitive.base && participle.participle && noun.is_unknown() && finite.finite);
    }
}
