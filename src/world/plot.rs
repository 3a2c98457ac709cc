//! Planning stories that could happen, and breaking them.

use super::action::{Action, MAX_ROLES};
use super::claim::{Claim, Property, Role, Subject};
use super::form::Form;
use super::language::{Language, Voice};
use super::make::Failed;
use super::random::{any, weighted};
use super::state::{State, Step, Strength, Violation, violations};
use super::table::World;
use super::thing::ThingId;
use crate::data::Kind;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

/// More often than this nobody goes from place to place in a story.
const MOVES: usize = 2;
/// Tries to add a sentence before a story is given up.
const TRIES_A_STORY: usize = 150;
/// Tries to find a sentence that builds on what was said.
const TRIES_TO_FOLLOW: usize = 60;
/// Tries to find the sentence that breaks a story before it is given up.
const TRIES_A_BREAK: usize = 250;
/// So many sentences that break a story are found before one is chosen by its distance.
const BREAKS_TO_CHOOSE_FROM: usize = 10;
/// More often than this no action is told in a story.
const TIMES_AN_ACTION: usize = 2;

/// What one sentence says: a step, or two that are joined by "and".
pub(super) type Line = Vec<Step>;

/// A story broken so that exactly one pair of sentences conflicts.
#[derive(Debug, Clone)]
pub(super) struct Broken {
    pub kind: Kind,
    pub lines: Vec<Line>,
    /// For each sentence, the one of the plausible story that it is; `None` for one that is new.
    pub origins: Vec<Option<usize>>,
    pub violations: Vec<Violation>,
}

/// Plans stories for one voice.
pub(super) struct Plotter<'w> {
    world: &'w World,
    language: Language,
    voice: &'w Voice,
}

impl<'w> Plotter<'w> {
    pub fn new(world: &'w World, voice: &'w Voice) -> Self {
        Plotter { world, language: voice.language, voice }
    }

    /// A story that could happen, in a room; `Failed` if the dice don't find one.
    pub fn plausible(&self, room: ThingId, rng: &mut ChaCha12Rng) -> Result<Vec<Line>, Failed> {
        let length = self.length(rng);
        let compound = self.world.rates.compound.of(self.language);
        let joints = (0..length).filter(|_| rng.random_bool(compound)).count();
        let mut steps = vec![self.opening(room, rng).ok_or(Failed)?];
        for _ in 0..TRIES_A_STORY {
            if steps.len() == length + joints {
                return self.joined(self.worded(&steps, rng), joints, rng);
            }
            if let Some(longer) = self.extended(&steps, room, rng) {
                steps = longer;
            }
        }
        Err(Failed)
    }

    /// The steps as sentences, of which so many say two.
    fn joined(&self, steps: Vec<Step>, joints: usize, rng: &mut ChaCha12Rng) -> Result<Vec<Line>, Failed> {
        let mut lines: Vec<Line> = steps.into_iter().map(|step| vec![step]).collect();
        for _ in 0..joints {
            let is_joint = |&i: &usize| match (&lines[i][..], &lines[i + 1][..]) {
                ([first], [second]) => self.are_joinable(first, second),
                _ => false,
            };
            let able: Vec<_> = (0..lines.len() - 1).filter(is_joint).collect();
            let at = *any(rng, &able).ok_or(Failed)?;
            let second = lines.remove(at + 1);
            lines[at].extend(second);
        }
        Ok(lines)
    }

