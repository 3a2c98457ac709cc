//! What a story file says about a pair and its predictions lack.

use crate::data::Pair;
use std::collections::BTreeMap;

/// Facts about a pair that its predictions lack, from the story file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairFacts {
    /// The story's location, if the file has it.
    pub location: Option<String>,
    /// The number of entities of the implausible story.
    pub entities: usize,
}

/// The facts of pairs by their id.
pub type Facts = BTreeMap<String, PairFacts>;

/// The facts of these pairs.
pub fn facts(pairs: &[Pair]) -> Facts {
    let of_pair = |pair: &Pair| {
        let story = pair.implausible_story();
        let location = Some(story.location.trim().to_lowercase()).filter(|location| !location.is_empty());
        (pair.id.clone(), PairFacts { location, entities: story.entities.len() })
    };
    pairs.iter().map(of_pair).collect()
}
