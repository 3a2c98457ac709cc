//! Casting: things for the roles of an action, and a form to say it in.

use super::Plotter;
use crate::world::action::{Action, MAX_ROLES};
use crate::world::claim::Role;
use crate::world::form::Form;
use crate::world::random::any;
use crate::world::state::Step;
use crate::world::thing::ThingId;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

impl Plotter<'_> {
    /// All things of the steps.
    pub(super) fn cast(&self, steps: &[Step]) -> Vec<ThingId> {
        let mut cast: Vec<ThingId> = Vec::new();
        for step in steps {
            for &thing in step.things(&self.world.actions[step.action]) {
                if !cast.contains(&thing) {
                    cast.push(thing);
                }
            }
        }
        cast
    }

    /// Whether no two things of the story are rivals.
    pub(super) fn is_castable(&self, steps: &[Step]) -> bool {
        let cast = self.cast(steps);
        !cast.iter().any(|&thing| {
            self.world.rivals[usize::from(thing)].iter().any(|other| *other != thing && cast.contains(other))
        })
    }

    /// Things for the roles that `given` leaves open: of the cast with probability `reuse`, else any that belongs in
    /// the room. And one of the surface forms.
    pub(super) fn bind(
        &self,
        action: usize,
        given: [Option<ThingId>; MAX_ROLES],
        cast: &[ThingId],
        room: ThingId,
        reuse: f64,
        rng: &mut ChaCha12Rng,
    ) -> Option<Step> {
        let table = &self.world.actions[action];
        let mut things = given;
        // From a random role on, since one that is bound narrows what fits the next.
        let first = if table.roles.is_empty() { 0 } else { rng.random_range(0..table.roles.len()) };
        for role in (0..table.roles.len()).map(|i| (first + i) % table.roles.len()) {
            if things[role].is_none() {
                let options: Vec<_> = self.options(table, role, &things, cast, room).collect();
                let known: Vec<_> = options.iter().filter(|thing| cast.contains(thing) || **thing == room).collect();
                let pool = if rng.random_bool(reuse) && !known.is_empty() {
                    **any(rng, &known)?
                } else {
                    *any(rng, &options)?
                };
                things[role] = Some(pool);
            }
        }
        if !self.fits(table, &things) {
            return None;
        }
        Some(Step::new(action, things.map(Option::unwrap_or_default)))
    }

    fn options<'a>(
        &'a self,
        action: &'a Action,
        role: Role,
        bound: &'a [Option<ThingId>; MAX_ROLES],
        cast: &'a [ThingId],
        room: ThingId,
    ) -> impl Iterator<Item = ThingId> + 'a {
        let room = &self.world.thing(room).id;
        action.roles[role].candidates.iter().copied().filter(move |&candidate| {
            let thing = self.world.thing(candidate);
            let rooms = &thing.rooms;
            let is_near = rooms.is_empty() || rooms.contains(room) || cast.contains(&candidate);
            let mut things = *bound;
            things[role] = Some(candidate);
            self.voice.allows(thing) && is_near && !bound.contains(&Some(candidate)) && self.fits(action, &things)
        })
    }

    /// Whether containers hold such things, as far as both are bound.
    fn fits(&self, action: &Action, things: &[Option<ThingId>; MAX_ROLES]) -> bool {
        action.fits.iter().all(|&(thing, container)| match (things[thing], things[container]) {
            (Some(thing), Some(container)) => self.world.fits(thing, container),
            _ => true,
        })
    }

    /// The story with surface forms that fit what was mentioned before.
    pub(super) fn worded(&self, steps: &[Step], rng: &mut ChaCha12Rng) -> Vec<Step> {
        let word = |(i, step): (usize, &Step)| self.reworded(step, &self.cast(&steps[..i]), rng);
        steps.iter().enumerate().map(word).collect()
    }

    /// The step in a surface form that does not introduce things which were mentioned.
    pub(super) fn reworded(&self, step: &Step, mentioned: &[ThingId], rng: &mut ChaCha12Rng) -> Step {
        let action = &self.world.actions[step.action];
        step.with_form(self.form(action, step, mentioned, rng))
    }

    /// A surface form: one that leaves a thing out only where that goes without saying, and that introduces, with
    /// "a", nothing that was mentioned, if there is such a form.
    fn form(&self, action: &Action, step: &Step, mentioned: &[ThingId], rng: &mut ChaCha12Rng) -> usize {
        let roles = 0..action.roles.len();
        let is_implied = |role: Role| {
            let home = &self.world.thing(step.thing(role)).id;
            step.things(action).iter().any(|&thing| self.world.thing(thing).homes.contains(home))
        };
        let (mut full, mut short) = (Vec::new(), Vec::new());
        for (i, form) in action.forms(self.language).iter().enumerate() {
            let mut unnamed = roles.clone().filter(|&role| !form.names(role)).peekable();
            if unnamed.peek().is_none() {
                full.push(i);
            } else if unnamed.all(is_implied) {
                short.push(i);
            }
        }
        let leaves_out = !short.is_empty() && rng.random_bool(self.world.rates.implied.of(self.language));
        let mut able = if leaves_out { short } else { full };
        let introduces = |&i: &usize| {
            let form = &action.forms(self.language)[i];
            roles.clone().any(|role| form.introduces(role) && mentioned.contains(&step.thing(role)))
        };
        if !able.iter().all(introduces) {
            able.retain(|i| !introduces(i));
        }
        any(rng, &able).copied().unwrap_or_default()
    }

    pub(super) fn form_of(&self, step: &Step) -> &Form {
        &self.world.actions[step.action].forms(self.language)[step.form]
    }
}
