//! Labels in the notation of the tables: "open4", or "~clean8" for a label that does not affect the physics.

use crate::attribute::Attribute;
use crate::error::{Error, Result};

/// A label of one attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    pub attribute: Attribute,
    pub value: u8,
    /// Whether its precondition is needed and its effect is made. Otherwise it is only written into the story file.
    pub is_physical: bool,
}

/// Reads labels such as "open4 ~clean8".
///
/// # Errors
/// `Config` if a word is not an attribute with one of its labels.
pub(super) fn labels(text: &str) -> Result<Vec<Label>> {
    text.split_whitespace().map(label).collect()
}

fn label(word: &str) -> Result<Label> {
    let (bare, is_physical) = word.strip_prefix('~').map_or((word, true), |bare| (bare, false));
    let parse = || {
        let digit = bare.find(|c: char| c.is_ascii_digit())?;
        let (name, value) = bare.split_at(digit);
        let (attribute, value) = (Attribute::from_name(name)?, value.parse().ok()?);
        (value <= attribute.max_label()).then_some((attribute, value))
    };
    let (attribute, value) = parse().ok_or_else(|| {
        Error::config(format!(
            "{word:?} is not a label; write an attribute and a number from 0 to 8, such as \"open4\""
        ))
    })?;
    // The labels of locations are not truth values. `needs` and `makes` say where things are.
    let is_location = matches!(attribute, Attribute::Location | Attribute::HLocation);
    Ok(Label { attribute, value, is_physical: is_physical && !is_location })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_attributes_with_their_values() {
        let read = labels("open4 ~clean8 location6").unwrap();
        let plain: Vec<_> = read.iter().map(|l| (l.attribute.name(), l.value, l.is_physical)).collect();
        assert_eq!(plain, [("open", 4, true), ("clean", 8, false), ("location", 6, false)]);
        for word in ["open", "open9", "opened4", "h_location3", "4"] {
            assert!(labels(word).unwrap_err().message.contains(word));
        }
    }
}
