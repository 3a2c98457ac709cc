//! The things and places in `things.toml` and `places.toml`.

use super::label::{Label, labels};
use super::noun::{EnglishNoun, ItalianNoun, Number};
use crate::error::Result;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Index of a thing or place in [`super::World`].
pub(super) type ThingId = u16;

/// Tags of places. Every place has the first; rooms of the house have the second, other places the third.
const PLACE: [&str; 3] = ["place", "home", "away"];

/// The tag of things that are uncountable in one of the languages: one can say that there is none of it.
const UNCOUNTED: &str = "uncounted";

/// A thing or a place.
#[derive(Debug)]
pub(super) struct Thing {
    /// The name in the tables.
    pub id: String,
    pub english: EnglishNoun,
    pub italian: ItalianNoun,
    pub tags: BTreeSet<String>,
    /// Names of the places where it belongs; empty: any place.
    pub rooms: BTreeSet<String>,
    /// Tags of things that may be put into it or onto it.
    pub holds: BTreeSet<String>,
    /// Names of containers where it usually is, so that a story need not say so.
    pub homes: BTreeSet<String>,
    /// Its labels whenever something is put into it or taken out.
    pub aura: Vec<Label>,
    /// The labels of a thing that is put into it.
    pub puts: Vec<Label>,
    /// The labels of a thing that is taken out of it.
    pub takes: Vec<Label>,
    /// How to say "there", "to there" and "from there".
    pub phrases: Option<Phrases>,
}

/// Phrases of a place.
#[derive(Debug)]
pub(super) struct Phrases {
    pub en_to: String,
    pub en_at: String,
    pub it_to: String,
    pub it_at: String,
    pub it_from: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawThing {
    en: String,
    it: String,
    is: String,
    #[serde(default)]
    rooms: String,
    #[serde(default)]
    holds: String,
    #[serde(default)]
    homes: String,
    #[serde(default, rename = "self")]
    aura: String,
    #[serde(default)]
    puts: String,
    #[serde(default)]
    takes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlace {
    en: String,
    it: String,
    en_to: String,
    en_at: String,
    it_to: String,
    it_at: String,
    it_from: String,
    home: bool,
}

fn words(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Thing {
    pub fn is(&self, tag: &str) -> bool {
        self.tags.contains(tag) || self.id == tag
    }

    /// Whether `thing` may be put into or onto this. A cup holds whatever an action puts into cups; a drawer does not.
    pub fn holds(&self, thing: &Thing) -> bool {
        let is_choosy = self.is("storage") || self.is("surface");
        !is_choosy || self.holds.iter().any(|tag| thing.is(tag))
    }
}

impl RawThing {
    pub fn resolve(self, id: String) -> Result<Thing> {
        let (english, italian) = (EnglishNoun::parse(&self.en)?, ItalianNoun::parse(&self.it)?);
        let mut tags = words(&self.is);
        if english.number != Number::Singular && italian.number != Number::Singular {
            tags.insert(UNCOUNTED.to_owned());
        }
        Ok(Thing {
            id,
            english,
            italian,
            tags,
            rooms: words(&self.rooms),
            holds: words(&self.holds),
            homes: words(&self.homes),
            aura: labels(&self.aura)?,
            puts: labels(&self.puts)?,
            takes: labels(&self.takes)?,
            phrases: None,
        })
    }
}

impl RawPlace {
    pub fn resolve(self, id: String) -> Result<Thing> {
        let [place, home, away] = PLACE;
        Ok(Thing {
            id,
            english: EnglishNoun::parse(&self.en)?,
            italian: ItalianNoun::parse(&self.it)?,
            tags: [place, if self.home { home } else { away }, "fixed"].map(str::to_owned).into(),
            rooms: BTreeSet::new(),
            holds: BTreeSet::new(),
            homes: BTreeSet::new(),
            aura: Vec::new(),
            puts: Vec::new(),
            takes: Vec::new(),
            phrases: Some(Phrases {
                en_to: self.en_to,
                en_at: self.en_at,
                it_to: self.it_to,
                it_at: self.it_at,
                it_from: self.it_from,
            }),
        })
    }
}
