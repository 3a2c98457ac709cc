//! Reads and checks the tables of `data/world/`, which are part of the program.

use super::action::{Action, RawAction};
use super::adjective::Adjective;
use super::adjunct::Adjunct;
use super::claim::{Claim, PROPERTIES, Property};
use super::nature::{Nature, lacks};
use super::noun::Gender;
use super::random::Lottery;
use super::rates::Rates;
use super::thing::{RawPlace, RawThing, Thing, ThingId};
use crate::error::{Error, Result};
use crate::language::Language;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

const THINGS: (&str, &str) = ("data/world/things.toml", include_str!("../../data/world/things.toml"));
const PLACES: (&str, &str) = ("data/world/places.toml", include_str!("../../data/world/places.toml"));
const ACTIONS: (&str, &str) = ("data/world/actions.toml", include_str!("../../data/world/actions.toml"));
const PEOPLE: (&str, &str) = ("data/world/people.toml", include_str!("../../data/world/people.toml"));
const ADJECTIVES: (&str, &str) = ("data/world/adjectives.toml", include_str!("../../data/world/adjectives.toml"));
const DETAILS: (&str, &str) = ("data/world/details.toml", include_str!("../../data/world/details.toml"));
const RATES: (&str, &str) = ("data/world/rates.toml", include_str!("../../data/world/rates.toml"));

/// The physics and the words of the stories: `data/world/`, read and checked.
#[derive(Debug)]
pub struct World {
    /// Things first, then places.
    pub(super) things: Vec<Thing>,
    pub(super) actions: Vec<Action>,
    pub(super) rates: Rates,
    pub(super) adjectives: Vec<Adjective>,
    pub(super) details: Vec<Adjunct>,
    english: Vec<Person>,
    italian: Vec<Person>,
    /// For every thing and property, whether the thing can't have it (without a door, nothing is open).
    lacks: Vec<[bool; PROPERTIES]>,
    /// For every thing, what every step must respect.
    nature: Vec<Nature>,
    /// Whether the first can hold the second. Only furniture and the like is restricted.
    holds: Vec<Vec<bool>>,
    /// For every thing, those with names or meanings so similar that they must not be in the same story.
    pub(super) rivals: Vec<Vec<ThingId>>,
    /// Actions by how often plausible stories tell them.
    pub(super) tellings: Lottery,
    /// The same, without actions that touch nothing.
    pub(super) deeds: Lottery,
    /// Actions by how often they break a story.
    pub(super) breakings: Lottery,
    /// Actions with their effects, to find those that bring about a fact.
    pub(super) effects: Vec<(usize, Claim)>,
}

