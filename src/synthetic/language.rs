//! Says the steps of a story in English or Italian.

use super::adjunct::Adjunct;
use super::claim::Role;
use super::form::{Case, Piece};
use super::noun::{EnglishNoun, Gender, ItalianNoun, ending};
use super::step::Step;
use super::style::Style;
use super::table::{Person, World};
use super::text::capitalized;
use super::thing::{Thing, ThingId};
use crate::language::Language;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

impl Language {
    /// The default style of stories in this language.
    pub fn style(self) -> Style {
        match self {
            Language::English => Style::Trip,
            Language::Italian => Style::Gita,
        }
    }
}

/// How a sentence is told beyond its words for the steps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner<'w> {
    /// The actor is not named again.
    pub as_pronoun: bool,
    pub detail: Option<&'w Adjunct>,
}

impl Manner<'_> {
    /// Whether a story can begin with the sentence.
    pub fn can_open(self) -> bool {
        !self.as_pronoun && self.detail.is_none_or(|detail| !detail.begins)
    }
}

/// The actor of a story and how it is told. All versions of the story have the same voice.
#[derive(Debug)]
pub(super) struct Voice {
    pub language: Language,
    pub style: Style,
    pub actor: Person,
    is_present: bool,
    /// For each thing, whether it is "his" or "her" instead of "the".
    possessed: Vec<bool>,
    /// For each thing, whether it may be in a story about this actor.
    allowed: Vec<bool>,
    /// The nouns of the things that have an adjective in this story.
    looks: Vec<(ThingId, EnglishNoun, ItalianNoun)>,
}

impl Voice {
    pub fn draw(world: &World, language: Language, style: Style, rng: &mut ChaCha12Rng) -> Option<Self> {
        let actor = super::random::any(rng, world.people(language))?.clone();
        let is_present = rng.random_bool(world.rates.present.of(style));
        let possessive = world.rates.possessive.of(style);
        let possessed = world.things.iter().map(|thing| rng.random_bool(possessive) && thing.is("personal")).collect();
        let rate = world.rates.adjective.of(style);
        let mut looks = Vec::new();
        for (id, thing) in (0..).zip(&world.things) {
            if rng.random_bool(rate) {
                let fitting: Vec<_> = world.adjectives.iter().filter(|adjective| adjective.suits(thing)).collect();
                if let Some(adjective) = super::random::any(rng, &fitting) {
                    looks.push((id, adjective.english(&thing.english), adjective.italian(&thing.italian)));
                }
            }
        }
        let others = if actor.gender == Gender::Feminine { "men" } else { "women" };
        let allowed = world.things.iter().map(|thing| !thing.is(others)).collect();
        Some(Voice { language, style, actor, is_present, possessed, allowed, looks })
    }

    /// Whether a thing may be in a story about this actor: some clothes are for women only.
    pub fn allows(&self, thing: ThingId) -> bool {
        self.allowed[usize::from(thing)]
    }

