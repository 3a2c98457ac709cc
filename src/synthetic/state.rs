//! What a story has said so far.

mod needs;

use super::claim::{Claim, PROPERTIES, Property, Role, Subject};
use super::step::Step;
use super::table::World;
use super::thing::ThingId;
use super::violation::Violation;
use crate::attribute::Attribute;

/// A known fact, and the last sentence that said so.
#[derive(Debug, Clone, Copy)]
struct Known<T> {
    value: T,
    since: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Held,
    Worn,
    In(ThingId),
    /// Not in its earlier location; the new one is unknown.
    Elsewhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whereabouts {
    In(ThingId),
    Left(ThingId),
}

#[derive(Debug, Clone)]
struct KnownThing {
    thing: ThingId,
    properties: [Option<Known<bool>>; PROPERTIES],
    place: Option<Known<Place>>,
}

/// What is known after some sentences.
#[derive(Debug, Clone)]
pub(super) struct State<'w> {
    world: &'w World,
    sentence: u8,
    things: Vec<KnownThing>,
    actor: [Option<Known<bool>>; PROPERTIES],
    room: Option<Known<Whereabouts>>,
    seat: Option<Known<Whereabouts>>,
}

/// All violations in a story, given as the steps of each sentence. After a violation, the later sentence counts: what
/// it needs is known from then on.
pub(super) fn violations<'a>(world: &World, sentences: impl Iterator<Item = &'a [Step]>) -> Vec<Violation> {
    let mut state = State::new(world);
    sentences.flat_map(|steps| state.tell(steps)).collect()
}

impl<'w> State<'w> {
    pub fn new(world: &'w World) -> Self {
        State { world, sentence: 0, things: Vec::with_capacity(16), actor: [None; PROPERTIES], room: None, seat: None }
    }

