//! What a word may be: the tables of `data/lexicon/`, the nouns of the synthetic stories, and endings.

use super::expressions::Expressions;
use super::inflect::{agreeing, english_verb, italian_plural, italian_verb, with_s};
use super::kinds::{Closed, WordKinds};
use super::word;
use crate::error::{Error, Result};
use crate::language::Language;
use crate::synthetic::World;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

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
    #[serde(default)]
    states: String,
    #[serde(default)]
    qualities: String,
    fixed: Vec<String>,
    #[serde(default)]
    compounds: Vec<String>,
    verbs: String,
    #[serde(default)]
    irregular: String,
    #[serde(default)]
    motion: String,
    #[serde(default)]
    perception: String,
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
    words: HashMap<String, WordKinds>,
    /// Names of people in the synthetic stories, in lower case.
    names: HashSet<String>,
    /// Nouns of several words.
    compounds: Expressions,
    /// Expressions of several words that name no thing.
    fixed: Expressions,
    qualities: HashSet<String>,
    motion: HashSet<String>,
    perception: HashSet<String>,
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
        let set = |list: &str| list.split_whitespace().map(str::to_owned).collect();
        let mut lexicon = Lexicon {
            language,
            words: HashMap::new(),
            names: HashSet::new(),
            compounds: Expressions::default(),
            fixed: Expressions::default(),
            qualities: set(&raw.qualities),
            motion: set(&raw.motion),
            perception: set(&raw.perception),
            not_things: set(&raw.r#abstract),
        };
        match language {
            Language::English => lexicon.add_english_verbs(&raw),
            Language::Italian => lexicon.add_italian_verbs(&raw),
        }
        lexicon.add_adjectives(&raw);
        raw.nouns.split_whitespace().for_each(|noun| lexicon.add_noun(noun));
        raw.compounds.iter().for_each(|noun| lexicon.add_noun(noun));
        let world = World::load()?;
        world.nouns(language).for_each(|noun| lexicon.add_noun(&noun.to_lowercase()));
        for name in world.names(language) {
            match name.chars().next().is_some_and(char::is_uppercase) {
                true => drop(lexicon.names.insert(name.to_lowercase())),
                false => lexicon.add_noun(name),
            }
        }
        lexicon.add_closed(&raw)?;
        for words in &raw.fixed {
            lexicon.fixed.add(word::words(words, language).into_iter().map(|word| word.lower).collect());
        }
        Ok(lexicon)
    }

    fn mark(&mut self, word: impl Into<String>, set: impl Fn(&mut WordKinds)) {
        set(self.words.entry(word.into()).or_default());
    }

    fn add_noun(&mut self, noun: &str) {
        let words: Vec<&str> = noun.split_whitespace().collect();
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let plural = match self.language {
            Language::English => Some(with_s(last)),
            Language::Italian => italian_plural(first),
        };
        if let [word] = words[..] {
            self.mark(word, |kinds| kinds.noun = true);
            plural.into_iter().for_each(|plural| self.mark(plural, |kinds| kinds.noun = true));
            return;
        }
        let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(plural) = plural {
            let mut inflected = owned.clone();
            let at = if self.language == Language::English { inflected.len() - 1 } else { 0 };
            inflected[at] = plural;
            self.compounds.add(inflected);
        }
        self.compounds.add(owned);
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
        for form in raw.states.split_whitespace().flat_map(forms) {
            self.mark(form, |kinds| (kinds.adjective, kinds.state) = (true, true));
        }
        for form in raw.prenominal.split_whitespace().flat_map(forms) {
            self.mark(form, |kinds| (kinds.adjective, kinds.prenominal) = (true, true));
        }
    }

    fn add_closed(&mut self, raw: &RawLexicon) -> Result<()> {
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
            for word in list.split_whitespace() {
                if self.listed(word).is_some_and(|kinds| kinds.closed.is_some()) {
                    return Err(Error::config(format!(
                        "data/lexicon/{}.toml: {word:?} stands in two lists of closed classes",
                        self.language.code()
                    )));
                }
                self.mark(word, |kinds| kinds.closed = Some(class));
            }
        }
        Ok(())
    }

    /// What a word in lower case may be. Of unknown words the ending is asked.
    pub fn kinds(&self, word: &str) -> WordKinds {
        self.listed(word).unwrap_or_else(|| WordKinds::by_ending(word, self.language))
    }

    /// What the tables say about a word.
    pub fn listed(&self, word: &str) -> Option<WordKinds> {
        self.words.get(word).copied()
    }

    /// Whether it is the name of a person in the synthetic stories.
    pub fn is_name(&self, word: &str) -> bool {
        self.names.contains(word)
    }

    /// Whether the verb takes one somewhere: "walked to work".
    pub fn is_motion(&self, verb: &str) -> bool {
        self.motion.contains(verb)
    }

    /// Whether the infinitive of another verb may follow its object: "heard the doorbell ring".
    pub fn is_perception(&self, verb: &str) -> bool {
        self.perception.contains(verb)
    }

    /// Whether it names neither a person nor a thing: "way", "morning".
    pub fn is_no_thing(&self, noun: &str) -> bool {
        self.not_things.contains(noun)
    }

    /// Whether a noun describes another one after a bare preposition: "tavolo di legno".
    pub fn is_quality(&self, noun: &str) -> bool {
        self.qualities.contains(noun)
    }

    /// How many words the longest known noun of several words has that begins here; 0 if there is none.
    pub fn compound<'a>(&self, words: impl Iterator<Item = &'a str> + Clone) -> usize {
        self.compounds.longest(words)
    }

    /// The same for expressions that name no thing: "on purpose".
    pub fn fixed<'a>(&self, words: impl Iterator<Item = &'a str> + Clone) -> usize {
        self.fixed.longest(words)
    }
}

/// The forms of an Italian adjective: "ross@" has four, "verd%" two, "rosa" one.
fn forms(adjective: &str) -> Vec<String> {
    match (adjective.strip_suffix('@'), adjective.strip_suffix('%')) {
        (Some(stem), _) => agreeing(stem),
        (_, Some(stem)) => ["e", "i"].iter().map(|end| format!("{stem}{end}")).collect(),
        _ => vec![adjective.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_are_read() {
        for (language, noun, verb) in [(Language::English, "kettles", "boiled"), (Language::Italian, "tazze", "bolle")]
        {
            let lexicon = Lexicon::of(language);
            assert!(lexicon.kinds(noun).noun && lexicon.kinds(verb).finite, "{noun}, {verb}");
        }
        let refused = |text: &str| Lexicon::read(text, Language::Italian).err().unwrap().message;
        let unfinished = refused("verbs = \"\"");
        assert!(unfinished.starts_with("data/lexicon/it.toml: "), "{unfinished}");
        let twice = ITALIAN.replace("conjunctions = \"e ", "conjunctions = \"e molto ");
        assert_eq!(refused(&twice), "data/lexicon/it.toml: \"molto\" stands in two lists of closed classes");
    }
}
