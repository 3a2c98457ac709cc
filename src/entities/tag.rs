//! What each word of a sentence is: part of a noun phrase, or what parts two of them.
//!
//! Words of the closed classes are known. A word of an open class is read by what came before it: after a determiner
//! comes a noun, after "to" a verb, after a subject a verb, after a verb its object.

use super::evidence::Evidence;
use super::kinds::{Closed, WordKinds};
use super::lexicon::Lexicon;
use super::reading::Reading;
use super::word::{Gap, Word};
use crate::language::Language;

/// No expression of the tables has more words.
const LONGEST_EXPRESSION: usize = 5;

/// After these "'s" is a verb.
const BEFORE_IS: [&str; 9] = ["he", "she", "it", "that", "there", "here", "what", "who", "where"];

/// What has been read right before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagContext {
    /// A clause begins.
    Start,
    Determiner,
    Preposition,
    Conjunction,
    /// A subject; its verb is expected.
    Subject,
    /// A noun phrase that may go on.
    Nominal,
    Verb,
    Be,
    Have,
    /// A word that wants an infinitive.
    Auxiliary,
    Infinitive,
}

/// The form of the clause's last verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerbForm {
    Finite,
    Base,
    Participle,
    Gerund,
}

/// Reads the words of one sentence.
pub(super) fn readings(words: &[Word], lexicon: &Lexicon, evidence: &Evidence) -> Vec<Reading> {
    let kinds = words.iter().map(|word| evidence.kinds(lexicon, &word.lower)).collect();
    let mut tagger = Tagger {
        words,
        kinds,
        lexicon,
        evidence,
        readings: Vec::with_capacity(words.len()),
        context: TagContext::Start,
        verb: None,
        motion: false,
        perception: false,
        predicate: None,
    };
    while tagger.readings.len() < words.len() {
        tagger.step();
    }
    tagger.readings
}

pub(super) struct Tagger<'a> {
    pub words: &'a [Word],
    pub kinds: Vec<WordKinds>,
    pub lexicon: &'a Lexicon,
    evidence: &'a Evidence,
    /// Of the words so far.
    pub readings: Vec<Reading>,
    pub context: TagContext,
    /// The clause's last verb.
    pub verb: Option<VerbForm>,
    /// Whether that verb takes somebody somewhere.
    pub motion: bool,
    /// Whether the infinitive of another verb may follow its object.
    pub perception: bool,
    /// In a subject, the word that is its verb.
    pub predicate: Option<usize>,
}