    /// Whether two steps make one sentence: the actor does both, to the same thing. In Italian, that thing must not be
    /// named twice.
    fn are_joinable(&self, first: &Step, second: &Step) -> bool {
        let does = |step: &Step| self.form_of(step).has_actor;
        let (before, after) = (self.named(first), self.named(second));
        let repeated: Vec<_> =
            after.iter().filter(|(thing, _)| before.iter().any(|(other, _)| other == thing)).collect();
        let is_short = match (self.language, &repeated[..]) {
            (_, []) => true,
            // "It" must be clear: the first thing that was named, and not in one breath with another.
            (Language::English, [(thing, role)]) => {
                let pairs = |&(_, role): &(ThingId, Role)| self.form_of(first).pairs(role);
                before[0].0 == *thing && self.form_of(second).is_plain(*role) && !before.iter().any(pairs)
            }
            _ => false,
        };
        does(first) && does(second) && is_short && leads_to(self.world, first, second)
    }

    /// The things that the step's form names, and their roles, in their order.
    fn named(&self, step: &Step) -> Vec<(ThingId, Role)> {
        self.form_of(step).named().iter().map(|&role| (step.thing(role), role)).collect()
    }

    fn form_of(&self, step: &Step) -> &Form {
        &self.world.actions[step.action].forms(self.language)[step.form]
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
            violations(self.world, [step].chunks(1)).is_empty().then_some(step)
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
        let is_repetition =
            same.clone().count() >= TIMES_AN_ACTION || same.clone().any(|other| self.alike(other, &step));
        if is_repetition {
            return None;
        }
        let mut longer = steps.to_vec();
        longer.insert(at, step);
        let is_told = self.moves(&longer) <= MOVES
            && self.is_castable(&longer)
            && !self.replaces(&longer)
            && violations(self.world, longer.chunks(1)).is_empty();
        is_told.then_some(longer)
    }

    /// How often the actor goes from one place to another.
    fn moves(&self, steps: &[Step]) -> usize {
        let is_move = |step: &&Step| {
            let goes = |effect: &Claim| match *effect {
                Claim::ActorIn { place, .. } | Claim::ActorLeft { place } => Some(step.thing(place)),
                _ => None,
            };
            let places = self.world.actions[step.action].makes.iter().filter_map(goes);
            places.into_iter().any(|place| self.world.thing(place).phrases.is_some())
        };
        steps.iter().filter(is_move).count()
    }

