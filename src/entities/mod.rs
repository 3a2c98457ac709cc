//! Finds the people and things of a story: its entities.
//!
//! The entities are the noun phrases: nouns with their adjectives ("red cup", "tazza rossa"), without articles,
//! possessives and numbers, and names. A small deterministic tagger finds them. It knows the closed classes of words
//! (articles, prepositions, auxiliaries: `data/lexicon/`), verbs with their forms, the nouns of the synthetic stories
//! (`data/world/`), and endings. What the other sentences of the story show counts too: names by capitals, nouns by their
//! articles.
//!
//! `docs/entities.md` says how much of TRIP's and GITA's entities it finds, beside other programs.

mod evidence;
mod expressions;
mod inflect;
mod kinds;
mod lexicon;
mod measure;
mod name;
mod open_class;
mod phrase;
mod reading;
mod replace;
mod tag;
mod word;

pub use measure::{EntityScores, FoundStory, MatchScores};
pub use name::{head, normalized};
pub use replace::with_found;

use crate::language::Language;
use crate::untrusted::{MAX_ENTITIES, MAX_NAME};
use evidence::Evidence;
use lexicon::Lexicon;
use phrase::{Phrase, phrases};
use std::collections::HashMap;
use tag::readings;
use word::{Word, words};

/// The people and things of a story, in the order of their first mention. Each is a part of a sentence, as it is written
/// there; none occurs twice, whatever its capitals. The same sentences always have the same entities.
///
/// There are at most 128, of at most 200 characters each: as many as a story may have. If more are found, those that are
/// mentioned most often remain.
///
/// ```
/// use tiered::language::Language;
///
/// let story = ["Rosa unplugged the old kettle.", "She put the kettle on a shelf in the kitchen."];
/// let found = tiered::entities::find(&story, Language::English);
/// assert_eq!(found, ["Rosa", "old kettle", "kettle", "shelf", "kitchen"]);
/// ```
pub fn find<S: AsRef<str>>(sentences: &[S], language: Language) -> Vec<String> {
    let lexicon = Lexicon::of(language);
    let story: Vec<Vec<Word>> = sentences.iter().map(|sentence| words(sentence.as_ref(), language)).collect();
    let mut evidence = Evidence::of_capitals(&story, lexicon);
    let read = |evidence: &Evidence| -> Vec<Vec<Phrase>> {
        story.iter().map(|words| phrases(words, &readings(words, lexicon, evidence), lexicon)).collect()
    };
    for (phrases, words) in read(&evidence).iter().zip(&story) {
        evidence.learn(phrases, words, lexicon);
    }
    let mut found = Mentions::default();
    for ((phrases, words), sentence) in read(&evidence).into_iter().zip(&story).zip(sentences) {
        for phrase in phrases.iter().filter(|phrase| !lexicon.is_no_thing(&words[phrase.head].lower)) {
            let (first, last) = (&words[phrase.words.start], &words[phrase.words.end - 1]);
            found.add(&sentence.as_ref()[first.range.start..last.range.end]);
        }
    }
    found.names()
}

/// The names found so far.
#[derive(Default)]
struct Mentions {
    /// Name -> its place in `names`.
    places: HashMap<String, usize>,
    /// How each is written, and how often it is mentioned.
    names: Vec<(String, usize)>,
}

