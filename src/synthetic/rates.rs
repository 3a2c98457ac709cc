//! How often what is told in which way: `data/world/rates.toml`, which explains the numbers.

use super::claim::{Claim, Property};
use super::number::{factors, named_weights, rate, weight};
use super::style::{PerStyle, WeightsPerStyle};
use super::thing::Thing;
use crate::attribute::Attribute;
use crate::error::{Error, Result};
use std::collections::BTreeMap;

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rates {
    #[serde(deserialize_with = "named_weights")]
    pub lengths: BTreeMap<String, f64>,
    #[serde(deserialize_with = "named_weights")]
    pub rooms: BTreeMap<String, f64>,
    #[serde(deserialize_with = "weight")]
    pub support: f64,
    #[serde(deserialize_with = "weight")]
    pub follow: f64,
    #[serde(deserialize_with = "weight")]
    pub aside: f64,
    pub reuse: PerStyle,
    #[serde(deserialize_with = "rate")]
    pub build: f64,
    pub support_for: SupportFor,
    pub possessive: PerStyle,
    pub present: PerStyle,
    pub pronoun: PerStyle,
    pub implied: PerStyle,
    pub plain: PerStyle,
    pub compound: PerStyle,
    pub adjective: PerStyle,
    pub detail: PerStyle,
    pub cloze_between: WeightsPerStyle,
    pub cloze_after: WeightsPerStyle,
    #[serde(deserialize_with = "weight")]
    pub cloze_breakpoint: f64,
    #[serde(deserialize_with = "factors")]
    pub cloze_cause: BTreeMap<String, f64>,
    #[serde(deserialize_with = "factors")]
    pub order_cause: BTreeMap<String, f64>,
    #[serde(deserialize_with = "weight")]
    pub order_repetition: f64,
    pub order_between: WeightsPerStyle,
    pub order_before: WeightsPerStyle,
}

/// Weights of the needs that a sentence of their own brings about.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SupportFor {
    #[serde(deserialize_with = "weight")]
    conscious: f64,
    #[serde(deserialize_with = "weight")]
    exist: f64,
    #[serde(deserialize_with = "weight")]
    functional: f64,
    #[serde(deserialize_with = "weight")]
    reachable: f64,
    #[serde(deserialize_with = "weight")]
    untrue: f64,
    #[serde(deserialize_with = "weight")]
    other: f64,
}

impl SupportFor {
    pub fn of(self, need: &Claim) -> f64 {
        match *need {
            Claim::Property { property: Property::Noted(Attribute::Conscious), .. } => self.conscious,
            Claim::Property { value: false, .. } => self.untrue,
            Claim::Property { property: Property::Noted(Attribute::Exist), .. } => self.exist,
            Claim::Property { property: Property::Noted(Attribute::Functional), .. } => self.functional,
            Claim::Reachable { .. } => self.reachable,
            _ => self.other,
        }
    }
}

impl Rates {
    /// # Errors
    /// `Config` if a room, a cause or a length is none.
    pub fn check(&self, things: &[Thing]) -> Result<()> {
        let is_room = |room: &String| things.iter().any(|thing| thing.id == *room && thing.phrases.is_some());
        if let Some(room) = self.rooms.keys().find(|room| !is_room(room)) {
            return Err(Error::config(format!("room {room:?} is not in data/world/places.toml")));
        }
        let mut causes = self.cloze_cause.keys().chain(self.order_cause.keys());
        if let Some(name) = causes.find(|name| Attribute::from_name(name).is_none()) {
            return Err(Error::config(format!("cause {name:?} is not an attribute")));
        }
        if let Some(length) = self.lengths.keys().find(|length| !matches!(length.parse(), Ok(2_usize..=9))) {
            return Err(Error::config(format!("length {length:?} must be a number of sentences from 2 to 9")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: &str = include_str!("../../data/world/rates.toml");

    /// Each mistake is an error that says the line and what is wrong.
    #[test]
    fn numbers_that_are_no_rates_or_weights() {
        assert!(toml::from_str::<Rates>(RATES).is_ok());
        for (right, wrong, problem) in [
            ("support = 5.0", "support = -5.0", "weight -5 must be 0 or more"),
            ("build = 0.7", "build = 1.7", "1.7 must be from 0 to 1"),
            ("gita = 0.75 }", "gita = -0.75 }", "-0.75 must be from 0 to 1"),
            ("order_before = { trip = [1.0]", "order_before = { trip = [0.0]", "some weight must be above 0"),
            ("order_before = { trip = [1.0]", "order_before = { trip = []", "some weight must be above 0"),
            ("functional = 3.0", "functional = inf", "weight inf must be 0 or more"),
            ("5 = 90.0", "5 = nan", "weight NaN must be 0 or more"),
        ] {
            assert!(RATES.contains(right), "{right}");
            let error = toml::from_str::<Rates>(&RATES.replacen(right, wrong, 1)).unwrap_err().to_string();
            assert!(error.contains(problem) && error.contains("line "), "{wrong}: {error}");
        }
    }
}