    pub fn world(&self) -> &'w World {
        self.world
    }

    /// Adds one more sentence.
    pub fn tell(&mut self, steps: &[Step]) -> Vec<Violation> {
        let violations = steps.iter().flat_map(|step| self.tell_step(step)).collect();
        self.sentence += 1;
        violations
    }

    fn tell_step(&mut self, step: &Step) -> Vec<Violation> {
        let action = &self.world.actions[step.action];
        let mut violations: Vec<_> = action.needs.iter().filter_map(|need| self.violation(need, step)).collect();
        violations.extend(step.things(action).iter().filter_map(|&thing| self.absence(thing)));
        let aura = self.aura(action, step);
        violations.extend(aura.iter().filter_map(|&(thing, property, value)| self.mismatch(thing, property, value)));
        for &role in &action.gets {
            self.forget_useless(step.thing(role));
        }
        for need in &action.needs {
            self.learn(need, step);
        }
        for (thing, property, value) in aura {
            self.facts_mut(thing).properties[property.index()] = Some(Known { value, since: self.sentence });
        }
        for &thing in step.things(action) {
            self.learn_room_of(thing);
        }
        for &(subject, property) in &action.forgets {
            *self.property(subject, property, step) = None;
        }
        for effect in &action.makes {
            self.learn(effect, step);
            if let Some(role) = effect.absent() {
                self.lose_contents(step.thing(role));
            }
        }
        violations
    }

    /// Whether a thing, or the actor (`None`), has a property, if that is known.
    pub fn known(&self, subject: Option<ThingId>, property: Property) -> Option<bool> {
        let properties = match subject {
            Some(thing) => &self.facts(thing)?.properties,
            None => &self.actor,
        };
        properties[property.index()].map(|known| known.value)
    }

    /// Whether the need is met, as far as is known; `None` if nothing is known.
    pub fn knows(&self, need: &Claim, step: &Step) -> Option<bool> {
        if self.violation(need, step).is_some() {
            return Some(false);
        }
        let is_moot = match *need {
            Claim::Property { subject: Subject::Role(role), property, .. } => {
                self.world.lacks(step.thing(role), property)
            }
            Claim::Undressed | Claim::Emptied { .. } => true,
            _ => false,
        };
        (is_moot || self.knows_of(need, step)).then_some(true)
    }

    /// Whether anything is known about the subject of the need.
    fn knows_of(&self, need: &Claim, step: &Step) -> bool {
        match *need {
            Claim::Property { subject: Subject::Actor, property, .. } => self.actor[property.index()].is_some(),
            Claim::Property { subject: Subject::Role(role), property, .. } => {
                self.facts(step.thing(role)).is_some_and(|facts| facts.properties[property.index()].is_some())
            }
            Claim::Held { thing, .. }
            | Claim::Worn { thing, .. }
            | Claim::In { thing, .. }
            | Claim::Reachable { thing } => self.facts(step.thing(thing)).is_some_and(|facts| facts.place.is_some()),
            Claim::ActorIn { place, .. } | Claim::ActorLeft { place } => self.whereabouts(step.thing(place)).is_some(),
            Claim::Undressed | Claim::Emptied { .. } => false,
        }
    }

    /// Whether the step builds on what was said: something that it needs is known, other than that things exist and
    /// work.
    pub fn grounds(&self, step: &Step) -> bool {
        let action = &self.world.actions[step.action];
        let is_telling = |need: &Claim| match *need {
            Claim::Property { property: Property::Noted(attribute), .. } => attribute.default_label() == 0,
            Claim::Undressed | Claim::Reachable { .. } => false,
            _ => true,
        };
        action.needs.iter().any(|need| is_telling(need) && self.knows_of(need, step))
    }

    /// Whether the step repairs a thing of the story that nothing has broken.
    pub fn repairs_what_is_whole(&self, step: &Step) -> bool {
        let action = &self.world.actions[step.action];
        let functional = |role, value| Claim::property(Subject::Role(role), Attribute::Functional, value);
        (0..action.roles.len()).any(|role| {
            let thing = step.thing(role);
            let repairs =
                action.needs.contains(&functional(role, false)) && action.makes.contains(&functional(role, true));
            let is_broken = self.known(Some(thing), Property::Noted(Attribute::Functional)) == Some(false);
            repairs && self.facts(thing).is_some() && !is_broken
        })
    }

    /// Whether the step brings back something that is known to be gone, or gets another for what is of no use.
    pub fn replaces(&self, step: &Step) -> bool {
        let action = &self.world.actions[step.action];
        let exist = Property::Noted(Attribute::Exist);
        let is_back = |role: Role| {
            let makes = action.makes.contains(&Claim::property(Subject::Role(role), Attribute::Exist, true));
            makes && self.known(Some(step.thing(role)), exist) == Some(false)
        };
        (0..action.roles.len()).any(is_back) || action.gets.iter().any(|&role| self.is_of_no_use(step.thing(role)))
    }

    fn facts(&self, thing: ThingId) -> Option<&KnownThing> {
        self.things.iter().find(|facts| facts.thing == thing)
    }

    fn facts_mut(&mut self, thing: ThingId) -> &mut KnownThing {
        let known = self.things.iter().position(|facts| facts.thing == thing);
        let index = known.unwrap_or_else(|| {
            self.things.push(KnownThing { thing, properties: [None; PROPERTIES], place: None });
            self.things.len() - 1
        });
        &mut self.things[index]
    }

    fn property(&mut self, subject: Subject, property: Property, step: &Step) -> &mut Option<Known<bool>> {
        match subject {
            Subject::Actor => &mut self.actor[property.index()],
            Subject::Role(role) => &mut self.facts_mut(step.thing(role)).properties[property.index()],
        }
    }

    /// Where the actor is known to be, among rooms or among seats.
    fn whereabouts(&self, place: ThingId) -> Option<Known<Whereabouts>> {
        if self.world.thing(place).phrases.is_some() { self.room } else { self.seat }
    }

    /// An actor who uses a thing that stands in one room only is in that room.
    fn learn_room_of(&mut self, thing: ThingId) {
        if let Some(room) = self.world.only_room(thing).filter(|_| self.world.stands(thing)) {
            self.room = Some(Known { value: Whereabouts::In(room), since: self.sentence });
        }
    }

    fn learn(&mut self, claim: &Claim, step: &Step) {
        let since = self.sentence;
        match *claim {
            Claim::Property { subject, property, value } => {
                *self.property(subject, property, step) = Some(Known { value, since });
            }
            Claim::Held { thing, value } => self.put(step.thing(thing), Place::Held, value),
            Claim::Worn { thing, value } => self.put(step.thing(thing), Place::Worn, value),
            Claim::In { thing, container, value } => {
                self.put(step.thing(thing), Place::In(step.thing(container)), value)
            }
            Claim::Reachable { .. } | Claim::Undressed => {}
            Claim::ActorIn { place, value } => {
                if value {
                    self.go(step.thing(place), Whereabouts::In(step.thing(place)));
                }
            }
            Claim::ActorLeft { place } => self.go(step.thing(place), Whereabouts::Left(step.thing(place))),
            Claim::Emptied { container } => self.empty(step.thing(container)),
        }
    }

    fn empty(&mut self, container: ThingId) {
        let since = self.sentence;
        for facts in &mut self.things {
            if facts.place.is_some_and(|known| known.value == Place::In(container)) {
                facts.place = Some(Known { value: Place::Elsewhere, since });
            }
        }
    }

    fn put(&mut self, thing: ThingId, place: Place, value: bool) {
        // That it is not there does not say where it is.
        if value {
            let since = self.sentence;
            self.facts_mut(thing).place = Some(Known { value: place, since });
        }
    }

    fn go(&mut self, place: ThingId, whereabouts: Whereabouts) {
        let known = Some(Known { value: whereabouts, since: self.sentence });
        if self.world.thing(place).phrases.is_some() {
            self.room = known;
            self.seat = None;
        } else {
            self.seat = known;
        }
    }

    /// What was known of a thing of no use does not hold for the one that is got in its place.
    fn forget_useless(&mut self, thing: ThingId) {
        if self.is_of_no_use(thing) {
            self.empty(thing);
            *self.facts_mut(thing) = KnownThing { thing, properties: [None; PROPERTIES], place: None };
        }
    }

    /// What is in a thing that is gone is gone too.
    fn lose_contents(&mut self, container: ThingId) {
        let since = self.sentence;
        for facts in &mut self.things {
            if facts.place.is_some_and(|known| known.value == Place::In(container)) {
                facts.properties[Attribute::Exist.index()] = Some(Known { value: false, since });
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
