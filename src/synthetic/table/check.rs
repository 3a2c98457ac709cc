//! What a table says about another one must be true.

use super::super::thing::Thing;
use super::{PLACES, RATES, Rates, THINGS};
use crate::attribute::Attribute;
use crate::error::{Error, Result};

pub(super) fn check_things(things: &[Thing]) -> Result<()> {
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

pub(super) fn check_rates(rates: &Rates, things: &[Thing]) -> Result<()> {
    let wrong = |why: String| Err(Error::config(format!("{}: {why}", RATES.0)));
    if let Some(room) = rates.rooms.keys().find(|room| !things.iter().any(|t| t.id == **room && t.phrases.is_some())) {
        return wrong(format!("room {room:?} is not in {}", PLACES.0));
    }
    let causes = || rates.cloze_cause.keys().chain(rates.order_cause.keys());
    if let Some(name) = causes().find(|name| Attribute::from_name(name).is_none()) {
        return wrong(format!("cause {name:?} is not an attribute"));
    }
    if let Some(length) = rates.lengths.keys().find(|length| !matches!(length.parse(), Ok(2_usize..=9))) {
        return wrong(format!("length {length:?} must be a number of sentences from 2 to 9"));
    }
    Ok(())
}