/// A person whom a story may be about.
#[derive(Debug, Clone)]
pub(super) struct Person {
    /// The entity's name: "Anna", "nonna".
    pub name: String,
    /// What is said in a sentence: "Anna", "la nonna".
    pub subject: String,
    pub gender: Gender,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAdjectives {
    adjectives: Vec<Adjective>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAdjuncts {
    details: Vec<Adjunct>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPeople {
    english: RawNames,
    italian: RawNames,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNames {
    women: Vec<String>,
    men: Vec<String>,
}

impl RawNames {
    fn resolve(self) -> Vec<Person> {
        let person = |text: String, gender| {
            // The noun alone is the name of "la nonna"; a sentence has her article too.
            let name = text.split_once(' ').map_or(text.as_str(), |(_, noun)| noun).to_owned();
            Person { name, subject: text, gender }
        };
        let women = self.women.into_iter().map(|name| person(name, Gender::Feminine));
        women.chain(self.men.into_iter().map(|name| person(name, Gender::Masculine))).collect()
    }
}

fn read<T: DeserializeOwned>((path, text): (&str, &str)) -> Result<T> {
    toml::from_str(text).map_err(|error| Error::config(format!("{path}: {error}")))
}

impl World {
    /// The tables of `data/world/`.
    ///
    /// # Errors
    /// `Config` with the table, the entry and the remedy, if a table is invalid.
    pub fn load() -> Result<Self> {
        let mut things = Vec::new();
        for (id, raw) in read::<BTreeMap<String, RawThing>>(THINGS)? {
            let place = format!("{}: {id}", THINGS.0);
            things.push(raw.resolve(id).map_err(|error| error.about(place))?);
        }
        for (id, raw) in read::<BTreeMap<String, RawPlace>>(PLACES)? {
            let place = format!("{}: {id}", PLACES.0);
            things.push(raw.resolve(id).map_err(|error| error.about(place))?);
        }
        check_things(&things)?;
        let mut actions = Vec::new();
        for (id, raw) in read::<BTreeMap<String, RawAction>>(ACTIONS)? {
            let place = format!("{}: {id}", ACTIONS.0);
            actions.push(raw.resolve(id, &things).map_err(|error| error.about(place))?);
        }
        let people: RawPeople = read(PEOPLE)?;
        let rates: Rates = read(RATES)?;
        rates.check(&things).map_err(|error| error.about(RATES.0))?;
        let details = read::<RawAdjuncts>(DETAILS)?.details;
        check_tags(DETAILS.0, details.iter().flat_map(Adjunct::tags), &things)?;
        let adjectives = read::<RawAdjectives>(ADJECTIVES)?.adjectives;
        check_tags(ADJECTIVES.0, adjectives.iter().flat_map(Adjective::tags), &things)?;
        let holds = things.iter().map(|c| things.iter().map(|thing| c.holds(thing)).collect()).collect();
        let effects = actions.iter().enumerate().flat_map(|(i, action)| action.makes.iter().map(move |&c| (i, c)));
        Ok(World {
            lacks: things.iter().map(lacks).collect(),
            rivals: rivals(&things),
            tellings: Lottery::new(actions.iter().map(|action| action.weight)),
            deeds: Lottery::new(actions.iter().map(|action| if action.is_between { 0.0 } else { action.weight })),
            breakings: Lottery::new(actions.iter().map(|action| action.breaks)),
            nature: things.iter().map(|thing| Nature::of(thing, &things)).collect(),
            effects: effects.collect(),
            english: people.english.resolve(),
            italian: people.italian.resolve(),
            adjectives,
            details,
            things,
            actions,
            rates,
            holds,
        })
    }

    /// The number of sentences of the longest stories.
    pub fn longest_story(&self) -> usize {
        self.rates.lengths.keys().filter_map(|length| length.parse().ok()).max().unwrap_or(0)
    }

    /// The nouns for things and places, such as "cup" and "washing machine"; those that are told in the plural only, in
    /// the plural.
    pub fn nouns(&self, language: Language) -> impl Iterator<Item = &str> {
        self.things.iter().map(move |thing| match language {
            Language::English => thing.english.text.as_str(),
            Language::Italian => thing.italian.text.as_str(),
        })
    }

    /// How the people are called: by a name ("Anna"), or by a noun ("nonna").
    pub fn names(&self, language: Language) -> impl Iterator<Item = &str> {
        self.people(language).iter().map(|person| person.name.as_str())
    }

    pub(super) fn thing(&self, id: ThingId) -> &Thing {
        &self.things[usize::from(id)]
    }

    pub(super) fn people(&self, language: Language) -> &[Person] {
        match language {
            Language::English => &self.english,
            Language::Italian => &self.italian,
        }
    }

    /// Whether the thing can't have the property.
    pub(super) fn lacks(&self, thing: ThingId, property: Property) -> bool {
        self.lacks[usize::from(thing)][property.index()]
    }

    fn nature(&self, thing: ThingId) -> &Nature {
        &self.nature[usize::from(thing)]
    }

    /// Whether its contents must be taken out before they are used.
    pub(super) fn shuts_away(&self, container: ThingId) -> bool {
        self.nature(container).shuts_away
    }

    /// Whether it stands in its rooms and is used there.
    pub(super) fn stands(&self, thing: ThingId) -> bool {
        self.nature(thing).stands
    }

    pub(super) fn is_at_home(&self, thing: ThingId, room: ThingId) -> bool {
        self.nature(thing).rooms.contains(&room)
    }

    /// Whether it may be in a room: it belongs there, or anywhere.
    pub(super) fn is_found_in(&self, thing: ThingId, room: ThingId) -> bool {
        self.nature(thing).rooms.is_empty() || self.is_at_home(thing, room)
    }

    /// The room where it belongs, if there is only one.
    pub(super) fn only_room(&self, thing: ThingId) -> Option<ThingId> {
        match self.nature(thing).rooms[..] {
            [room] => Some(room),
            _ => None,
        }
    }

    pub(super) fn fits(&self, thing: ThingId, container: ThingId) -> bool {
        self.holds[usize::from(container)][usize::from(thing)]
    }
}

/// Things that share a tag with a "~" in front: two words for one thing, or a thing and its plural.
fn rivals(things: &[Thing]) -> Vec<Vec<ThingId>> {
    let shares = |a: &Thing, b: &Thing| a.tags.iter().any(|tag| tag.starts_with('~') && b.tags.contains(tag));
    let of = |thing: &Thing| (0..).zip(things).filter(|(_, other)| shares(thing, other)).map(|(id, _)| id).collect();
    things.iter().map(of).collect()
}

fn check_things(things: &[Thing]) -> Result<()> {
    let is_place = |id: &String| things.iter().any(|thing| thing.id == *id && thing.phrases.is_some());
    let is_tag = |tag: &String| things.iter().any(|thing| thing.is(tag));
    for thing in things {
        let wrong = |why: String| Err(Error::config(format!("{}: {}: {why}", THINGS.0, thing.id)));
        if let Some(room) = thing.rooms.iter().find(|room| !is_place(room)) {
            return wrong(format!("room {room:?} is not in {}", PLACES.0));
        }
        if let Some(tag) = thing.holds.iter().find(|tag| !is_tag(tag)) {
            return wrong(format!("holds {tag:?}, which is not a tag of any thing"));
        }
        if let Some(home) = thing.homes.iter().find(|home| !things.iter().any(|other| other.id == **home)) {
            return wrong(format!("home {home:?} is not a thing"));
        }
    }
    Ok(())
}

/// Tags that an adjective or a detail names.
fn check_tags<'a>(path: &str, mut tags: impl Iterator<Item = &'a String>, things: &[Thing]) -> Result<()> {
    let unknown = tags.find(|tag| !things.iter().any(|thing| thing.is(tag)));
    unknown.map_or(Ok(()), |tag| Err(Error::config(format!("{path}: {tag:?} is not a tag of any thing"))))
}