    /// How the sentence for some steps is told. `can_open`: a story begins with it.
    pub fn manner<'w>(&self, world: &'w World, steps: &[Step], can_open: bool, rng: &mut ChaCha12Rng) -> Manner<'w> {
        let as_pronoun = rng.random_bool(world.rates.pronoun.of(self.style)) && !can_open;
        let has_detail = rng.random_bool(world.rates.detail.of(self.style));
        let forms = || steps.iter().map(|step| (step, &world.actions[step.action].forms(self.language)[step.form]));
        if !has_detail || forms().any(|(_, form)| !form.has_actor) {
            return Manner { as_pronoun, detail: None };
        }
        let named = || forms().flat_map(|(step, form)| form.named().iter().map(|&role| world.thing(step.thing(role))));
        let suits = |detail: &&Adjunct| !(can_open && detail.begins) && detail.suits(named());
        let fitting: Vec<_> = world.details.iter().filter(suits).collect();
        Manner { as_pronoun, detail: super::random::any(rng, &fitting).copied() }
    }

    /// The name of a thing as an entity: the noun, with its adjective.
    pub fn entity_name(&self, world: &World, id: ThingId) -> String {
        let (english, italian) = self.nouns(world, id);
        match self.language {
            Language::English => english.text.clone(),
            Language::Italian => italian.text.clone(),
        }
    }

    fn nouns<'a>(&'a self, world: &'a World, id: ThingId) -> (&'a EnglishNoun, &'a ItalianNoun) {
        let thing = world.thing(id);
        let look = self.looks.iter().find(|(other, ..)| *other == id);
        look.map_or((&thing.english, &thing.italian), |(_, english, italian)| (english, italian))
    }

    /// The sentence for one step, or for two.
    pub fn say(&self, world: &World, steps: &[Step], manner: Manner) -> String {
        let mut text = String::new();
        if let Some(detail) = manner.detail.filter(|detail| detail.begins) {
            text.push_str(detail.text(self.language));
            text.push(' ');
        }
        let mut named: Vec<ThingId> = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            let action = &world.actions[step.action];
            let form = &action.forms(self.language)[step.form];
            if i > 0 {
                text.push_str(match self.language {
                    Language::English => " and ",
                    Language::Italian => " e ",
                });
            } else if form.has_actor {
                text.push_str(&self.subject(manner.as_pronoun));
            }
            Sentence { voice: self, world, step, named: &named }.say(form.pieces(), &mut text);
            named.extend((0..action.roles.len()).filter(|&role| form.names(role)).map(|role| step.thing(role)));
        }
        if let Some(detail) = manner.detail.filter(|detail| !detail.begins) {
            text.push(' ');
            text.push_str(detail.text(self.language));
        }
        format!("{}.", capitalized(text.trim_end_matches('.')))
    }

    /// The subject of a sentence, with a space after it unless it is empty.
    fn subject(&self, as_pronoun: bool) -> String {
        match (as_pronoun, self.language, self.actor.gender) {
            (false, ..) => format!("{} ", self.actor.subject),
            (true, Language::English, Gender::Feminine) => "She ".to_owned(),
            (true, Language::English, Gender::Masculine) => "He ".to_owned(),
            (true, Language::Italian, _) => String::new(),
        }
    }

    fn is_female(&self) -> bool {
        self.actor.gender == Gender::Feminine
    }

    fn is_plural(&self, thing: &Thing) -> bool {
        match self.language {
            Language::English => thing.english.number.is_plural(),
            Language::Italian => thing.italian.number.is_plural(),
        }
    }

    fn noun(&self, world: &World, id: ThingId, case: Case) -> String {
        let thing = world.thing(id);
        let (english, italian) = self.nouns(world, id);
        let is_possessed = self.possessed[usize::from(id)];
        match self.language {
            Language::English => self.english(english, thing, case, is_possessed),
            Language::Italian => say_italian(italian, thing, case, is_possessed),
        }
    }

    fn english(&self, noun: &EnglishNoun, thing: &Thing, case: Case, is_possessed: bool) -> String {
        let own = if self.is_female() { "her" } else { "his" };
        let is_own = is_possessed || thing.is("body");
        match (case, &thing.phrases) {
            (Case::To, Some(phrases)) => phrases.en_to.clone(),
            (Case::At, Some(phrases)) => phrases.en_at.clone(),
            (Case::Possessive, _) => format!("{own} {}", noun.text),
            (Case::Definite, _) if is_own => format!("{own} {}", noun.text),
            (Case::Indefinite, _) => noun.indefinite(),
            (Case::Bare, _) => noun.text.clone(),
            _ => format!("the {}", noun.text),
        }
    }
}

/// A step that is being put into words.
struct Sentence<'a> {
    voice: &'a Voice,
    world: &'a World,
    step: &'a Step,
    /// Things that the sentence has already named.
    named: &'a [ThingId],
}

impl Sentence<'_> {
    fn say(&self, pieces: &[Piece], text: &mut String) {
        let mut particle: Option<&str> = None;
        for piece in pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Particle(word) => particle = Some(word),
                Piece::Noun { role, case } => {
                    let (noun, is_pronoun) = self.noun(*role, *case);
                    text.push_str(&match particle.take() {
                        Some(particle) if is_pronoun => format!("{noun} {particle}"),
                        Some(particle) => format!("{particle} {noun}"),
                        None => noun,
                    });
                }
                Piece::Tense { past, present } => self.say(if self.voice.is_present { present } else { past }, text),
                Piece::Number { role, singular, plural } => {
                    text.push_str(if self.voice.is_plural(self.thing(*role)) { plural } else { singular });
                }
                Piece::Ending(None) => text.push(ending(self.voice.actor.gender, false)),
                Piece::Ending(Some(role)) => text.push(self.thing(*role).italian.ending()),
                Piece::Himself => text.push_str(if self.voice.is_female() { "herself" } else { "himself" }),
            }
        }
    }

    fn thing(&self, role: Role) -> &Thing {
        self.world.thing(self.step.thing(role))
    }

    /// The noun of a role, and whether it is a pronoun.
    fn noun(&self, role: Role, case: Case) -> (String, bool) {
        let (id, thing) = (self.step.thing(role), self.thing(role));
        if self.voice.language == Language::English && self.named.contains(&id) && thing.phrases.is_none() {
            return (if self.voice.is_plural(thing) { "them" } else { "it" }.to_owned(), true);
        }
        (self.voice.noun(self.world, id, case), false)
    }
}

fn say_italian(noun: &ItalianNoun, thing: &Thing, case: Case, is_possessed: bool) -> String {
    let is_relative = thing.is("relative");
    match (case, &thing.phrases) {
        (Case::To, Some(phrases)) => phrases.it_to.clone(),
        (Case::At, Some(phrases)) => phrases.it_at.clone(),
        (Case::From, Some(phrases)) => phrases.it_from.clone(),
        (Case::Possessive, _) => noun.possessive(is_relative),
        (Case::Definite, _) if is_possessed => noun.possessive(is_relative),
        (Case::Indefinite, _) => noun.indefinite(),
        (Case::ToPossessive, _) if is_relative => format!("a {}", noun.possessive(true)),
        (Case::ToPossessive, _) => format!("a {}", noun.indefinite()),
        (Case::Bare, _) => noun.text.clone(),
        (Case::With(preposition), _) => noun.with(preposition),
        _ => noun.definite(),
    }
}
