//! Breaks a plausible story so that exactly one pair of its sentences conflicts.

use super::{Line, Plotter};
use crate::data::Kind;
use crate::synthetic::action::MAX_ROLES;
use crate::synthetic::failed::Failed;
use crate::synthetic::random::weighted;
use crate::synthetic::state::violations;
use crate::synthetic::thing::ThingId;
use crate::synthetic::violation::{Strength, Violation};
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

/// The number of tries to find a breaking sentence.
const TRIES_A_BREAK: usize = 250;
/// This many breaking sentences are found before one is chosen by its distance.
const BREAKS_TO_CHOOSE_FROM: usize = 10;

/// A broken story: exactly one pair of its sentences conflicts.
#[derive(Debug, Clone)]
pub(in crate::synthetic) struct Broken {
    pub kind: Kind,
    pub lines: Vec<Line>,
    /// For each sentence, its index in the plausible story; `None` for a new sentence.
    pub origins: Vec<Option<usize>>,
    pub violations: Vec<Violation>,
}

impl Plotter<'_> {
    /// Replaces one sentence, so that exactly one pair conflicts.
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

    /// The weight of a cloze story: by its conflict's position, its cause, and which of the two sentences is new.
    fn cloze_weight(&self, broken: &Broken) -> f64 {
        let rates = &self.world.rates;
        let Some(violation) = broken.violations.first() else { return 0.0 };
        let cause = rates.cloze_cause.get(violation.attribute.name()).copied().unwrap_or(1.0);
        let ending = if broken.origins[violation.breakpoint].is_none() { rates.cloze_breakpoint } else { 1.0 };
        let (between, after) =
            (violation.breakpoint - violation.evidence - 1, broken.lines.len() - violation.breakpoint - 1);
        let place = rates.cloze_between.of(self.style, between) * rates.cloze_after.of(self.style, after);
        place * cause * ending
    }

    fn try_cloze(&self, lines: &[Line], cast: &[ThingId], room: ThingId, rng: &mut ChaCha12Rng) -> Option<Broken> {
        let at = rng.random_range(0..lines.len());
        let action = self.world.breakings.draw(rng)?;
        let step = self.bind(action, [None; MAX_ROLES], cast, room, 0.95, rng)?;
        if lines.iter().flatten().any(|other| self.alike(other, &step)) {
            return None;
        }
        let mut broken = lines.to_vec();
        broken[at] = vec![self.reworded(&step, cast, rng)];
        let origins = (0..lines.len()).map(|i| (i != at).then_some(i)).collect();
        // The new sentence itself must be in an obvious conflict.
        let is_told = |v: &Violation| (v.evidence == at || v.breakpoint == at) && v.strength == Strength::Plain;
        self.broken(Kind::Cloze, broken, origins).filter(|broken| broken.violations.iter().all(is_told))
    }

    /// Swaps two sentences, so that exactly one pair conflicts.
    pub fn order(&self, lines: &[Line], rng: &mut ChaCha12Rng) -> Result<Broken, Failed> {
        let mut found = Vec::new();
        for i in 0..lines.len() {
            for j in i + 1..lines.len() {
                let (mut broken, mut origins) = (lines.to_vec(), (0..lines.len()).map(Some).collect::<Vec<_>>());
                broken.swap(i, j);
                origins.swap(i, j);
                found.extend(self.broken(Kind::Order, broken, origins).map(|broken| (broken, (i, j))));
            }
        }
        let weight = |&(ref broken, (i, j)): &(Broken, (usize, usize))| {
            let rates = &self.world.rates;
            let cause = broken.violations.first().and_then(|v| rates.order_cause.get(v.attribute.name()));
            let is_repetition = broken.violations.iter().all(|v| v.strength == Strength::Repeated);
            let strength = if is_repetition { rates.order_repetition } else { 1.0 };
            let place = rates.order_between.of(self.style, j - i - 1) * rates.order_before.of(self.style, i);
            place * cause.copied().unwrap_or(1.0) * strength
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