impl Mentions {
    fn add(&mut self, name: &str) {
        let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
        if letters < 2 || name.chars().count() > MAX_NAME {
            return;
        }
        let place = *self.places.entry(normalized(name)).or_insert(self.names.len());
        match self.names.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => self.names.push((name.to_owned(), 1)),
        }
    }

    fn names(self) -> Vec<String> {
        let mut by_count: Vec<usize> = (0..self.names.len()).collect();
        by_count.sort_by_key(|&i| std::cmp::Reverse(self.names[i].1));
        by_count.truncate(MAX_ENTITIES);
        by_count.sort_unstable();
        by_count.into_iter().map(|i| self.names[i].0.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_sentences() {
        for (sentence, expected) in [
            // Names that end like other words.
            ("Otto and Emily rinsed the pan.", "Otto, Emily, pan"),
            ("Manfred was stirring soup.", "Manfred, soup"),
            ("Molly's parrot bit Winifred's thumb.", "Molly, parrot, Winifred, thumb"),
            ("Lotte moved to Sicily.", "Lotte, Sicily"),
            ("Briskly Otto rinsed the pan.", "Otto, pan"),
            // Verbs after an apostrophe.
            ("I'm rinsing the pan.", "pan"),
            ("They’re in the shed.", "shed"),
            ("Otto hoped that they'd rinse the pan.", "Otto, pan"),
            ("I've a parrot.", "parrot"),
            ("Let's rinse the pan.", "pan"),
            ("She's rinsed the pan.", "pan"),
            ("It's broken.", ""),
            ("That's cold.", ""),
            ("There's soup in the pan.", "soup, pan"),
            ("Otto lifted it's lid.", "Otto, lid"),
            ("Otto rinsed someone's pan.", "Otto, pan"),
            // Verbs after words that stand before nouns too.
            ("They both ate the soup.", "soup"),
            ("Lotte first rinsed the pan.", "Lotte, pan"),
            ("The lamp, which broke the pan, fell.", "lamp, pan"),
            ("Lotte rinsed both pans.", "Lotte, pans"),
            ("Lotte heard her rinse the pan.", "Lotte, pan"),
            ("The repair he made was bad.", "repair"),
            // A verb between two nouns, where each of them may be one.
            ("The baby drinks milk.", "baby, milk"),
            ("Her mother cooks dinner every day.", "mother, dinner"),
            ("The woman irons shirts.", "woman, shirts"),
            ("The dog saw cats.", "dog, cats"),
            ("The old lights break.", "old lights"),
            // Nouns that look like something else.
            ("Otto threw the pan into the trash can.", "Otto, pan, trash can"),
            ("The soda can was full.", "soda can"),
            ("Lotte cut paper with scissors.", "Lotte, paper, scissors"),
            ("Lotte painted it silver.", "Lotte"),
            ("The soup got cold.", "soup"),
            // A new clause.
            ("Lotte said, \"Bring me the pan.\"", "Lotte, pan"),
            ("Lotte said: ‘Bring the pan, Otto.’", "Lotte, pan, Otto"),
            ("\"Bring me the pan,\" Lotte said.", "pan, Lotte"),
            ("Otto saw Lotte because she did the soup mix.", "Otto, Lotte, soup mix"),
            // One name, whatever its blanks.
            ("Otto dropped the red  pan. The red pan broke.", "Otto, red  pan"),
        ] {
            assert_eq!(find(&[sentence], Language::English).join(", "), expected, "{sentence}");
        }
    }

    #[test]
    fn italian_sentences() {
        for (sentence, expected) in [
            ("Niccolò è in giardino.", "Niccolò, giardino"),
            ("Il cane la mangia.", "cane"),
            ("La nonna la lava.", "nonna"),
            ("Nessun altro lo vede.", ""),
            ("Donato ha rotto la lampada.", "Donato, lampada"),
            ("Ferdinando non si è lavato le mani.", "Ferdinando, mani"),
            ("Ugo prende il regalo da Ada.", "Ugo, regalo, Ada"),
            ("Ugo prende il ferro da stiro.", "Ugo, ferro da stiro"),
            ("Tutti leggono la lettera.", "lettera"),
            ("Ugo vede una macchia sulla lampada.", "Ugo, macchia, lampada"),
            ("Prima apre la scatola.", "scatola"),
            ("Ada prima lava la lampada.", "Ada, lampada"),
            ("Ada lava la prima lampada.", "Ada, lampada"),
            ("Il forno è molto caldo.", "forno"),
            ("Nel forno c'è molto pane.", "forno, pane"),
        ] {
            assert_eq!(find(&[sentence], Language::Italian).join(", "), expected, "{sentence}");
        }
    }
}
