//! Claims: what an action needs or makes, as facts about its roles, in the notation of `actions.toml`.

use crate::attribute::Attribute;
use crate::error::{Error, Result};

/// A role of an action, by its index in [`super::action::Action::roles`].
pub(super) type Role = usize;

/// Properties of things and people: the 20 attributes, and two that annotators do not label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Property {
    Noted(Attribute),
    Locked,
    Cooked,
}

/// The number of properties.
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

    /// The attribute that an annotator would name as the cause.
    pub fn attribute(self) -> Attribute {
        match self {
            Property::Noted(attribute) => attribute,
            Property::Locked => Attribute::Open,
            Property::Cooked => Attribute::Edible,
        }
    }
}

/// The subject of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Actor,
    Role(Role),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// "not x open", "who conscious".
    Property { subject: Subject, property: Property, value: bool },
    /// "x held": the actor holds it.
    Held { thing: Role, value: bool },
    /// "x worn".
    Worn { thing: Role, value: bool },
    /// "x in c": in or on it.
    In { thing: Role, container: Role, value: bool },
    /// "x reachable": not inside something shut, and not worn while it is elsewhere.
    Reachable { thing: Role },
    /// "who in r".
    ActorIn { place: Role, value: bool },
    /// "who left r", an effect only: the actor is no longer there, but the new location is unknown.
    ActorLeft { place: Role },
    /// "who undressed", a need only: the actor wears nothing, as far as is known.
    Undressed,
    /// "c emptied", an effect only: nothing is known to be in it any more.
    Emptied { container: Role },
}

impl Claim {
    /// Reads "not x open", "x in c" and the like; `roles` are the letters of the action's roles.
    ///
    /// # Errors
    /// `Config` if it is not a claim, or names a role that the action does not have.
    pub fn parse(text: &str, roles: &[char]) -> Result<Self> {
        let wrong = |why: &str| Error::config(format!("{text:?} is not a claim: {why}"));
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
                .ok_or_else(|| wrong(&format!("{word:?} is not a role of this action")))
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
                let property =
                    Property::from_name(name).ok_or_else(|| wrong(&format!("{name:?} is not an attribute")))?;
                let subject = if *subject == "who" { Subject::Actor } else { Subject::Role(role(subject)?) };
                Ok(Claim::Property { subject, property, value })
            }
            _ => Err(wrong("write \"x open\", \"not x held\", \"x in c\" or another form that actions.toml explains")),
        }
    }
}

impl Claim {
    /// The role of the thing or place in the claim, if there is one.
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

    /// Whether both are about the same property, or the location, of the same thing.
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

    /// Whether both say the same, for the same thing (in any container).
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

    /// Whether this effect undoes the other one, for the same thing: the opposite, or taking what was put away.
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
        for (text, reason) in [
            ("y open", "not a role"),
            ("x opened", "not an attribute"),
            ("x", "write"),
            ("not x reachable", "not an attribute"),
        ] {
            let error = Claim::parse(text, &['x']).unwrap_err();
            assert!(error.message.contains(reason), "{error}");
        }
    }
}
