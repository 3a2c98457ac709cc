//! Answers of annotators in words.

use crate::attribute::Attribute;
use crate::language::Language;
use crate::report::labels::meaning;
use crate::say::counted;

/// An answer to a question of a tier; in tier 3, about an attribute.
pub(super) fn answer(tier: u8, attribute: Option<Attribute>, label: u8) -> String {
    match (attribute, tier, label) {
        (Some(attribute), ..) => format!("{label} ({})", meaning(attribute, label, Language::English)),
        (None, 1, 0) => "plausible".into(),
        (None, 1, _) => "implausible".into(),
        (None, _, 0) => "not in the conflict".into(),
        (None, ..) => "in the conflict".into(),
    }
}

/// The answer of an annotator who labels other attributes of the entity.
pub(super) fn no_label() -> String {
    "no label".into()
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
    fn labels_are_told_as_changes() {
        let told = |attribute, label| answer(3, Some(attribute), label);
        assert_eq!(told(Attribute::Open, 4), "4 (closed → open)");
        assert_eq!(told(Attribute::Open, 7), "7 (closed → ?)");
        assert_eq!(told(Attribute::Exist, 2), "2 (existing → existing)");
        assert_eq!(told(Attribute::Wet, 0), "0 (nothing to report)");
        assert_eq!(told(Attribute::Location, 2), "2 (picked up)");
    }
}
