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
                things[role] = Some(self.player(table, role, &things, cast, room, reuse, rng)?);
            }
        }
        if !self.fits(table, &things) {
            return None;
        }
        Some(Step::new(action, things.map(Option::unwrap_or_default)))
    }

    /// A thing for one role, beside those that are bound.
    #[expect(clippy::too_many_arguments, reason = "those of `bind`, and how far it has come")]
    fn player(
        &self,
        action: &Action,
        role: Role,
        bound: &[Option<ThingId>; MAX_ROLES],
        cast: &[ThingId],
        room: ThingId,
        reuse: f64,
        rng: &mut ChaCha12Rng,
    ) -> Option<ThingId> {
        let suits = |&candidate: &ThingId| {
            let mut things = *bound;
            things[role] = Some(candidate);
            self.voice.allows(candidate) && !bound.contains(&Some(candidate)) && self.fits(action, &things)
        };
        if rng.random_bool(reuse) {
            let here = cast.iter().chain([&room]).copied();
            let known: Vec<_> = here.filter(|&c| action.roles[role].accepts(c)).filter(suits).collect();
            if !known.is_empty() {
                return any(rng, &known).copied();
            }
        }
        let is_near = |candidate: &ThingId| self.world.is_found_in(*candidate, room) || cast.contains(candidate);
        let candidates = action.roles[role].candidates.iter().copied();
        any(rng, &candidates.filter(is_near).filter(suits).collect::<Vec<_>>()).copied()
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
        let leaves_out = !short.is_empty() && rng.random_bool(self.world.rates.implied.of(self.style));
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
