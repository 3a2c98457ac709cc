//! Plans plausible stories and breaks them.

mod bind;
mod breaks;
mod joint;
mod support;

pub(super) use breaks::Broken;

use super::action::MAX_ROLES;
use super::claim::Claim;
use super::failed::Failed;
use super::language::Voice;
use super::random::weighted;
use super::state::{State, violations};
use super::step::Step;
use super::style::Style;
use super::table::World;
use super::thing::ThingId;
use crate::language::Language;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

/// The largest number of times that the actor changes location in a story.
const MOVES: usize = 2;
/// The number of tries to add a sentence to a story.
const TRIES_A_STORY: usize = 150;
/// The number of tries to find a sentence that builds on what was said.
const TRIES_TO_FOLLOW: usize = 60;
/// The largest number of times that a story tells the same action.
const TIMES_AN_ACTION: usize = 2;

/// The steps in one sentence: one, or two that are joined by "and".
pub(super) type Line = Vec<Step>;

/// Plans stories for one voice.
pub(super) struct Plotter<'w> {
    world: &'w World,
    language: Language,
    style: Style,
    voice: &'w Voice,
}

impl<'w> Plotter<'w> {
    pub fn new(world: &'w World, voice: &'w Voice) -> Self {
        Plotter { world, language: voice.language, style: voice.style, voice }
    }

    /// A plausible story in a room; `Failed` if the random choices give none.
    pub fn plausible(&self, room: ThingId, rng: &mut ChaCha12Rng) -> Result<Vec<Line>, Failed> {
        let length = self.length(rng);
        let compound = self.world.rates.compound.of(self.style);
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

    /// A room for a story.
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
            let action = self.world.deeds.draw(rng)?;
            let step = self.bind(action, [None; MAX_ROLES], &[], room, 0.0, rng)?;
            violations(self.world, [step].chunks(1)).is_empty().then_some(step)
        })
    }

    /// The story with one more sentence, if it is still plausible.
    fn extended(&self, steps: &[Step], room: ThingId, rng: &mut ChaCha12Rng) -> Option<Vec<Step>> {
        let rates = &self.world.rates;
        let (step, at) = match weighted(rng, [rates.support, rates.follow, rates.aside].into_iter())? {
            0 => self.supporting(steps, room, rng)?,
            1 => self.following(steps, room, rng)?,
            _ => {
                let action = self.world.tellings.draw(rng)?;
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

    /// A step about things in the story, and its position: where it builds on what was said, or at least on these
    /// things.
    fn following(&self, steps: &[Step], room: ThingId, rng: &mut ChaCha12Rng) -> Option<(Step, usize)> {
        let at = if rng.random_bool(0.6) { steps.len() } else { rng.random_range(1..=steps.len()) };
        let before = &steps[..at];
        let cast = self.cast(before);
        let mut state = State::new(self.world);
        before.iter().for_each(|step| drop(state.tell(std::slice::from_ref(step))));
        let must_build = rng.random_bool(self.world.rates.build);
        let drawn = (0..TRIES_TO_FOLLOW).find_map(|_| {
            let action = self.world.deeds.draw(rng)?;
            let step = self.bind(action, [None; MAX_ROLES], &cast, room, self.world.rates.reuse.of(self.style), rng)?;
            let is_about = step.things(&self.world.actions[action]).iter().any(|thing| cast.contains(thing));
            (if must_build { state.grounds(&step) } else { is_about }).then_some(step)
        });
        Some((drawn?, at))
    }

    /// How often the actor changes location.
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

    /// Whether something that was thrown away, eaten or lost is bought again. That is possible, but would be told too
    /// often.
    fn replaces(&self, steps: &[Step]) -> bool {
        let mut state = State::new(self.world);
        steps.iter().any(|step| {
            let replaces = state.replaces(step);
            state.tell(std::slice::from_ref(step));
            replaces
        })
    }

    fn alike(&self, a: &Step, b: &Step) -> bool {
        let action = &self.world.actions[a.action];
        a.action == b.action && a.things(action) == b.things(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed;
    use crate::synthetic::language::Manner;

    /// A voice for each language and gender.
    fn voices(world: &World) -> Vec<Voice> {
        let voice = |language, number| {
            Voice::draw(world, language, language.style(), &mut seed::rng(0, "voice", number)).unwrap()
        };
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
                for (number, &room) in (0..).zip(rooms.iter().cycle().take(1500 * rooms.len())) {
                    if untold.is_empty() {
                        break;
                    }
                    let voice = voices.iter().filter(|voice| voice.language == language).nth(number % 8).unwrap();
                    let mut rng = seed::rng(1, &action.id, number as u64);
                    let plotter = Plotter::new(&world, voice);
                    let Some(step) = plotter.bind(index, [None; MAX_ROLES], &[], room, 0.0, &mut rng) else { continue };
                    let step = plotter.reworded(&step, &[], &mut rng);
                    assert!(violations(&world, [step].chunks(1)).is_empty(), "{} contradicts itself", action.id);
                    let sentence = voice.say(&world, &[step], Manner::default());
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
        assert!(joint::leads_to(&world, &open, &put) && joint::leads_to(&world, &open, &take));
        assert!(!joint::leads_to(&world, &open, &close), "closing undoes opening");
        assert!(!joint::leads_to(&world, &put, &take), "taking out undoes putting in");
        assert!(!joint::leads_to(&world, &close, &open), "opening undoes closing");
    }
}
