//! The 20 physical attributes, their label spaces and their defaults (TRIP, tables 5 and appendix A).
//!
//! An annotator gives one label 0..=8 to each (entity, sentence, attribute). It splits into a
//! *precondition* (before the sentence) and an *effect* (after it). For most attributes each half is
//! 0 = unknown, 1 = false, 2 = true; the two locations keep the label itself for both halves.

use serde::{Deserialize, Serialize};

/// Number of attributes; every per-attribute array is in the order of [`Attribute::ALL`].
pub const ATTRIBUTES: usize = 20;
/// Logits of one side (preconditions or effects): 18 attributes of 3 classes, 3 for `h_location`, 9 for `location`.
pub const SIDE_CLASSES: usize = 66;
/// The largest label an annotator may give.
pub const MAX_LABEL: u8 = 8;

/// A physical attribute; the discriminant is its position in every per-attribute array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Attribute {
    /// A person's location: class 1 is gone, 2 has moved.
    HLocation,
    /// Whether a person is conscious.
    Conscious,
    /// Whether a person is dressed.
    Wearing,
    /// Whether a person is wet.
    HWet,
    /// Whether a person is clean.
    Hygiene,
    /// A thing's location: classes 1 to 8 are changes, such as picked up, put on and moved.
    Location,
    /// Whether a thing exists.
    Exist,
    /// Whether a thing is clean.
    Clean,
    /// Whether a thing has power.
    Power,
    /// Whether a thing works.
    Functional,
    /// Whether a thing is in pieces.
    Pieces,
    /// Whether a thing is wet.
    Wet,
    /// Whether a thing is open.
    Open,
    /// Whether a thing is hot.
    Temperature,
    /// Whether a thing is solid.
    Solid,
    /// Whether a thing holds something.
    Contain,
    /// Whether a thing is running.
    Running,
    /// Whether a thing can be moved.
    Moveable,
    /// Whether a thing is mixed.
    Mixed,
    /// Whether a thing is edible.
    Edible,
}

/// Which half of a label: the state before a sentence, or the state after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The state before the sentence.
    Precondition,
    /// The state after the sentence.
    Effect,
}

impl Side {
    /// In the order of the discriminants, which index arrays of two sides.
    pub const BOTH: [Side; 2] = [Side::Precondition, Side::Effect];
}

/// (precondition, effect) of the labels 0..=8 of a three-class attribute.
const SPLIT: [(u8, u8); 9] = [(0, 0), (1, 1), (2, 2), (2, 1), (1, 2), (0, 1), (0, 2), (1, 0), (2, 0)];

impl Attribute {
    /// In the order of the discriminants: the five of people, then the fifteen of objects.
    pub const ALL: [Attribute; ATTRIBUTES] = {
        use Attribute::*;
        [
            HLocation,
            Conscious,
            Wearing,
            HWet,
            Hygiene,
            Location,
            Exist,
            Clean,
            Power,
            Functional,
            Pieces,
            Wet,
            Open,
            Temperature,
            Solid,
            Contain,
            Running,
            Moveable,
            Mixed,
            Edible,
        ]
    };

