//! Sentences that prepare others: steps that bring about what another step needs.

use super::Plotter;
use crate::synthetic::action::MAX_ROLES;
use crate::synthetic::claim::{Claim, Role, Subject};
use crate::synthetic::random::weighted;
use crate::synthetic::state::State;
use crate::synthetic::step::Step;
use crate::synthetic::thing::ThingId;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

impl Plotter<'_> {
    /// A step that brings about what another step needs, and its position before that one.
    pub(super) fn supporting(&self, steps: &[Step], room: ThingId, rng: &mut ChaCha12Rng) -> Option<(Step, usize)> {
        let at = rng.random_range(0..steps.len());
        let (supported, before) = (steps[at], &steps[..at]);
        let mut state = State::new(self.world);
        before.iter().for_each(|step| drop(state.tell(std::slice::from_ref(step))));
        let action = &self.world.actions[supported.action];
        let unmet: Vec<_> = action.needs.iter().filter(|need| state.knows(need, &supported).is_none()).collect();
        let need = *unmet[weighted(rng, unmet.iter().map(|need| self.world.rates.support_for.of(need)))?];
        let establishes = |&(by, effect): &(usize, Claim)| {
            let action = &self.world.actions[by];
            unified(&effect, &need, &supported).filter(|roles| {
                roles.iter().enumerate().all(|(role, thing)| {
                    thing.is_none_or(|thing| role < action.roles.len() && action.roles[role].accepts(thing))
                })
            })
        };
        let able: Vec<_> = self.world.effects.iter().filter_map(|e| Some((e.0, establishes(e)?))).collect();
        let drawn = weighted(rng, able.iter().map(|&(by, _)| self.world.actions[by].weight))?;
        let (by, roles) = able[drawn];
        let step = self.bind(by, roles, &self.cast(steps), room, self.world.rates.reuse.of(self.style), rng)?;
        let position = if rng.random_bool(0.7) { at } else { rng.random_range(0..=at) };
        Some((step, position))
    }
}

/// The things in the roles of the action with this `effect`, if it brings about what `step` needs.
fn unified(effect: &Claim, need: &Claim, step: &Step) -> Option<[Option<ThingId>; MAX_ROLES]> {
    let mut things = [None; MAX_ROLES];
    let mut set = |role: Role, needed: Role| things[role] = Some(step.thing(needed));
    match (*effect, *need) {
        (
            Claim::Property { subject: Subject::Actor, property, value },
            Claim::Property { subject: Subject::Actor, property: needed, value: needed_value },
        ) if property == needed && value == needed_value => {}
        (
            Claim::Property { subject: Subject::Role(role), property, value },
            Claim::Property { subject: Subject::Role(needed_role), property: needed, value: needed_value },
        ) if property == needed && value == needed_value => set(role, needed_role),
        (Claim::Held { thing, value: true }, Claim::Reachable { thing: needed }) => set(thing, needed),
        (Claim::Worn { thing, value }, Claim::Worn { thing: needed, value: needed_value }) if value == needed_value => {
            set(thing, needed);
        }
        (
            Claim::In { thing, container, value: true },
            Claim::In { thing: needed, container: needed_container, value: true },
        ) => {
            set(thing, needed);
            set(container, needed_container);
        }
        (Claim::ActorIn { place, value: true }, Claim::ActorIn { place: needed, value: true }) => set(place, needed),
        _ => return None,
    }
    Some(things)
}
