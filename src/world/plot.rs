//! Planning stories that could happen, and breaking them.

use super::action::{Action, MAX_ROLES};
use super::claim::{Claim, Role, Subject};
use super::language::Language;
use super::make::Failed;
use super::random::{any, weighted};
use super::state::{State, Step, Violation, violations};
use super::table::World;
use super::thing::ThingId;
use crate::data::Kind;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

/// Tries to add a sentence before a story is given up.
const TRIES_A_STORY: usize = 150;
/// Tries to find a sentence that builds on what was said.
const TRIES_TO_FOLLOW: usize = 60;
/// Tries to find the sentence that breaks a story before it is given up.
const TRIES_A_BREAK: usize = 150;
/// So many sentences that break a story are found before one is chosen by its distance.
const BREAKS_TO_CHOOSE_FROM: usize = 4;
/// More often than this no action is told in a story.
const TIMES_AN_ACTION: usize = 2;

/// A story broken so that exactly one pair of sentences conflicts.
#[derive(Debug, Clone)]
pub(super) struct Broken {
    pub kind: Kind,
    pub steps: Vec<Step>,
    /// For each sentence, the one of the plausible story that it is; `None` for one that is new.
    pub origins: Vec<Option<usize>>,
    pub violations: Vec<Violation>,
}

/// Plans stories in one language.
pub(super) struct Plotter<'w> {
    world: &'w World,
    language: Language,
}

impl<'w> Plotter<'w> {
    pub fn new(world: &'w World, language: Language) -> Self {
        Plotter { world, language }
    }

    /// A story that could happen, in a room; `Failed` if the dice don't find one.
    pub fn plausible(&self, room: ThingId, rng: &mut ChaCha12Rng) -> Result<Vec<Step>, Failed> {
        let length = self.length(rng);
        let mut steps = vec![self.opening(room, rng).ok_or(Failed)?];
        for _ in 0..TRIES_A_STORY {
            if steps.len() == length {
                return Ok(self.worded(&steps, rng));
            }
            if let Some(longer) = self.extended(&steps, room, rng) {
                steps = longer;
            }
        }
        Err(Failed)
    }

    /// The room of a story.
    pub fn room(&self, rng: &mut ChaCha12Rng) -> Result<ThingId, Failed> {
        let rooms: Vec<_> = self.world.rates.rooms.iter().collect();
        let room = weighted(rng, rooms.iter().map(|&(_, &weight)| weight)).ok_or(Failed)?;
        let id = self.world.things.iter().position(|thing| thing.id == *rooms[room].0).ok_or(Failed)?;
        ThingId::try_from(id).map_err(|_| Failed)
    }

    fn length(&self, rng: &mut ChaCha12Rng) -> usize {
        let lengths: Vec<_> = self.world.rates.lengths.iter().collect();
        let drawn = weighted(rng, lengths.iter().map(|&(_, &weight)| weight));
        drawn.and_then(|i| lengths[i].0.parse().ok()).unwrap_or(5)
    }

    fn opening(&self, room: ThingId, rng: &mut ChaCha12Rng) -> Option<Step> {
        (0..TRIES_A_STORY).find_map(|_| {
            let action = self.draw_action(rng, |action| if action.is_between { 0.0 } else { action.weight })?;
            let step = self.bind(action, [None; MAX_ROLES], &[], room, 0.0, rng)?;
            violations(self.world, &[step]).is_empty().then_some(step)
        })
    }

    /// The story with one more sentence, if it still could happen.
    fn extended(&self, steps: &[Step], room: ThingId, rng: &mut ChaCha12Rng) -> Option<Vec<Step>> {
        let rates = &self.world.rates;
        let (step, at) = match weighted(rng, [rates.support, rates.follow, rates.aside].into_iter())? {
            0 => self.supporting(steps, room, rng)?,
            1 => self.following(steps, room, rng)?,
            _ => {
                let action = self.draw_action(rng, |action| action.weight)?;
                let step = self.bind(action, [None; MAX_ROLES], &self.cast(steps), room, 0.2, rng)?;
                (step, rng.random_range(0..=steps.len()))
            }
        };
        let same = steps.iter().filter(|other| other.action == step.action);
        let is_repetition = same.clone().count() >= TIMES_AN_ACTION || same.clone().any(|other| self.alike(other, &step));
        if is_repetition {
            return None;
        }
        let mut longer = steps.to_vec();
        longer.insert(at, step);
        let is_told = self.is_castable(&longer) && !self.replaces(&longer) && violations(self.world, &longer).is_empty();
        is_told.then_some(longer)
    }

