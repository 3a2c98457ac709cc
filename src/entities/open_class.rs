//! Words of the open classes: which one is a verb, which one belongs to a noun phrase.

use super::kinds::{Closed, WordKinds};
use super::reading::Reading;
use super::tag::{TagContext, Tagger, VerbForm};
use super::word::Gap;
use crate::language::Language;

/// How far the verb of a subject is looked for, in words.
const LOOK_AHEAD: usize = 12;

/// Determiners that stand for a noun too: "they both ate it", "heard her wash the cup", "tutti mangiano la torta".
const ALONE: [&str; 18] = [
    "all", "both", "each", "her", "many", "most", "others", "some", "which", "alcuni", "alcune", "altri", "altre",
    "entrambi", "entrambe", "molti", "tutti", "tutte",
];

/// Adjectives that are objects after a verb: "cut paper", unlike "got cold".
const STUFF: [&str; 4] = ["leather", "metal", "paper", "plastic"];

impl Tagger<'_> {
    /// The form in which a word is a verb here; `None` if it is none.
    pub fn verb_here(&self, at: usize, kinds: WordKinds) -> Option<VerbForm> {
        let is_italian = self.lexicon.language == Language::Italian;
        match self.context {
            TagContext::Infinitive if self.motion && kinds.noun && !self.has_object(at) => None,
            TagContext::Infinitive if !kinds.base => (!kinds.noun && self.has_object(at)).then_some(VerbForm::Base),
            TagContext::Infinitive | TagContext::Auxiliary => (!kinds.noun || kinds.base).then_some(VerbForm::Base),
            TagContext::Be if kinds.participle || kinds.gerund => {
                let is_modifier = kinds.noun || kinds.adjective && self.is_followed_by_open(at);
                (!is_modifier).then_some(VerbForm::Participle)
            }
            TagContext::Be => None,
            TagContext::Have => (kinds.participle || kinds.finite && !kinds.noun).then_some(VerbForm::Participle),
            TagContext::Subject if kinds.is_verb() => Some(form(kinds)),
            TagContext::Subject => (kinds.is_unknown()).then_some(VerbForm::Finite),
            TagContext::Determiner => {
                let stands_alone = ALONE.contains(&self.words[at - 1].lower.as_str());
                (stands_alone && kinds.is_only_verb() && self.has_object(at)).then(|| form(kinds))
            }
            TagContext::Nominal => self.verb_after_noun(at, kinds),
            TagContext::Preposition if is_italian => (kinds.base && !kinds.noun).then_some(VerbForm::Base),
            TagContext::Preposition => (kinds.gerund && !kinds.noun).then_some(VerbForm::Gerund),
            TagContext::Verb => self.verb_after_verb(at, kinds),
            TagContext::Conjunction if self.verb.is_some() => self.coordinated(at, kinds),
            TagContext::Start | TagContext::Conjunction => {
                let asks = is_italian && kinds.finite && self.has_object(at);
                let is_only_verb = kinds.is_only_verb() || asks;
                let is_modifier = kinds.participle && !is_italian && self.is_followed_by_open(at);
                (is_only_verb && !is_modifier).then(|| form(kinds))
            }
        }
    }

    fn verb_after_noun(&self, at: usize, kinds: WordKinds) -> Option<VerbForm> {
        if self.predicate == Some(at) {
            return Some(VerbForm::Finite);
        }
        if self.verb.is_some() && self.perception && kinds.base && !self.is_followed_by_open(at) {
            return Some(VerbForm::Base);
        }
        if self.readings.last() == Some(&Reading::Modifier) && self.lexicon.language == Language::English {
            return None;
        }
        // In English an infinitive after a noun is rather the head of a compound: "soup mix".
        let is_infinitive = kinds == WordKinds { base: true, ..WordKinds::default() };
        let is_head = is_infinitive && self.lexicon.language == Language::English;
        (self.verb.is_some() && kinds.is_only_verb() && !is_head).then(|| form(kinds))
    }

    fn verb_after_verb(&self, at: usize, kinds: WordKinds) -> Option<VerbForm> {
        if !kinds.is_verb() || kinds.noun && !kinds.gerund || kinds.adjective {
            return None;
        }
        let is_english = self.lexicon.language == Language::English;
        let is_modifier = kinds.participle && is_english && self.is_followed_by_open(at);
        (!is_modifier).then(|| form(kinds))
    }

    /// After "and" or a comma: "took the cup and washed it", "took the bread and butter".
    fn coordinated(&self, at: usize, kinds: WordKinds) -> Option<VerbForm> {
        let may_be_verb = !kinds.adjective && (!kinds.noun || self.has_object(at));
        match self.verb {
            _ if kinds.gerund && may_be_verb => Some(VerbForm::Gerund),
            Some(VerbForm::Base) if kinds.base && may_be_verb => Some(VerbForm::Base),
            _ if kinds.finite && may_be_verb => Some(VerbForm::Finite),
            _ if kinds.participle && may_be_verb => Some(VerbForm::Participle),
            _ => (kinds.base && kinds.is_only_verb()).then_some(VerbForm::Base),
        }
    }

    /// Whether what follows can only be the object of a verb.
    fn has_object(&self, at: usize) -> bool {
        self.is_followed_by(at, &[Closed::Determiner, Closed::Clitic, Closed::Object, Closed::Pronoun])
    }

    /// What a word that is no verb is here.
    pub fn nominal(&mut self, at: usize, kinds: WordKinds) -> Reading {
        let is_bare = matches!(self.context, TagContext::Be | TagContext::Verb);
        let is_object = STUFF.contains(&self.words[at].lower.as_str()) && self.readings.last() == Some(&Reading::Verb);
        let describes = kinds.adjective && !is_object || self.context == TagContext::Be && kinds.is_unknown();
        if is_bare && describes && !self.is_followed_by_open(at) {
            return Reading::Outside;
        }
        match self.lexicon.language {
            Language::English => self.english_nominal(at, kinds),
            Language::Italian => self.italian_nominal(at, kinds),
        }
    }

    fn english_nominal(&mut self, at: usize, kinds: WordKinds) -> Reading {
        let describes = kinds.adjective || kinds.participle || kinds.gerund;
        if self.is_followed_by_open(at) && describes && !kinds.noun {
            return Reading::Modifier;
        }
        if describes && !kinds.noun && (kinds.adjective || self.context != TagContext::Determiner) {
            self.end_phrase();
            return Reading::Outside;
        }
        Reading::Noun
    }

    /// A noun with the adjectives before and after it.
    fn italian_nominal(&mut self, at: usize, kinds: WordKinds) -> Reading {
        if self.context == TagContext::Nominal && self.readings[at - 1] != Reading::Outside {
            return match kinds {
                WordKinds { state: true, .. } => Reading::Outside,
                WordKinds { adjective: true, .. } => Reading::Modifier,
                _ if kinds.is_unknown() => Reading::Modifier,
                _ => Reading::Noun,
            };
        }
        if kinds.adjective && (kinds.prenominal || !kinds.noun) && self.is_followed_by_open(at) {
            return Reading::Outside;
        }
        if kinds.adjective && !kinds.noun || kinds.is_verb() && !kinds.noun && self.context != TagContext::Determiner {
            self.end_phrase();
            return Reading::Outside;
        }
        Reading::Noun
    }

    /// After an adjective that belongs to no noun.
    fn end_phrase(&mut self) {
        if matches!(self.context, TagContext::Nominal | TagContext::Determiner) {
            self.context = self.context_after_phrase();
        }
    }

    /// The verb of the subject that begins at a word, if the clause has none yet.
    pub fn predicate_after(&self, start: usize) -> Option<usize> {
        if self.verb.is_some() {
            return None;
        }
        let last = (start + LOOK_AHEAD).min(self.words.len());
        let ends = |&i: &usize| self.words[i].before != Gap::Blank || self.kinds[i].closed.is_some() || self.is_name(i);
        let end = (start + 1..last).find(ends).unwrap_or(last);
        let after = self.words.get(end).filter(|word| word.before == Gap::Blank).and(self.kinds.get(end));
        let after = after.and_then(|kinds| kinds.closed);
        if matches!(after, Some(Closed::Be | Closed::Have | Closed::Auxiliary)) {
            return None;
        }
        let others = start + 1..end;
        let is_verb = |kinds: WordKinds| kinds.finite || kinds.base && self.lexicon.language == Language::English;
        let surely = others.clone().find(|&i| is_verb(self.kinds[i]) && self.kinds[i].is_only_verb());
        // The first word that may be the verb, if a noun may end before it: "the baby drinks milk", not "old lights".
        let is_english = self.lexicon.language == Language::English;
        let ends_before = |&i: &usize| !self.kinds[i - 1].adjective || self.kinds[i - 1].noun;
        let before_object = || others.clone().find(|i| is_english && self.kinds[*i].finite && ends_before(i));
        let perhaps = || others.clone().next_back().filter(|&i| is_verb(self.kinds[i]));
        let by_position = || {
            let has_object = matches!(after, Some(Closed::Determiner | Closed::Clitic | Closed::Preposition));
            let is_italian = self.lexicon.language == Language::Italian;
            let last = others.clone().next_back()?;
            (is_italian && has_object && self.kinds[last].is_unknown()).then_some(last)
        };
        surely.or_else(before_object).or_else(perhaps).or_else(by_position)
    }
}

/// The form of a verb; finite, where it may be several.
fn form(kinds: WordKinds) -> VerbForm {
    match kinds {
        WordKinds { finite: true, .. } => VerbForm::Finite,
        WordKinds { base: true, .. } => VerbForm::Base,
        WordKinds { participle: true, .. } => VerbForm::Participle,
        WordKinds { gerund: true, .. } => VerbForm::Gerund,
        _ => VerbForm::Finite,
    }
}
