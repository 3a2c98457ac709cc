//! What a word may be: the tables of `data/lexicon/`, the nouns of the synthetic stories, and endings.

use super::inflect::{agreeing, english_plural, english_verb, italian_plural, italian_verb};
use crate::error::{Error, Result};
use crate::language::Language;
use crate::synthetic::World;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// What a word may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub closed: Option<Closed>,
    pub noun: bool,
    pub adjective: bool,
    /// An Italian adjective that stands before its noun too.
    pub prenominal: bool,
    /// An infinitive.
    pub base: bool,
    /// A form with a person and a tense.
    pub finite: bool,
    pub participle: bool,
    pub gerund: bool,
}

impl Kinds {
    pub fn is_verb(self) -> bool {
        self.base || self.finite || self.participle || self.gerund
    }

    /// Whether neither the tables nor the ending tell anything.
    pub fn is_unknown(self) -> bool {
        self == Kinds::default()
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

/// A table of `data/lexicon/`. In every list blanks separate words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLexicon {
    determiners: String,
    #[serde(default)]
    clitics: String,
    pronouns: String,
    objects: String,
    prepositions: String,
    conjunctions: String,
    subordinators: String,
    be: String,
    have: String,
    auxiliaries: String,
    infinitive: String,
    adverbs: String,
    adjectives: String,
    #[serde(default)]
    prenominal: String,
    verbs: String,
    #[serde(default)]
    irregular: String,
    #[serde(default)]
    motion: String,
    #[serde(default)]
    finite: String,
    #[serde(default)]
    participles: String,
    #[serde(default)]
    infinitives: String,
    nouns: String,
    r#abstract: String,
}

/// The words of a language.
pub(super) struct Lexicon {
    pub language: Language,
    words: HashMap<String, Kinds>,
    /// Names of people in the synthetic stories, in lower case.
    names: HashSet<String>,
    /// Nouns of several words, by their first one; the longest first.
    compounds: HashMap<String, Vec<Vec<String>>>,
    motion: HashSet<String>,
    not_things: HashSet<String>,
}

const ENGLISH: &str = include_str!("../../data/lexicon/en.toml");
const ITALIAN: &str = include_str!("../../data/lexicon/it.toml");

impl Lexicon {
    /// The words of a language; read once.
    pub fn of(language: Language) -> &'static Lexicon {
        static LEXICONS: [OnceLock<Lexicon>; 2] = [OnceLock::new(), OnceLock::new()];
        let (number, text) = match language {
            Language::English => (0, ENGLISH),
            Language::Italian => (1, ITALIAN),
        };
        // The tables are part of the program, and a test reads both.
        LEXICONS[number].get_or_init(|| Lexicon::read(text, language).expect("a table of the program is invalid"))
    }

    fn read(text: &str, language: Language) -> Result<Self> {
        let code = language.code();
        let raw: RawLexicon =
            toml::from_str(text).map_err(|error| Error::config(format!("data/lexicon/{code}.toml: {error}")))?;
        let mut lexicon = Lexicon {
            language,
            words: HashMap::new(),
            names: HashSet::new(),
            compounds: HashMap::new(),
            motion: raw.motion.split_whitespace().map(str::to_owned).collect(),
            not_things: raw.r#abstract.split_whitespace().map(str::to_owned).collect(),
        };
        match language {
            Language::English => lexicon.add_english_verbs(&raw),
            Language::Italian => lexicon.add_italian_verbs(&raw),
        }
        lexicon.add_adjectives(&raw);
        raw.nouns.split_whitespace().for_each(|noun| lexicon.add_noun(noun));
        let world = World::load()?;
        world.nouns(language).for_each(|noun| lexicon.add_noun(&noun.to_lowercase()));
        for name in world.names(language) {
            match name.chars().next().is_some_and(char::is_uppercase) {
                true => drop(lexicon.names.insert(name.to_lowercase())),
                false => lexicon.add_noun(name),
            }
        }
        lexicon.add_closed(&raw);
        lexicon.compounds.values_mut().for_each(|known| known.sort_by_key(|words| std::cmp::Reverse(words.len())));
        Ok(lexicon)
    }

    fn mark(&mut self, word: impl Into<String>, set: impl Fn(&mut Kinds)) {
        set(self.words.entry(word.into()).or_default());
    }

