//! The tiers by what the pairs are like.

use super::{Facts, PairFacts};
use crate::metrics::{Share, TierCounts};
use crate::prediction::{PairPrediction, PredictionFormat};
use serde::Serialize;
use std::collections::BTreeMap;

/// The pairs of a set, divided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grouping {
    /// By what: "kind", "distance of the two sentences", "entities", "room".
    pub by: &'static str,
    pub rows: Vec<GroupRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRow {
    pub name: String,
    pub accuracy: Share,
    pub consistency: Share,
    pub verifiability: Share,
}

/// Numbers of entities up to which the implausible stories of a group go; the last group has all that have more.
const ENTITIES: [usize; 4] = [3, 6, 9, 12];

/// What is not known of a pair.
const UNKNOWN: &str = "not known";

/// By kind, distance, entities and room.
pub(super) fn groups(predictions: &[PairPrediction], format: PredictionFormat, facts: &Facts) -> Vec<Grouping> {
    let location = |p: &PairPrediction| facts.get(&p.id).and_then(|facts| facts.location.clone());
    let distance = |p: &PairPrediction| p.gold_conflict[1] - p.gold_conflict[0];
    let rooms = by("room", predictions, |p| location(p).unwrap_or_else(|| UNKNOWN.to_owned()));
    vec![
        by("kind", predictions, |p| p.kind.clone()),
        by("distance of the two sentences", predictions, |p| format!("{:>3}", distance(p))),
        by("entities", predictions, |p| entities(p, format, facts)),
        by_size(rooms),
    ]
}

/// In the order of the names.
fn by(by: &'static str, predictions: &[PairPrediction], name: impl Fn(&PairPrediction) -> String) -> Grouping {
    let mut groups: BTreeMap<String, TierCounts> = BTreeMap::new();
    predictions.iter().for_each(|prediction| groups.entry(name(prediction)).or_default().add(prediction));
    let row = |(name, counts): (String, TierCounts)| GroupRow {
        name: name.trim().to_owned(),
        accuracy: counts.accuracy(),
        consistency: counts.consistency(),
        verifiability: counts.verifiability(),
    };
    Grouping { by, rows: groups.into_iter().map(row).collect() }
}

/// The largest group first.
fn by_size(mut grouping: Grouping) -> Grouping {
    grouping.rows.sort_by_key(|row| std::cmp::Reverse(row.accuracy.total));
    grouping
}

/// Published predictions name only the entities of which something is said: there the story file has to tell.
fn entities(prediction: &PairPrediction, format: PredictionFormat, facts: &Facts) -> String {
    let of_file = |facts: &PairFacts| facts.entities;
    let entities = match format {
        PredictionFormat::Lines => Some(prediction.implausible_story().entities.len()),
        PredictionFormat::Published => facts.get(&prediction.id).map(of_file),
    };
    let Some(entities) = entities else { return UNKNOWN.to_owned() };
    let from = |i: usize| if i == 0 { 1 } else { ENTITIES[i - 1] + 1 };
    match ENTITIES.iter().position(|&most| entities <= most) {
        Some(i) => format!("{:>3} to {}", from(i), ENTITIES[i]),
        None => format!("{:>3} or more", from(ENTITIES.len())),
    }
}
