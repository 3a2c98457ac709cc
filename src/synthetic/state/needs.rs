//! Whether the needs of a sentence contradict what is known.

use super::{KnownThing, Place, State, Whereabouts};
use crate::attribute::Attribute;
use crate::synthetic::action::Action;
use crate::synthetic::claim::{Claim, Property, Role, Subject};
use crate::synthetic::step::Step;
use crate::synthetic::thing::ThingId;
use crate::synthetic::violation::{Strength, Violation};

/// The last sentence that said otherwise, the subject (`None` for the actor), and the attribute.
type Contradiction = (u8, Option<ThingId>, Attribute);

impl State<'_> {
    /// The violation if the need contradicts what is known.
    pub(super) fn violation(&self, need: &Claim, step: &Step) -> Option<Violation> {
        let (evidence, thing, attribute) = self.contradiction(need, step)?;
        let (evidence, breakpoint, strength) = (evidence.into(), self.sentence.into(), self.strength(need, step));
        Some(Violation { evidence, breakpoint, thing, attribute, strength })
    }

    fn contradiction(&self, need: &Claim, step: &Step) -> Option<Contradiction> {
        match *need {
            Claim::Property { subject, property, value } => {
                let (known, thing) = match subject {
                    Subject::Actor => (self.actor[property.index()], None),
                    Subject::Role(role) => {
                        let thing = step.thing(role);
                        if self.world.lacks(thing, property) {
                            return None;
                        }
                        (self.facts(thing)?.properties[property.index()], Some(thing))
                    }
                };
                let known = known.filter(|known| known.value != value)?;
                Some((known.since, thing, property.attribute()))
            }
            Claim::Held { thing, value } => self.misplaced(step.thing(thing), |place| (place == Place::Held) == value),
            Claim::Worn { thing, value } => {
                let (since, thing, _) = self.misplaced(step.thing(thing), |place| (place == Place::Worn) == value)?;
                Some((since, thing, Attribute::Wearing))
            }
            Claim::In { thing, container, value } => {
                let container = step.thing(container);
                self.misplaced(step.thing(thing), |place| (place == Place::In(container)) == value)
            }
            Claim::Reachable { thing } => self.misplaced(step.thing(thing), |place| match place {
                Place::In(container) => !self.world.shuts_away(container),
                _ => true,
            }),
            Claim::ActorIn { place, value } => {
                let place = step.thing(place);
                let known = self.whereabouts(place)?;
                let contradicts = match known.value {
                    Whereabouts::In(other) => (other == place) != value,
                    Whereabouts::Left(other) => other == place && value,
                };
                contradicts.then_some((known.since, None, Attribute::HLocation))
            }
            Claim::Undressed => {
                let worn = |facts: &KnownThing| facts.place.filter(|known| known.value == Place::Worn);
                let worn = |facts: &KnownThing| worn(facts).map(|known| (known.since, facts.thing));
                let (since, thing) = self.things.iter().filter_map(worn).max()?;
                Some((since, Some(thing), Attribute::Wearing))
            }
            Claim::ActorLeft { .. } | Claim::Emptied { .. } => None,
        }
    }

    /// How obvious a violation of the need is.
    fn strength(&self, need: &Claim, step: &Step) -> Strength {
        let is_held = |thing: Role| {
            let known = self.facts(step.thing(thing)).and_then(|facts| facts.place);
            known.is_some_and(|known| known.value == Place::Held)
        };
        match *need {
            Claim::Held { .. } => Strength::Held,
            Claim::In { thing, value: true, .. } if is_held(thing) => Strength::Held,
            Claim::In { value: false, .. } | Claim::ActorIn { value: false, .. } => Strength::Repeated,
            _ => Strength::Plain,
        }
    }

    /// The violation if the thing is known to be where `right` says that it must not be.
    fn misplaced(&self, thing: ThingId, right: impl Fn(Place) -> bool) -> Option<Contradiction> {
        let known = self.facts(thing)?.place.filter(|known| !right(known.value))?;
        Some((known.since, Some(thing), Attribute::Location))
    }

    /// Properties that a container has whenever something is put into it or taken out: a fridge is on.
    pub(super) fn aura(&self, action: &Action, step: &Step) -> Vec<(ThingId, Property, bool)> {
        let of = |&(_, container): &(Role, Role)| {
            let container = step.thing(container);
            let physical = self.world.thing(container).aura.iter().filter(|label| label.is_physical);
            physical.filter_map(move |label| {
                let (before, _) = label.attribute.split(label.value);
                (before > 0).then_some((container, Property::Noted(label.attribute), before == 2))
            })
        };
        action.fits.iter().flat_map(of).collect()
    }

    /// The violation if a property of the thing is known to have another value.
    pub(super) fn mismatch(&self, thing: ThingId, property: Property, value: bool) -> Option<Violation> {
        let known = self.facts(thing)?.properties[property.index()].filter(|known| known.value != value)?;
        Some(Violation {
            evidence: known.since.into(),
            breakpoint: self.sentence.into(),
            thing: Some(thing),
            attribute: property.attribute(),
            strength: Strength::Plain,
        })
    }

    /// The violation if the actor is known not to be where the thing stands.
    pub(super) fn absence(&self, thing: ThingId) -> Option<Violation> {
        let known = self.room?;
        let is_absent = match known.value {
            Whereabouts::In(room) => !self.world.is_at_home(thing, room),
            Whereabouts::Left(room) => self.world.only_room(thing) == Some(room),
        };
        (self.world.stands(thing) && is_absent).then_some(Violation {
            evidence: known.since.into(),
            breakpoint: self.sentence.into(),
            thing: None,
            attribute: Attribute::HLocation,
            strength: Strength::Plain,
        })
    }
}