    fn add_noun(&mut self, noun: &str) {
        let words: Vec<&str> = noun.split_whitespace().collect();
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let plural = match self.language {
            Language::English => Some(english_plural(last)),
            Language::Italian => italian_plural(first),
        };
        if let [word] = words[..] {
            self.mark(word, |kinds| kinds.noun = true);
            plural.into_iter().for_each(|plural| self.mark(plural, |kinds| kinds.noun = true));
            return;
        }
        let mut add = |words: Vec<String>| self.compounds.entry(words[0].clone()).or_default().push(words);
        let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(plural) = plural {
            let mut inflected = owned.clone();
            let at = if self.language == Language::English { inflected.len() - 1 } else { 0 };
            inflected[at] = plural;
            add(inflected);
        }
        add(owned);
    }

    fn add_english_verbs(&mut self, raw: &RawLexicon) {
        for base in raw.verbs.split_whitespace() {
            let forms = english_verb(base);
            self.mark(base, |kinds| kinds.base = true);
            self.mark(forms.third, |kinds| kinds.finite = true);
            for past in forms.past {
                self.mark(past, |kinds| (kinds.finite, kinds.participle) = (true, true));
            }
            forms.gerund.into_iter().for_each(|gerund| self.mark(gerund, |kinds| kinds.gerund = true));
        }
        for verb in raw.irregular.split_whitespace() {
            let mut forms = verb.split('/');
            let [base, past, participle] = [(); 3].map(|()| forms.next().unwrap_or_default());
            let regular = english_verb(base);
            self.mark(base, |kinds| kinds.base = true);
            self.mark(regular.third, |kinds| kinds.finite = true);
            self.mark(past, |kinds| kinds.finite = true);
            self.mark(participle, |kinds| kinds.participle = true);
            regular.gerund.into_iter().for_each(|gerund| self.mark(gerund, |kinds| kinds.gerund = true));
        }
    }

    fn add_italian_verbs(&mut self, raw: &RawLexicon) {
        for verb in raw.verbs.split_whitespace() {
            let infinitive = verb.trim_start_matches('+');
            let Some(forms) = italian_verb(infinitive, verb.starts_with('+')) else { continue };
            self.mark(infinitive, |kinds| kinds.base = true);
            forms.finite.into_iter().for_each(|form| self.mark(form, |kinds| kinds.finite = true));
            forms.participles.into_iter().for_each(|form| self.mark(form, |kinds| kinds.participle = true));
            self.mark(forms.gerund, |kinds| kinds.gerund = true);
        }
        raw.finite.split_whitespace().for_each(|form| self.mark(form, |kinds| kinds.finite = true));
        raw.infinitives.split_whitespace().for_each(|form| self.mark(form, |kinds| kinds.base = true));
        for form in raw.participles.split_whitespace().flat_map(agreeing) {
            self.mark(form, |kinds| kinds.participle = true);
        }
    }

    fn add_adjectives(&mut self, raw: &RawLexicon) {
        raw.adjectives.split_whitespace().flat_map(forms).for_each(|form| self.mark(form, |k| k.adjective = true));
        for form in raw.prenominal.split_whitespace().flat_map(forms) {
            self.mark(form, |kinds| (kinds.adjective, kinds.prenominal) = (true, true));
        }
    }

    fn add_closed(&mut self, raw: &RawLexicon) {
        use Closed::*;
        for (list, class) in [
            (&raw.adverbs, Adverb),
            (&raw.subordinators, Subordinator),
            (&raw.prepositions, Preposition),
            (&raw.conjunctions, Conjunction),
            (&raw.determiners, Determiner),
            (&raw.clitics, Clitic),
            (&raw.pronouns, Pronoun),
            (&raw.objects, Object),
            (&raw.be, Be),
            (&raw.have, Have),
            (&raw.auxiliaries, Auxiliary),
            (&raw.infinitive, Infinitive),
        ] {
            list.split_whitespace().for_each(|word| self.mark(word, |kinds| kinds.closed = Some(class)));
        }
    }

    /// What a word in lower case may be. Of unknown words the ending is asked.
    pub fn kinds(&self, word: &str) -> Kinds {
        let known = self.words.get(word).copied();
        known.unwrap_or_else(|| match self.language {
            _ if word.starts_with(|c: char| c.is_numeric()) => closed(Closed::Determiner),
            Language::English => english_ending(word),
            Language::Italian => italian_ending(word),
        })
    }

