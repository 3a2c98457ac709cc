//! The answers that a model chooses from, in the order in which ties are settled.

use super::tier::Tier;
use crate::attribute::Attribute;

/// Tier 1.
pub const JUDGEMENTS: [&str; 2] = ["false", "true"];

/// Tier 2, for a story of five sentences: the order of GITA4CALAMITA's program.
const PAIRS_OF_FIVE: [[usize; 2]; 10] =
    [[0, 1], [2, 4], [1, 2], [0, 4], [3, 4], [0, 3], [1, 4], [2, 3], [0, 2], [1, 3]];

/// Tier 3.
pub const STATES: [&str; 14] = [
    "power",
    "location",
    "exist",
    "clean",
    "edible",
    "wet",
    "functional",
    "wearing",
    "open",
    "conscious",
    "temperature",
    "solid",
    "occupied",
    "in pieces",
];

/// The options of a tier about a story of so many sentences.
pub fn options(tier: Tier, sentences: usize) -> Vec<String> {
    match tier {
        Tier::Story => JUDGEMENTS.map(str::to_owned).into(),
        Tier::Conflict => sentence_pairs(sentences).into_iter().map(pair_answer).collect(),
        Tier::State => STATES.map(str::to_owned).into(),
    }
}

/// The sentence pairs i < j of a story, in the order of the options.
pub fn sentence_pairs(sentences: usize) -> Vec<[usize; 2]> {
    match sentences {
        5 => PAIRS_OF_FIVE.to_vec(),
        sentences => (0..sentences).flat_map(|i| (i + 1..sentences).map(move |j| [i, j])).collect(),
    }
}

/// "0 and 1".
pub fn pair_answer([first, second]: [usize; 2]) -> String {
    format!("{first} and {second}")
}

/// The option that an attribute of TRIP and GITA belongs to; `None` for `moveable` and `mixed`, which have none.
pub const fn state_of(attribute: Attribute) -> Option<&'static str> {
    Some(match attribute {
        Attribute::HLocation | Attribute::Location => "location",
        Attribute::Conscious => "conscious",
        Attribute::Wearing => "wearing",
        Attribute::HWet | Attribute::Wet => "wet",
        Attribute::Hygiene | Attribute::Clean => "clean",
        Attribute::Exist => "exist",
        Attribute::Power | Attribute::Running => "power",
        Attribute::Functional => "functional",
        Attribute::Pieces => "in pieces",
        Attribute::Open => "open",
        Attribute::Temperature => "temperature",
        Attribute::Solid => "solid",
        Attribute::Contain => "occupied",
        Attribute::Edible => "edible",
        Attribute::Moveable | Attribute::Mixed => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_sentence_pair_is_one_option() {
        for sentences in 2..8 {
            let found: BTreeSet<_> = sentence_pairs(sentences).into_iter().collect();
            let all: BTreeSet<_> = (0..sentences).flat_map(|j| (0..j).map(move |i| [i, j])).collect();
            assert!(found == all && options(Tier::Conflict, sentences).len() == all.len(), "{sentences} sentences");
        }
        assert_eq!(options(Tier::Conflict, 5)[1], "2 and 4");
        assert_eq!(sentence_pairs(4)[3], [1, 2]);
    }

    #[test]
    fn all_attributes_but_two_have_a_state_and_every_state_an_attribute() {
        let named: Vec<_> = Attribute::ALL.into_iter().filter_map(state_of).collect();
        assert_eq!(named.len(), 18);
        assert_eq!(BTreeSet::from_iter(named), BTreeSet::from(STATES));
    }
}
