//! Numbers of the tables of stories, checked when they are read.

use serde::de::{Deserialize, Deserializer, Error};
use std::collections::BTreeMap;

/// A probability.
pub(super) fn rate<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(source)?;
    let is_rate = (0.0..=1.0).contains(&number);
    if is_rate { Ok(number) } else { Err(D::Error::custom(format!("{number} must be from 0 to 1"))) }
}

/// A finite number that is not negative.
pub(super) fn weight<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    checked_weight(f64::deserialize(source)?).map_err(D::Error::custom)
}

/// Weights, not all 0, from which one is drawn.
pub(super) fn weights<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<f64>, D::Error> {
    let weights = Vec::<f64>::deserialize(source)?;
    checked_weights(weights.iter()).map_err(D::Error::custom)?;
    Ok(weights)
}

/// The same with names.
pub(super) fn named_weights<'de, D: Deserializer<'de>>(source: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let weights = BTreeMap::<String, f64>::deserialize(source)?;
    checked_weights(weights.values()).map_err(D::Error::custom)?;
    Ok(weights)
}

/// Factors of what is named; those of all others are 1.
pub(super) fn factors<'de, D: Deserializer<'de>>(source: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let factors = BTreeMap::<String, f64>::deserialize(source)?;
    factors.values().try_for_each(|&factor| checked_weight(factor).map(drop)).map_err(D::Error::custom)?;
    Ok(factors)
}

fn checked_weight(weight: f64) -> Result<f64, String> {
    let is_weight = weight.is_finite() && weight >= 0.0;
    if is_weight { Ok(weight) } else { Err(format!("weight {weight} must be 0 or more")) }
}

fn checked_weights<'a>(mut weights: impl Iterator<Item = &'a f64> + Clone) -> Result<(), String> {
    weights.clone().try_for_each(|&weight| checked_weight(weight).map(drop))?;
    if weights.any(|&weight| weight > 0.0) { Ok(()) } else { Err("some weight must be above 0".to_owned()) }
}
