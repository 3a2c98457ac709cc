//! What an action needs or makes: facts about its roles, in the words of `actions.toml`.

use crate::attribute::Attribute;
use crate::error::{Error, Result};

/// A role of an action, by its place in [`super::action::Action::roles`].
pub(super) type Role = usize;

/// What is true or false of things and people: the 20 attributes and two that no annotator notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Property {
    Noted(Attribute),
    Locked,
    Cooked,
}

/// Number of properties.
pub(super) const PROPERTIES: usize = 22;

impl Property {
    pub fn index(self) -> usize {
        match self {
            Property::Noted(attribute) => attribute.index(),
            Property::Locked => 20,
            Property::Cooked => 21,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            "locked" => Some(Property::Locked),
            "cooked" => Some(Property::Cooked),
            _ => Attribute::from_name(name).map(Property::Noted),
        }
    }

    /// The attribute that an annotator would blame.
    pub fn attribute(self) -> Attribute {
        match self {
            Property::Noted(attribute) => attribute,
            Property::Locked => Attribute::Open,
            Property::Cooked => Attribute::Edible,
        }
    }
}

/// Who or what a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Actor,
    Role(Role),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// "not x open", "who conscious".
    Property { subject: Subject, property: Property, value: bool },
    /// "x held": in the actor's hands.
    Held { thing: Role, value: bool },
    /// "x worn".
    Worn { thing: Role, value: bool },
    /// "x in c": in or on it.
    In { thing: Role, container: Role, value: bool },
    /// "x reachable": not shut away in something, not worn by force of being elsewhere.
    Reachable { thing: Role },
    /// "who in r".
    ActorIn { place: Role, value: bool },
    /// "who left r", an effect only: no longer there, but nobody knows where.
    ActorLeft { place: Role },
    /// "who undressed", a need only: wears nothing that is known of.
    Undressed,
    /// "c emptied", an effect only: what was in it is no longer known to be.
    Emptied { container: Role },
}

impl Claim {
    /// Reads "not x open", "x in c" and the like; `roles` are the letters of the action's roles.
    ///
    /// # Errors
    /// `Config`, if it is none of them or names a role that the action does not have.
    pub fn parse(text: &str, roles: &[char]) -> Result<Self> {
        let wrong = |why: &str| Error::config(format!("{text:?} is no claim: {why}"));
        let words: Vec<_> = text.split_whitespace().collect();
        let (value, words) = match words.as_slice() {
            ["not", rest @ ..] => (false, rest),
            rest => (true, rest),
        };
        let role = |word: &str| {
            let mut letters = word.chars();
            let letter = letters.next().filter(|_| letters.next().is_none());
            letter
                .and_then(|letter| roles.iter().position(|&role| role == letter))
                .ok_or_else(|| wrong(&format!("{word:?} is no role of this action")))
        };
        match words {
            ["who", "undressed"] if value => Ok(Claim::Undressed),
            ["who", "in", place] => Ok(Claim::ActorIn { place: role(place)?, value }),
            ["who", "left", place] if value => Ok(Claim::ActorLeft { place: role(place)? }),
            [thing, "in", container] => Ok(Claim::In { thing: role(thing)?, container: role(container)?, value }),
            [thing, "held"] => Ok(Claim::Held { thing: role(thing)?, value }),
            [thing, "worn"] => Ok(Claim::Worn { thing: role(thing)?, value }),
            [thing, "reachable"] if value => Ok(Claim::Reachable { thing: role(thing)? }),
            [container, "emptied"] if value => Ok(Claim::Emptied { container: role(container)? }),
            [subject, name] => {
                let property = Property::from_name(name).ok_or_else(|| wrong(&format!("{name:?} is no attribute")))?;
                let subject = if *subject == "who" { Subject::Actor } else { Subject::Role(role(subject)?) };
                Ok(Claim::Property { subject, property, value })
            }
            _ => Err(wrong("write \"x open\", \"not x held\", \"x in c\" or another form that actions.toml explains")),
        }
    }
}

impl Claim {
    /// The role of the thing or place that it is about, if it is about one.
    pub fn thing(&self) -> Option<Role> {
        match *self {
            Claim::Property { subject: Subject::Role(role), .. } => Some(role),
            Claim::Held { thing, .. }
            | Claim::Worn { thing, .. }
            | Claim::In { thing, .. }
            | Claim::Reachable { thing } => Some(thing),
            Claim::ActorIn { place, .. } | Claim::ActorLeft { place } => Some(place),
            _ => None,
        }
    }

    /// Whether both are about the same property, or about the whereabouts, of the same thing.
    pub fn is_kin(&self, other: &Claim) -> bool {
        match (self, other) {
            (Claim::Property { property, .. }, Claim::Property { property: other, .. }) => property == other,
            (
                Claim::Held { .. } | Claim::In { .. } | Claim::Reachable { .. },
                Claim::Held { .. } | Claim::In { .. },
            ) => true,
            (Claim::Worn { .. }, Claim::Worn { .. }) | (Claim::ActorIn { .. }, Claim::ActorIn { .. }) => true,
            _ => false,
        }
    }

    /// Whether, of the same thing, both say the same (in whatever container).
    pub fn is_same(&self, other: &Claim) -> bool {
        match (self, other) {
            (Claim::Property { property, value, .. }, Claim::Property { property: other, value: other_value, .. }) => {
                property == other && value == other_value
            }
            (Claim::Worn { value, .. }, Claim::Worn { value: other, .. })
            | (Claim::Held { value, .. }, Claim::Held { value: other, .. })
            | (Claim::In { value, .. }, Claim::In { value: other, .. }) => value == other,
            _ => false,
        }
    }

    /// Whether, of the same thing, this effect takes back that one: the opposite, or taking in hand what was put away.
    pub fn contradicts(&self, effect: &Claim) -> bool {
        match (self, effect) {
            (Claim::Property { property, value, .. }, Claim::Property { property: other, value: other_value, .. }) => {
                property == other && value != other_value
            }
            (Claim::Held { value: true, .. }, Claim::In { value: true, .. } | Claim::Worn { value: true, .. }) => true,
            (Claim::ActorLeft { .. }, Claim::ActorIn { .. }) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read() {
        let roles = ['x', 'c'];
        let parse = |text| Claim::parse(text, &roles).unwrap();
        assert_eq!(parse("not x in c"), Claim::In { thing: 0, container: 1, value: false });
        assert_eq!(parse("x held"), Claim::Held { thing: 0, value: true });
        let open = Property::Noted(Attribute::Open);
        assert_eq!(parse("not c open"), Claim::Property { subject: Subject::Role(1), property: open, value: false });
        assert_eq!(parse("who undressed"), Claim::Undressed);
    }

    #[test]
    fn nonsense_is_refused_with_its_reason() {
        for (text, reason) in
            [("y open", "no role"), ("x opened", "no attribute"), ("x", "write"), ("not x reachable", "no attribute")]
        {
            let error = Claim::parse(text, &['x']).unwrap_err();
            assert!(error.message.contains(reason), "{error}");
        }
    }
}