    /// Whether something that was thrown away, eaten or lost is bought again: possible, but told too easily.
    fn replaces(&self, steps: &[Step]) -> bool {
        let mut state = State::new(self.world);
        steps.iter().any(|step| {
            let replaces = state.replaces(step);
            state.tell(step);
            replaces
        })
    }

    /// The story with surface forms that fit what was mentioned before.
    fn worded(&self, steps: &[Step], rng: &mut ChaCha12Rng) -> Vec<Step> {
        let word = |(i, step): (usize, &Step)| self.reworded(step, &self.cast(&steps[..i]), rng);
        steps.iter().enumerate().map(word).collect()
    }

    /// The step in a surface form that does not introduce things which were mentioned.
    fn reworded(&self, step: &Step, mentioned: &[ThingId], rng: &mut ChaCha12Rng) -> Step {
        let action = &self.world.actions[step.action];
        step.with_form(self.form(action, step, mentioned, rng))
    }

    fn alike(&self, a: &Step, b: &Step) -> bool {
        let action = &self.world.actions[a.action];
        a.action == b.action && a.things(action) == b.things(action)
    }

    /// A step about things of the story, and a place for it where it builds on what was said, or at least on them.
    fn following(&self, steps: &[Step], room: ThingId, rng: &mut ChaCha12Rng) -> Option<(Step, usize)> {
        let at = if rng.random_bool(0.6) { steps.len() } else { rng.random_range(1..=steps.len()) };
        let before = &steps[..at];
        let cast = self.cast(before);
        let mut state = State::new(self.world);
        before.iter().for_each(|step| drop(state.tell(step)));
        let must_build = rng.random_bool(self.world.rates.build);
        let drawn = (0..TRIES_TO_FOLLOW).find_map(|_| {
            let action = self.draw_action(rng, |action| if action.is_between { 0.0 } else { action.weight })?;
            let step = self.bind(action, [None; MAX_ROLES], &cast, room, self.world.rates.reuse, rng)?;
            let is_about = step.things(&self.world.actions[action]).iter().any(|thing| cast.contains(thing));
            (if must_build { state.grounds(&step) } else { is_about }).then_some(step)
        });
        Some((drawn?, at))
    }

    /// A step that brings about what another needs, and a place for it before that one.
    fn supporting(&self, steps: &[Step], room: ThingId, rng: &mut ChaCha12Rng) -> Option<(Step, usize)> {
        let at = rng.random_range(0..steps.len());
        let (supported, before) = (steps[at], &steps[..at]);
        let mut state = State::new(self.world);
        before.iter().for_each(|step| drop(state.tell(step)));
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
        let step = self.bind(by, roles, &self.cast(steps), room, self.world.rates.reuse, rng)?;
        let position = if rng.random_bool(0.7) { at } else { rng.random_range(0..=at) };
        Some((step, position))
    }

    fn draw_action(&self, rng: &mut ChaCha12Rng, weight: impl Fn(&Action) -> f64 + Copy) -> Option<usize> {
        weighted(rng, self.world.actions.iter().map(weight))
    }