    /// Whether something that was thrown away, eaten or lost is bought again: possible, but told too easily.
    fn replaces(&self, steps: &[Step]) -> bool {
        let mut state = State::new(self.world);
        steps.iter().any(|step| {
            let replaces = state.replaces(step);
            state.tell(std::slice::from_ref(step));
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
        before.iter().for_each(|step| drop(state.tell(std::slice::from_ref(step))));
        let must_build = rng.random_bool(self.world.rates.build);
        let drawn = (0..TRIES_TO_FOLLOW).find_map(|_| {
            let action = self.draw_action(rng, |action| if action.is_between { 0.0 } else { action.weight })?;
            let step =
                self.bind(action, [None; MAX_ROLES], &cast, room, self.world.rates.reuse.of(self.language), rng)?;
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
        let step = self.bind(by, roles, &self.cast(steps), room, self.world.rates.reuse.of(self.language), rng)?;
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
    pub fn cloze(&self, lines: &[Line], room: ThingId, rng: &mut ChaCha12Rng) -> Result<Broken, Failed> {
        let cast = self.cast(&lines.concat());
        let mut found = Vec::new();
        for _ in 0..TRIES_A_BREAK {
            found.extend(self.try_cloze(lines, &cast, room, rng));
            if found.len() == BREAKS_TO_CHOOSE_FROM {
                break;
            }
        }
        let weights: Vec<_> = found.iter().map(|broken| self.cloze_weight(broken)).collect();
        weighted(rng, weights.into_iter()).map(|i| found.swap_remove(i)).ok_or(Failed)
    }

    /// How much a cloze story is wanted among others: by its distance, its cause, and which of the two sentences is new.
    fn cloze_weight(&self, broken: &Broken) -> f64 {
        let rates = &self.world.rates;
        let Some(violation) = broken.violations.first() else { return 0.0 };
        let cause = rates.cloze_cause.get(violation.attribute.name()).copied().unwrap_or(1.0);
        let ending = if broken.origins[violation.breakpoint].is_none() { rates.cloze_breakpoint } else { 1.0 };
        rates.cloze_distance.of(self.language, violation.breakpoint - violation.evidence) * cause * ending
    }

    fn try_cloze(&self, lines: &[Line], cast: &[ThingId], room: ThingId, rng: &mut ChaCha12Rng) -> Option<Broken> {
        let at = rng.random_range(0..lines.len());
        let action = self.draw_action(rng, |action| action.breaks)?;
        let step = self.bind(action, [None; MAX_ROLES], cast, room, 0.95, rng)?;
        if lines.iter().flatten().any(|other| self.alike(other, &step)) {
            return None;
        }
        let mut broken = lines.to_vec();
        broken[at] = vec![self.reworded(&step, cast, rng)];
        let origins = (0..lines.len()).map(|i| (i != at).then_some(i)).collect();
        // The new sentence itself must conflict, and plainly.
        let is_told = |v: &Violation| (v.evidence == at || v.breakpoint == at) && v.strength == Strength::Plain;
        self.broken(Kind::Cloze, broken, origins).filter(|broken| broken.violations.iter().all(is_told))
    }

    /// The story with two sentences swapped, so that exactly one pair conflicts.
    pub fn order(&self, lines: &[Line], rng: &mut ChaCha12Rng) -> Result<Broken, Failed> {
        let mut found = Vec::new();
        for i in 0..lines.len() {
            for j in i + 1..lines.len() {
                let (mut broken, mut origins) = (lines.to_vec(), (0..lines.len()).map(Some).collect::<Vec<_>>());
                broken.swap(i, j);
                origins.swap(i, j);
                found.extend(self.broken(Kind::Order, broken, origins).map(|broken| (broken, j - i)));
            }
        }
        let weight = |(broken, swapped): &(Broken, usize)| {
            let rates = &self.world.rates;
            let cause = broken.violations.first().and_then(|v| rates.order_cause.get(v.attribute.name()));
            let is_repetition = broken.violations.iter().all(|v| v.strength == Strength::Repeated);
            let strength = if is_repetition { rates.order_repetition } else { 1.0 };
            rates.order_distance.of(self.language, *swapped) * cause.copied().unwrap_or(1.0) * strength
        };
        let weights: Vec<_> = found.iter().map(weight).collect();
        weighted(rng, weights.into_iter()).map(|i| found.swap_remove(i).0).ok_or(Failed)
    }

    /// The story, if exactly one pair of its sentences conflicts.
    fn broken(&self, kind: Kind, lines: Vec<Line>, origins: Vec<Option<usize>>) -> Option<Broken> {
        let violations = violations(self.world, lines.iter().map(Vec::as_slice));
        let first = violations.first()?;
        let is_pair = |v: &Violation| (v.evidence, v.breakpoint) == (first.evidence, first.breakpoint);
        let is_one = first.evidence < first.breakpoint && violations.iter().all(is_pair);
        (is_one && self.is_castable(&lines.concat())).then_some(Broken { kind, lines, origins, violations })
    }
}

/// Whether the second step needs what the first brought about, and neither repeats nor undoes it.
fn leads_to(world: &World, first: &Step, second: &Step) -> bool {
    let (before, after) = (&world.actions[first.action], &world.actions[second.action]);
    let thing = |step: &Step, claim: &Claim| claim.thing().map(|role| step.thing(role));
    let needs = |effect: &Claim| {
        after.needs.iter().any(|need| {
            let is_default =
                matches!(need, Claim::Property { property: Property::Noted(a), .. } if a.default_label() != 0);
            let is_about = thing(second, need).is_some() && thing(second, need) == thing(first, effect);
            is_about && !is_default && need.is_kin(effect)
        })
    };
    let undoes = |effect: &Claim| {
        let contradicts = |other: &Claim| thing(second, other) == thing(first, effect) && other.contradicts(effect);
        after.makes.iter().any(contradicts)
    };
    let repeats = |effect: &Claim| {
        let is_same = |other: &Claim| thing(second, other) == thing(first, effect) && other.is_same(effect);
        matches!(effect, Claim::Property { .. } | Claim::In { .. }) && after.makes.iter().any(is_same)
    };
    let returns = |need: &Claim| {
        let is_same = |effect: &Claim| thing(second, effect) == thing(first, need) && effect.is_same(need);
        !matches!(need, Claim::Property { .. }) && after.makes.iter().any(is_same)
    };
    let goes = |action: &Action| action.makes.iter().any(|effect| matches!(effect, Claim::ActorIn { .. }));
    let effects = &before.makes;
    !(goes(before) && goes(after))
        && effects.iter().any(needs)
        && !effects.iter().any(|effect| undoes(effect) || repeats(effect))
        && !before.needs.iter().any(returns)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed;

    /// A voice for each language and each gender.
    fn voices(world: &World) -> Vec<Voice> {
        let voice = |language, number| Voice::draw(world, language, &mut seed::rng(0, "voice", number)).unwrap();
        [Language::English, Language::Italian].into_iter().flat_map(|l| (0..8).map(move |n| voice(l, n))).collect()
    }

    #[test]
    fn every_action_can_be_told_in_every_form() {
        let world = World::load().unwrap();
        let rooms: Vec<ThingId> =
            (0..).zip(&world.things).filter(|(_, t)| t.phrases.is_some()).map(|(id, _)| id).collect();
        let voices = voices(&world);
        let mut never = Vec::new();
        for (index, action) in world.actions.iter().enumerate() {
            for language in [Language::English, Language::Italian] {
                let mut untold: Vec<usize> = (0..action.forms(language).len()).collect();
                for (number, &room) in (0..).zip(rooms.iter().cycle().take(150 * rooms.len())) {
                    let voice = voices.iter().filter(|voice| voice.language == language).nth(number % 8).unwrap();
                    let mut rng = seed::rng(1, &action.id, number as u64);
                    let plotter = Plotter::new(&world, voice);
                    let Some(step) = plotter.bind(index, [None; MAX_ROLES], &[], room, 0.0, &mut rng) else { continue };
                    let step = plotter.reworded(&step, &[], &mut rng);
                    assert!(violations(&world, [step].chunks(1)).is_empty(), "{} contradicts itself", action.id);
                    let sentence = voice.say(&world, &[step], false);
                    let is_clean = !sentence.contains(['{', '}', '@', '|', '+', '=']) && !sentence.contains("  ");
                    let is_whole = sentence.ends_with('.') && sentence.chars().next().is_some_and(char::is_uppercase);
                    assert!(is_clean && is_whole, "{}: {sentence:?}", action.id);
                    untold.retain(|&form| form != step.form);
                }
                never.extend(untold.iter().map(|form| format!("{} {language:?} {form}", action.id)));
            }
        }
        assert!(never.is_empty(), "forms that are never told: {}", never.join(", "));
    }

    #[test]
    fn a_second_step_in_a_sentence_builds_on_the_first() {
        let world = World::load().unwrap();
        let step = |action: &str, things: &[&str]| super::super::state::tests::step(&world, action, things);
        let (open, put, take, close) = (
            step("open", &["drawer"]),
            step("put_in", &["drawer", "pencil"]),
            step("take_out", &["drawer", "pencil"]),
            step("close", &["drawer"]),
        );
        assert!(leads_to(&world, &open, &put) && leads_to(&world, &open, &take));
        assert!(!leads_to(&world, &open, &close), "closing undoes opening");
        assert!(!leads_to(&world, &put, &take), "taking out undoes putting in");
        assert!(!leads_to(&world, &close, &open), "opening undoes closing");
    }
}