    /// The name used in data files.
    pub const fn name(self) -> &'static str {
        [
            "h_location",
            "conscious",
            "wearing",
            "h_wet",
            "hygiene",
            "location",
            "exist",
            "clean",
            "power",
            "functional",
            "pieces",
            "wet",
            "open",
            "temperature",
            "solid",
            "contain",
            "running",
            "moveable",
            "mixed",
            "edible",
        ][self as usize]
    }

    /// The attribute of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.name() == name)
    }

    /// The position in every per-attribute array, from 0.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// True for the five attributes of people, false for the fifteen of objects.
    pub const fn is_human(self) -> bool {
        (self as usize) < 5
    }

    /// Number of classes of one side's head: 3, or 9 for `location`.
    pub const fn classes(self) -> usize {
        if matches!(self, Attribute::Location) { 9 } else { 3 }
    }

    /// First column of this attribute among the [`SIDE_CLASSES`] logits of a side.
    pub const fn offset(self) -> usize {
        let i = self as usize;
        if i <= Attribute::Location as usize { 3 * i } else { 3 * i + 6 }
    }

    /// The largest label an annotator may give this attribute: 2 for `h_location`, else 8.
    pub const fn max_label(self) -> u8 {
        if matches!(self, Attribute::HLocation) { 2 } else { MAX_LABEL }
    }

    /// The label for "nothing to report": 2 (stays true) for conscious, exist, functional and moveable, else 0.
    pub const fn default_label(self) -> u8 {
        use Attribute::*;
        if matches!(self, Conscious | Exist | Functional | Moveable) { 2 } else { 0 }
    }

    /// Splits an annotator's label into its precondition and effect classes.
    ///
    /// # Panics
    /// If `label` is above [`Attribute::max_label`]. Readers check labels before they split them.
    pub const fn split(self, label: u8) -> (u8, u8) {
        assert!(label <= self.max_label());
        match self {
            Attribute::HLocation | Attribute::Location => (label, label),
            _ => SPLIT[label as usize],
        }
    }

    /// Joins two classes into a label: the inverse of [`Attribute::split`]. A location has the same class before and
    /// after.
    pub fn join(self, precondition: u8, effect: u8) -> u8 {
        let split = |label| self.split(label) == (precondition, effect);
        (0..=self.max_label()).find(|&label| split(label)).unwrap_or(effect)
    }

    /// Whether a class of one side is nontrivial: above 0 and not the default.
    pub const fn is_nontrivial(self, class: u8) -> bool {
        // The defaults are 0 and 2, which split into (0, 0) and (2, 2): the class equals the label on either side.
        class > 0 && class != self.default_label()
    }
}

/// Some of the 20 attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AttributeSet(u32);

impl AttributeSet {
    /// Whether the attribute is one of them.
    pub const fn contains(self, attribute: Attribute) -> bool {
        self.0 & (1 << attribute.index()) != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Attribute> for AttributeSet {
    fn from_iter<I: IntoIterator<Item = Attribute>>(attributes: I) -> Self {
        AttributeSet(attributes.into_iter().fold(0, |bits, attribute| bits | (1 << attribute.index())))
    }
}

impl std::fmt::Display for Attribute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_names_and_offsets_agree() {
        let mut offset = 0;
        for (i, attribute) in Attribute::ALL.into_iter().enumerate() {
            assert_eq!(attribute.index(), i);
            assert_eq!(Attribute::from_name(attribute.name()), Some(attribute));
            assert_eq!(attribute.offset(), offset);
            assert_eq!(serde_json::to_value(attribute).unwrap(), attribute.name());
            offset += attribute.classes();
        }
        assert_eq!(offset, SIDE_CLASSES);
        assert_eq!(Attribute::ALL.iter().filter(|a| a.is_human()).count(), 5);
    }

    #[test]
    fn labels_split_as_in_trip_table_5() {
        let halves: Vec<_> = (0..=8).map(|v| Attribute::Open.split(v)).collect();
        assert_eq!(halves, [(0, 0), (1, 1), (2, 2), (2, 1), (1, 2), (0, 1), (0, 2), (1, 0), (2, 0)]);
        assert_eq!(Attribute::Location.split(7), (7, 7));
        assert_eq!(Attribute::HLocation.split(2), (2, 2));
    }

    #[test]
    fn a_set_contains_what_it_was_made_of() {
        let objects: AttributeSet = Attribute::ALL.into_iter().filter(|a| !a.is_human()).collect();
        assert!(Attribute::ALL.into_iter().all(|a| objects.contains(a) != a.is_human()));
        assert!(!objects.is_empty() && AttributeSet::default().is_empty());
    }

    #[test]
    fn nontrivial_is_neither_zero_nor_default() {
        assert!(!Attribute::Exist.is_nontrivial(2));
        assert!(Attribute::Exist.is_nontrivial(1));
        assert!(Attribute::Open.is_nontrivial(2));
        assert!(!Attribute::Open.is_nontrivial(0));
    }
}