    /// Whether it is the name of a person in the synthetic stories.
    pub fn is_name(&self, word: &str) -> bool {
        self.names.contains(word)
    }

    /// Whether the verb takes one somewhere: "walked to work".
    pub fn is_motion(&self, verb: &str) -> bool {
        self.motion.contains(verb)
    }

    /// Whether it names neither a person nor a thing: "way", "morning".
    pub fn is_no_thing(&self, noun: &str) -> bool {
        self.not_things.contains(noun)
    }

    /// How many words the longest known noun of several words has that begins here; 0 if there is none.
    pub fn compound<'a>(&self, words: impl Iterator<Item = &'a str> + Clone) -> usize {
        let known = words.clone().next().and_then(|first| self.compounds.get(first)).into_iter().flatten();
        let fits = |compound: &&Vec<String>| {
            let mut here = words.clone();
            compound.iter().all(|word| here.next() == Some(word))
        };
        known.into_iter().find(fits).map_or(0, Vec::len)
    }
}

/// The forms of an Italian adjective: "ross@" has four, "verd%" two, "rosa" one.
fn forms(adjective: &str) -> Vec<String> {
    match (adjective.strip_suffix('@'), adjective.strip_suffix('%')) {
        (Some(stem), _) => ["o", "a", "i", "e"].iter().map(|end| format!("{stem}{end}")).collect(),
        (_, Some(stem)) => ["e", "i"].iter().map(|end| format!("{stem}{end}")).collect(),
        _ => vec![adjective.to_owned()],
    }
}

fn closed(class: Closed) -> Kinds {
    Kinds { closed: Some(class), ..Kinds::default() }
}

fn english_ending(word: &str) -> Kinds {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.len() > ending.len() + 2 && word.ends_with(ending));
    match () {
        () if word == "'s" => closed(Closed::Determiner),
        () if ends(&["ly"]) => closed(Closed::Adverb),
        () if ends(&["ing"]) => Kinds { gerund: true, ..Kinds::default() },
        () if ends(&["ed"]) => Kinds { finite: true, participle: true, ..Kinds::default() },
        () if ends(&["ful", "less", "ous", "able", "ible", "ish"]) => Kinds { adjective: true, ..Kinds::default() },
        () => Kinds::default(),
    }
}

fn italian_ending(word: &str) -> Kinds {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.len() > ending.len() + 1 && word.ends_with(ending));
    const INFINITIVES: [&str; 21] = [
        "are", "ere", "ire", "arsi", "ersi", "irsi", "arlo", "arla", "arli", "arle", "erlo", "erla", "erli", "erle",
        "irlo", "irla", "irli", "irle", "argli", "arci", "erci",
    ];
    const VOWELS: [char; 4] = ['o', 'a', 'i', 'e'];
    match () {
        () if ends(&["mente"]) => closed(Closed::Adverb),
        () if ends(&["ando", "endo", "andosi", "endosi", "andolo", "andola", "endolo", "endola"]) => {
            Kinds { gerund: true, ..Kinds::default() }
        }
        () if ends(&["iere"]) => Kinds::default(),
        () if ends(&INFINITIVES) => Kinds { base: true, ..Kinds::default() },
        () if ends(&["ava", "avano", "eva", "evano", "ò", "arono", "irono"]) => {
            Kinds { finite: true, ..Kinds::default() }
        }
        () if word.len() > 5 && ["at", "ut", "it"].iter().any(|end| word.trim_end_matches(VOWELS).ends_with(end)) => {
            Kinds { participle: true, ..Kinds::default() }
        }
        () => Kinds::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_are_read() {
        for (language, noun, verb) in [(Language::English, "kettles", "boiled"), (Language::Italian, "tazze", "bolle")] {
            let lexicon = Lexicon::of(language);
            assert!(lexicon.kinds(noun).noun && lexicon.kinds(verb).finite, "{noun}, {verb}");
        }
        let lexicon = Lexicon::read("verbs = \"\"", Language::Italian).err().unwrap();
        assert!(lexicon.message.starts_with("data/lexicon/it.toml: "), "{}", lexicon.message);
    }
}
