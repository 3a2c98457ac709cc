//! Chooses things for the roles of an action, and a surface form.

use super::Plotter;
use crate::synthetic::action::{Action, MAX_ROLES};
use crate::synthetic::claim::Role;
use crate::synthetic::form::Form;
use crate::synthetic::random::any;
use crate::synthetic::step::Step;
use crate::synthetic::thing::ThingId;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

impl Plotter<'_> {
    /// All things in the steps.
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

    /// Whether no two things in the story are rivals.
    pub(super) fn is_castable(&self, steps: &[Step]) -> bool {
        let cast = self.cast(steps);
        !cast.iter().any(|&thing| {
            self.world.rivals[usize::from(thing)].iter().any(|other| *other != thing && cast.contains(other))
        })
    }

    /// Fills the roles that `given` leaves open, and chooses a surface form. A thing comes from the story with
    /// probability `reuse`; otherwise it is any thing that belongs in the room.
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
        // Starts with a random role, because each choice restricts the next.
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

    /// A thing for one role, given the things already chosen.
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

    /// Whether containers can hold their things, as far as both are chosen.
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

    /// The step with a surface form that does not introduce things that were already mentioned.
    pub(super) fn reworded(&self, step: &Step, mentioned: &[ThingId], rng: &mut ChaCha12Rng) -> Step {
        let action = &self.world.actions[step.action];
        step.with_form(self.form(action, step, mentioned, rng))
    }

    /// Chooses a surface form, often the first one, which is the most common. It leaves out a thing only if that is
    /// understood, and if possible says "a" only of things that were not mentioned before.
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
        let is_plain = rng.random_bool(self.world.rates.plain.of(self.style));
        if is_plain { able.first() } else { any(rng, &able) }.copied().unwrap_or_default()
    }

    pub(super) fn form_of(&self, step: &Step) -> &Form {
        &self.world.actions[step.action].forms(self.language)[step.form]
    }
}