    /// All things of the steps.
    fn cast(&self, steps: &[Step]) -> Vec<ThingId> {
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
    fn is_castable(&self, steps: &[Step]) -> bool {
        let cast = self.cast(steps);
        !cast.iter().any(|&thing| {
            self.world.rivals[usize::from(thing)].iter().any(|other| *other != thing && cast.contains(other))
        })
    }

    /// Things for the roles that `given` leaves open: of the cast with probability `reuse`, else any that belongs in
    /// the room. And one of the surface forms.
    fn bind(
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
                let known: Vec<_> = options.iter().filter(|thing| cast.contains(thing)).collect();
                let pool = if rng.random_bool(reuse) && !known.is_empty() { **any(rng, &known)? } else { *any(rng, &options)? };
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
            let rooms = &self.world.thing(candidate).rooms;
            let is_near = rooms.is_empty() || rooms.contains(room) || cast.contains(&candidate);
            let mut things = *bound;
            things[role] = Some(candidate);
            is_near && !bound.contains(&Some(candidate)) && self.fits(action, &things)
        })
    }

    /// Whether containers hold such things, as far as both are bound.
    fn fits(&self, action: &Action, things: &[Option<ThingId>; MAX_ROLES]) -> bool {
        action.fits.iter().all(|&(thing, container)| match (things[thing], things[container]) {
            (Some(thing), Some(container)) => self.world.fits(thing, container),
            _ => true,
        })
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

    /// The story with one sentence replaced, so that exactly one pair conflicts.
    pub fn cloze(&self, steps: &[Step], room: ThingId, rng: &mut ChaCha12Rng) -> Result<Broken, Failed> {
        let cast = self.cast(steps);
        let mut found = Vec::new();
        for _ in 0..TRIES_A_BREAK {
            found.extend(self.try_cloze(steps, &cast, room, rng));
            if found.len() == BREAKS_TO_CHOOSE_FROM {
                break;
            }
        }
        let distance = &self.world.rates.cloze_distance;
        let weight = |broken: &Broken| distance.of(self.language, broken.distance());
        weighted(rng, found.iter().map(weight)).map(|i| found.swap_remove(i)).ok_or(Failed)
    }

    fn try_cloze(&self, steps: &[Step], cast: &[ThingId], room: ThingId, rng: &mut ChaCha12Rng) -> Option<Broken> {
        let at = rng.random_range(0..steps.len());
        let action = self.draw_action(rng, |action| action.breaks)?;
        let step = self.bind(action, [None; MAX_ROLES], cast, room, 0.95, rng)?;
        if steps.iter().any(|other| self.alike(other, &step)) {
            return None;
        }
        let mut broken = steps.to_vec();
        broken[at] = self.reworded(&step, cast, rng);
        let origins = (0..steps.len()).map(|i| (i != at).then_some(i)).collect();
        // That somebody takes what is in their hands already is not enough where nothing but a sentence changed.
        self.broken(Kind::Cloze, broken, origins).filter(|broken| !broken.violations.iter().any(|v| v.is_weak))
    }

    /// The story with two sentences swapped, so that exactly one pair conflicts.
    pub fn order(&self, steps: &[Step], rng: &mut ChaCha12Rng) -> Result<Broken, Failed> {
        let mut found = Vec::new();
        for i in 0..steps.len() {
            for j in i + 1..steps.len() {
                let (mut broken, mut origins) = (steps.to_vec(), (0..steps.len()).map(Some).collect::<Vec<_>>());
                broken.swap(i, j);
                origins.swap(i, j);
                found.extend(self.broken(Kind::Order, broken, origins).map(|broken| (broken, j - i)));
            }
        }
        let distance = &self.world.rates.order_distance;
        let drawn = weighted(rng, found.iter().map(|&(_, swapped)| distance.of(self.language, swapped)));
        drawn.map(|i| found.swap_remove(i).0).ok_or(Failed)
    }

    /// The story, if exactly one pair of its sentences conflicts.
    fn broken(&self, kind: Kind, steps: Vec<Step>, origins: Vec<Option<usize>>) -> Option<Broken> {
        let violations = violations(self.world, &steps);
        let first = violations.first()?;
        let is_one = violations.iter().all(|v| (v.evidence, v.breakpoint) == (first.evidence, first.breakpoint));
        (is_one && self.is_castable(&steps)).then_some(Broken { kind, steps, origins, violations })
    }
}

impl Broken {
    /// Sentences from the evidence to the breakpoint.
    fn distance(&self) -> usize {
        self.violations.first().map_or(1, |violation| violation.breakpoint - violation.evidence)
    }
}

/// The things of the roles of the action with this `effect`, if it brings about what `step` needs.
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
