//! What a story has said so far.

mod needs;

use super::claim::{Claim, PROPERTIES, Property, Subject};
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
            if let Claim::Property { subject: Subject::Role(role), property, value: false } = *effect
                && property == Property::Noted(Attribute::Exist)
            {
                self.lose_contents(step.thing(role));
            }
        }
        violations
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

    /// Whether the step brings back something that is known to be gone.
    pub fn replaces(&self, step: &Step) -> bool {
        let action = &self.world.actions[step.action];
        action.makes.iter().any(|effect| match *effect {
            Claim::Property {
                subject: Subject::Role(role),
                property: Property::Noted(Attribute::Exist),
                value: true,
            } => {
                let known = self.facts(step.thing(role)).and_then(|f| f.properties[Attribute::Exist.index()]);
                known.is_some_and(|known| !known.value)
            }
            _ => false,
        })
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
            Claim::Emptied { container } => {
                let container = step.thing(container);
                for facts in &mut self.things {
                    if facts.place.is_some_and(|known| known.value == Place::In(container)) {
                        facts.place = Some(Known { value: Place::Elsewhere, since });
                    }
                }
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
pub(super) mod tests {
    use super::*;
    use crate::synthetic::action::MAX_ROLES;

    /// An action with things for its roles, in the alphabetical order of the roles' letters.
    pub fn step(world: &World, action: &str, things: &[&str]) -> Step {
        let index = world.actions.iter().position(|a| a.id == action).unwrap_or_else(|| panic!("no action {action}"));
        assert_eq!(world.actions[index].roles.len(), things.len(), "{action}");
        let mut ids = [0; MAX_ROLES];
        for (role, name) in things.iter().enumerate() {
            let thing = world.things.iter().position(|t| t.id == *name).unwrap_or_else(|| panic!("no thing {name}"));
            ids[role] = ThingId::try_from(thing).unwrap();
            assert!(world.actions[index].roles[role].accepts(ids[role]), "{action}: {name}");
        }
        Step::new(index, ids)
    }

    /// (evidence, breakpoint, attribute) of a story's violations.
    fn told(story: &[(&str, &[&str])]) -> Vec<(usize, usize, Attribute)> {
        let world = World::load().unwrap();
        let steps: Vec<_> = story.iter().map(|(action, things)| step(&world, action, things)).collect();
        violations(&world, steps.chunks(1)).iter().map(|v| (v.evidence, v.breakpoint, v.attribute)).collect()
    }

    #[test]
    fn what_is_unknown_contradicts_nothing() {
        assert!(told(&[("take_out", &["drawer", "pencil"]), ("close", &["drawer"]), ("open", &["drawer"])]).is_empty());
    }

    #[test]
    fn what_is_gone_is_not_used() {
        let story: [(&str, &[&str]); 3] =
            [("throw_away", &["scissors"]), ("sing", &[]), ("cut_paper", &["photo", "scissors"])];
        assert_eq!(told(&story), [(0, 2, Attribute::Exist)]);
    }

    #[test]
    fn the_evidence_is_the_last_sentence_that_said_otherwise() {
        let story: [(&str, &[&str]); 3] =
            [("close", &["box"]), ("find_closed", &["box"]), ("put_in", &["box", "photo"])];
        assert_eq!(told(&story), [(1, 2, Attribute::Open)]);
    }

    #[test]
    fn a_need_becomes_known_and_can_be_contradicted() {
        // An actor who takes something out of a drawer has it open, so it can't be opened afterwards.
        let story: [(&str, &[&str]); 2] = [("take_out", &["drawer", "pencil"]), ("open", &["drawer"])];
        assert_eq!(told(&story), [(0, 1, Attribute::Open)]);
    }

    #[test]
    fn what_is_in_a_thing_is_gone_with_it() {
        let story: [(&str, &[&str]); 3] =
            [("put_in", &["box", "photo"]), ("burn_up", &["box"]), ("take_out", &["box", "photo"])];
        assert_eq!(told(&story), [(1, 2, Attribute::Exist), (1, 2, Attribute::Exist)]);
    }

    #[test]
    fn what_comes_into_being_takes_nothing_with_it() {
        let story: [(&str, &[&str]); 3] = [("pour", &["cup", "milk"]), ("buy", &["cup"]), ("buy", &["milk"])];
        assert_eq!(told(&story), [(0, 1, Attribute::Exist), (0, 2, Attribute::Exist)]);
    }

    #[test]
    fn what_stands_in_a_room_is_used_there_only() {
        let story: [(&str, &[&str]); 3] = [("go", &["garden"]), ("go", &["kitchen"]), ("open", &["oven"])];
        assert!(told(&story).is_empty());
        assert_eq!(told(&[story[1], story[0], story[2]]), [(1, 2, Attribute::HLocation)]);
    }

    #[test]
    fn who_sleeps_does_nothing() {
        assert_eq!(told(&[("fall_asleep", &[]), ("read", &["newspaper"])]), [(0, 1, Attribute::Conscious)]);
        assert!(told(&[("fall_asleep", &[]), ("wake", &[]), ("read", &["newspaper"])]).is_empty());
    }

    #[test]
    fn what_has_no_lid_need_not_be_open() {
        assert!(told(&[("close", &["drawer"]), ("pour", &["cup", "milk"])]).is_empty());
    }
}
