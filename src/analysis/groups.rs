//! The tiers of groups of pairs.

use super::facts::{Facts, PairFacts};
use crate::metrics::{Share, StoryGroups, Tiered};
use crate::prediction::{LabelledPair, PredictionFormat};
use serde::Serialize;
use std::collections::BTreeMap;

/// The pairs of a set, divided into groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grouping {
    /// What the groups differ in: "kind", "distance of the two sentences", "entities", "location".
    pub by: &'static str,
    /// In the order of their names; locations by their number of pairs, the largest first.
    pub rows: Vec<GroupRow>,
}

/// The tiers of one group of pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRow {
    /// What its pairs have in common ("cloze", "4 to 6", "kitchen"); "unknown" if no fact is known.
    pub name: String,
    /// Tier 1: the share of the group's pairs whose plausible story is found.
    pub accuracy: Share,
    /// Tier 2, as a share of all pairs of the group.
    pub consistency: Share,
    /// Tier 3, as a share of all pairs of the group.
    pub verifiability: Share,
}

/// The largest number of entities of each group. One more group has all larger numbers.
const ENTITIES: [usize; 4] = [3, 6, 9, 12];

/// The name of the group of pairs without the fact.
const UNKNOWN: &str = "unknown";

/// Groups by kind, distance, entities and location.
pub(super) fn groups(
    predictions: &[LabelledPair],
    format: PredictionFormat,
    facts: &Facts,
    of: &StoryGroups,
) -> Vec<Grouping> {
    let location = |p: &LabelledPair| facts.get(&p.id).and_then(|facts| facts.location.clone());
    let distance = |p: &LabelledPair| p.gold.conflict[1] - p.gold.conflict[0];
    let locations = by("location", predictions, of, |p| location(p).unwrap_or_else(|| UNKNOWN.to_owned()));
    vec![
        by("kind", predictions, of, |p| p.kind.clone()),
        by("distance of the two sentences", predictions, of, |p| format!("{:>3}", distance(p))),
        by("entities", predictions, of, |p| entities(p, format, facts)),
        by_size(locations),
    ]
}

/// The groups, in the order of their names.
fn by(
    by: &'static str,
    predictions: &[LabelledPair],
    of: &StoryGroups,
    name: impl Fn(&LabelledPair) -> String,
) -> Grouping {
    let mut groups: BTreeMap<String, Vec<&LabelledPair>> = BTreeMap::new();
    predictions.iter().for_each(|prediction| groups.entry(name(prediction)).or_default().push(prediction));
    let row = |(name, pairs): (String, Vec<&LabelledPair>)| {
        let share = |is_so: fn(&LabelledPair) -> bool| of.share_of_pairs(pairs.iter().copied(), is_so);
        GroupRow {
            name: name.trim().to_owned(),
            accuracy: share(LabelledPair::is_accurate),
            consistency: share(LabelledPair::is_consistent),
            verifiability: share(LabelledPair::is_verifiable),
        }
    };
    Grouping { by, rows: groups.into_iter().map(row).collect() }
}

/// The groups, the largest first.
fn by_size(mut grouping: Grouping) -> Grouping {
    grouping.rows.sort_by_key(|row| std::cmp::Reverse(row.accuracy.total));
    grouping
}

/// The group by number of entities. Published predictions lack entities without predictions, so for them the number is
/// from the story file.
fn entities(prediction: &LabelledPair, format: PredictionFormat, facts: &Facts) -> String {
    let of_file = |facts: &PairFacts| facts.entities;
    let entities = match format {
        PredictionFormat::Lines => Some(prediction.implausible_story().prediction.entities.len()),
        PredictionFormat::Published => facts.get(&prediction.id).map(of_file),
    };
    let Some(entities) = entities else { return UNKNOWN.to_owned() };
    let from = |i: usize| if i == 0 { 1 } else { ENTITIES[i - 1] + 1 };
    match ENTITIES.iter().position(|&most| entities <= most) {
        Some(i) => format!("{:>3} to {}", from(i), ENTITIES[i]),
        None => format!("{:>3} or more", from(ENTITIES.len())),
    }
}
