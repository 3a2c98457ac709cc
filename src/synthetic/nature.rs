//! What follows from the tags of a thing, for every story.

use super::claim::PROPERTIES;
use super::thing::{Thing, ThingId};
use crate::attribute::Attribute;

/// What every step of every story must respect about a thing.
#[derive(Debug)]
pub struct Nature {
    /// Its contents must be taken out before they are used.
    pub shuts_away: bool,
    /// It stands in its rooms and is used there.
    pub stands: bool,
    /// The rooms where it belongs; empty: any room.
    pub rooms: Vec<ThingId>,
}

impl Nature {
    pub fn of(thing: &Thing, things: &[Thing]) -> Self {
        let rooms: Vec<_> = (0..).zip(things).filter(|(_, t)| thing.rooms.contains(&t.id)).map(|(id, _)| id).collect();
        Nature {
            shuts_away: thing.is("storage") && thing.is("opens") && !thing.is("heats"),
            stands: (thing.is("fixed") || thing.is("furniture")) && !rooms.is_empty(),
            rooms,
        }
    }
}

/// The properties that a thing can't have.
pub fn lacks(thing: &Thing) -> [bool; PROPERTIES] {
    let mut lacks = [false; PROPERTIES];
    lacks[Attribute::Open.index()] = !["opens", "peelable"].iter().any(|tag| thing.is(tag));
    lacks[Attribute::Edible.index()] = !["food", "drink", "medicine"].iter().any(|tag| thing.is(tag));
    lacks[Attribute::Power.index()] = !thing.is("electric");
    lacks[Attribute::Running.index()] = !["electric", "tap", "burns"].iter().any(|tag| thing.is(tag));
    lacks
}
