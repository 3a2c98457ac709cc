//! Answers of annotators in words.

use crate::attribute::{Attribute, Side};
use crate::language::Language;
use crate::report::labels::label as word;
use crate::say::counted;

/// An answer to a question of a tier; in tier 3, about an attribute.
pub(super) fn answer(tier: u8, attribute: Option<Attribute>, label: u8) -> String {
    match (attribute, tier, label) {
        (Some(attribute), ..) => format!("{label} ({})", meaning(attribute, label)),
        (None, 1, 0) => "plausible".into(),
        (None, 1, _) => "implausible".into(),
        (None, _, 0) => "not in the conflict".into(),
        (None, ..) => "in the conflict".into(),
    }
}

/// What a label means: "closed → open", "? → open", "picked up".
fn meaning(attribute: Attribute, label: u8) -> String {
    let (before, after) = attribute.split(label);
    let word = |side, class| word(attribute, side, class, Language::English).unwrap_or("?");
    match attribute {
        _ if label == 0 => "nothing to report".into(),
        Attribute::HLocation | Attribute::Location => word(Side::Effect, after).into(),
        _ => format!("{} → {}", word(Side::Precondition, before), word(Side::Effect, after)),
    }
}

/// What an annotator does who labels so many attributes of an entity that the other leaves out.
pub(super) fn only(attributes: usize) -> String {
    match attributes {
        0 => "leaves them out".into(),
        count => format!("alone labels {}", counted(count, "attribute")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_has_a_meaning_of_its_own() {
        for attribute in Attribute::ALL {
            let mut meanings: Vec<_> = (0..=attribute.max_label()).map(|label| meaning(attribute, label)).collect();
            meanings.sort_unstable();
            meanings.dedup();
            assert_eq!(meanings.len(), usize::from(attribute.max_label()) + 1, "{attribute}");
        }
    }

    #[test]
    fn labels_are_told_as_changes() {
        let told = |attribute, label| answer(3, Some(attribute), label);
        assert_eq!(told(Attribute::Open, 4), "4 (closed → open)");
        assert_eq!(told(Attribute::Open, 7), "7 (closed → ?)");
        assert_eq!(told(Attribute::Exist, 2), "2 (existing → existing)");
        assert_eq!(told(Attribute::Wet, 0), "0 (nothing to report)");
        assert_eq!(told(Attribute::Location, 2), "2 (picked up)");
    }
}