impl Tagger<'_> {
    /// Reads the next word, or all words of a noun of several words.
    fn step(&mut self) {
        let at = self.readings.len();
        match self.words[at].before {
            Gap::Stop => self.begin_clause(),
            Gap::Comma if self.verb.is_none() => self.context = TagContext::Start,
            Gap::Comma => self.context = TagContext::Conjunction,
            Gap::Blank => {}
        }
        let few = || self.few_words(at).map(|word| word.lower.as_str());
        let (compound, fixed, quality) = (self.lexicon.compound(few()), self.lexicon.fixed(few()), self.quality(at));
        if compound > 0 {
            self.readings.extend(std::iter::repeat_n(Reading::Compound, compound));
            self.predicate = self.predicate_after(at + compound - 1);
            self.context = TagContext::Nominal;
        } else if fixed > 0 {
            self.readings.extend(std::iter::repeat_n(Reading::Outside, fixed));
            self.context = self.context_after_phrase();
        } else if quality {
            self.readings.extend([Reading::Modifier; 2]);
        } else if self.is_name(at) {
            self.name(at);
        } else if let Some(class) = self.closed_class(at) {
            self.closed(class, at);
        } else {
            let reading = self.open(at);
            self.readings.push(reading);
        }
    }

    pub fn is_name(&self, at: usize) -> bool {
        self.evidence.is_name(self.lexicon, &self.words[at])
    }

    /// What is expected after a noun phrase that can't go on.
    pub fn context_after_phrase(&self) -> TagContext {
        if self.verb.is_none() { TagContext::Subject } else { TagContext::Verb }
    }

    /// This word and a few after it that only blanks separate.
    fn few_words(&self, at: usize) -> impl Iterator<Item = &Word> + Clone {
        let rest = &self.words[at..(at + LONGEST_EXPRESSION).min(self.words.len())];
        let end = (1..rest.len()).find(|&i| rest[i].before != Gap::Blank).unwrap_or(rest.len());
        rest[..end].iter()
    }

    /// Whether this word and the next one describe the noun before them: "da stiro", "di legno".
    fn quality(&self, at: usize) -> bool {
        let Some(next) = self.next(at).filter(|next| next.closed.is_none()) else { return false };
        if self.context != TagContext::Nominal || self.lexicon.language != Language::Italian {
            return false;
        }
        match self.words[at].lower.as_str() {
            "da" => !self.is_name(at + 1) && (next.base || next.noun || next.is_unknown()),
            "di" | "a" => self.lexicon.is_quality(&self.words[at + 1].lower),
            _ => false,
        }
    }

    fn begin_clause(&mut self) {
        (self.context, self.verb, self.predicate) = (TagContext::Start, None, None);
        (self.motion, self.perception) = (false, false);
    }

    /// The closed class of a word. Where a noun is expected, some of them are nouns or adjectives: "a can", "at home",
    /// "straight hair".
    fn closed_class(&self, at: usize) -> Option<Closed> {
        let kinds = self.kinds[at];
        let wants_noun = matches!(self.context, TagContext::Determiner | TagContext::Preposition);
        let is_noun = kinds.noun && wants_noun && kinds.closed != Some(Closed::Determiner);
        let wants_adjective = wants_noun || self.context == TagContext::Verb;
        let describes = kinds.adjective && kinds.closed == Some(Closed::Adverb);
        let is_adjective = describes && wants_adjective && self.is_followed_by_open(at);
        kinds.closed.filter(|_| !is_noun && !is_adjective)
    }

    fn name(&mut self, at: usize) {
        // A new subject: "... and Tom washed"
        if self.context == TagContext::Conjunction && self.next(at).is_some_and(|next| next.finite && !next.noun) {
            self.verb = None;
        }
        let in_phrase = matches!(self.context, TagContext::Determiner | TagContext::Nominal);
        if in_phrase && self.lexicon.language == Language::English && !self.lexicon.is_name(&self.words[at].lower) {
            self.readings.push(Reading::Noun);
            self.context = TagContext::Nominal;
            return;
        }
        self.readings.push(Reading::Name);
        self.context = self.context_after_phrase();
    }

    /// What the word after this one may be, if only a blank is between them.
    pub fn next(&self, at: usize) -> Option<WordKinds> {
        let word = self.words.get(at + 1)?;
        (word.before == Gap::Blank).then(|| self.kinds[at + 1])
    }

    /// Whether the next word can go on a noun phrase.
    pub fn is_followed_by_open(&self, at: usize) -> bool {
        self.next(at).is_some_and(|next| next.closed.is_none() || next.noun && next.closed != Some(Closed::Preposition))
    }

    pub fn is_followed_by(&self, at: usize, classes: &[Closed]) -> bool {
        self.next(at).and_then(|next| next.closed).is_some_and(|class| classes.contains(&class))
    }

    fn closed(&mut self, class: Closed, at: usize) {
        self.readings.push(Reading::Outside);
        let is_over = matches!(self.context, TagContext::Nominal | TagContext::Determiner | TagContext::Preposition);
        let rest = self.context_after_phrase();
        self.context = match class {
            Closed::Determiner if self.words[at].lower == "'s" => self.possessive(at),
            Closed::Determiner if self.is_degree(at) => TagContext::Be,
            Closed::Determiner => TagContext::Determiner,
            Closed::Clitic => self.clitic(at),
            Closed::Preposition => TagContext::Preposition,
            Closed::Conjunction => TagContext::Conjunction,
            Closed::Subordinator => {
                self.begin_clause();
                TagContext::Start
            }
            Closed::Pronoun => self.pronoun(at),
            Closed::Object if is_over => rest,
            Closed::Adverb if self.context == TagContext::Nominal => rest,
            Closed::Object | Closed::Adverb => self.context,
            Closed::Be | Closed::Have => {
                self.verb = Some(VerbForm::Participle);
                self.note_verb(at);
                if class == Closed::Be { TagContext::Be } else { TagContext::Have }
            }
            Closed::Auxiliary => {
                self.verb = Some(VerbForm::Base);
                TagContext::Auxiliary
            }
            Closed::Infinitive => TagContext::Infinitive,
        };
    }

    fn note_verb(&mut self, at: usize) {
        let word = &self.words[at].lower;
        (self.motion, self.perception) = (self.lexicon.is_motion(word), self.lexicon.is_perception(word));
    }

    /// "molto latte", but "è molto caldo".
    fn is_degree(&self, at: usize) -> bool {
        let is_amount = ["molto", "poco", "tanto", "troppo"].contains(&self.words[at].lower.as_str());
        is_amount && self.context == TagContext::Be && self.next(at).is_some_and(|next| next.adjective)
    }

    /// "Ann's book", but "Ann's washing it" and "she's here".
    fn possessive(&mut self, at: usize) -> TagContext {
        let is_verb = self.is_followed_by(at, &[Closed::Determiner, Closed::Preposition, Closed::Adverb]);
        let is_verb = is_verb || self.next(at).is_some_and(|next| next.gerund && !next.noun);
        let is_verb = is_verb || BEFORE_IS.contains(&self.words[at - 1].lower.as_str());
        if !is_verb || self.verb.is_some() {
            return TagContext::Determiner;
        }
        self.verb = Some(VerbForm::Participle);
        TagContext::Be
    }

    /// "la tazza", but "Rosa la beve", "e la mette nel frigo".
    fn clitic(&mut self, at: usize) -> TagContext {
        let next = self.next(at).unwrap_or_default();
        let is_only_verb = next.finite && next.is_only_verb();
        let begins = matches!(self.context, TagContext::Start | TagContext::Conjunction);
        let wants_verb = self.context == TagContext::Subject && self.verb.is_none();
        let follows_noun = matches!(self.context, TagContext::Nominal | TagContext::Determiner);
        match () {
            () if wants_verb && next.closed.is_none() && (next.finite || !next.noun) => TagContext::Subject,
            // "il cane la mangia": no article follows a noun before there is a verb.
            () if follows_noun && self.verb.is_none() && is_only_verb => TagContext::Subject,
            () if begins && (is_only_verb || !self.may_be_article(at)) => {
                self.verb = None;
                TagContext::Subject
            }
            () if self.may_be_article(at) => TagContext::Determiner,
            () => self.context,
        }
    }

    /// Whether the next word begins as a noun after this article must: "lo zaino", "gli occhi", "la porta".
    fn may_be_article(&self, at: usize) -> bool {
        let Some(next) = self.words.get(at + 1) else { return false };
        let is_vowel = next.lower.starts_with(|c| "aeiouhàèéìòù".contains(c));
        let mut letters = next.lower.chars();
        let is_impure = match (letters.next(), letters.next()) {
            (Some('s'), Some(second)) => !"aeiouàèéìòù".contains(second),
            (Some('g'), Some('n')) | (Some('p'), Some('s' | 'n')) | (Some('z' | 'x' | 'y'), _) => true,
            _ => false,
        };
        match self.words[at].lower.as_str() {
            "li" => false,
            "lo" => is_impure,
            "gli" => is_impure || is_vowel,
            "la" => !is_vowel,
            _ => true,
        }
    }

    fn pronoun(&mut self, at: usize) -> TagContext {
        let may_be_object = ["it", "you"].contains(&self.words[at].lower.as_str());
        let begins = matches!(self.context, TagContext::Start | TagContext::Conjunction);
        if may_be_object && !begins && self.verb.is_some() {
            return TagContext::Verb;
        }
        self.verb = None;
        TagContext::Subject
    }

    /// Reads a word of an open class.
    fn open(&mut self, at: usize) -> Reading {
        let kinds = self.kinds[at];
        if let Some(form) = self.verb_here(at, kinds) {
            self.verb = Some(form);
            self.note_verb(at);
            self.context = TagContext::Verb;
            self.predicate = None;
            return Reading::Verb;
        }
        if self.context != TagContext::Nominal || self.readings.last() == Some(&Reading::Outside) {
            self.predicate = self.predicate_after(at);
        }
        let reading = self.nominal(at, kinds);
        if reading != Reading::Outside {
            self.context = TagContext::Nominal;
        }
        reading
    }
}
