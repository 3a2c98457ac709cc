//! Joins two steps into one sentence: "opened the fridge and took the milk out of it".

use super::{Line, Plotter};
use crate::language::Language;
use crate::synthetic::action::Action;
use crate::synthetic::claim::{Claim, Property, Role};
use crate::synthetic::failed::Failed;
use crate::synthetic::random::any;
use crate::synthetic::step::Step;
use crate::synthetic::table::World;
use crate::synthetic::thing::ThingId;
use rand_chacha::ChaCha12Rng;

impl Plotter<'_> {
    /// The steps as sentences; `joints` sentences tell two steps.
    pub(super) fn joined(&self, steps: Vec<Step>, joints: usize, rng: &mut ChaCha12Rng) -> Result<Vec<Line>, Failed> {
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

    /// Whether two steps can be one sentence: the actor does both to the same thing. In Italian, the sentence must not
    /// name that thing twice.
    fn are_joinable(&self, first: &Step, second: &Step) -> bool {
        let does = |step: &Step| self.form_of(step).has_actor;
        let (before, after) = (self.named(first), self.named(second));
        let repeated: Vec<_> =
            after.iter().filter(|(thing, _)| before.iter().any(|(other, _)| other == thing)).collect();
        let is_short = match (self.language, &repeated[..]) {
            (_, []) => true,
            // "It" must be clear: it is the first thing that was named, and not one of two in a list.
            (Language::English, [(thing, role)]) => {
                let pairs = |&(_, role): &(ThingId, Role)| self.form_of(first).pairs(role);
                before[0].0 == *thing && self.form_of(second).is_plain(*role) && !before.iter().any(pairs)
            }
            _ => false,
        };
        does(first) && does(second) && is_short && leads_to(self.world, first, second)
    }

    /// The things that the step's form names, with their roles, in order.
    fn named(&self, step: &Step) -> Vec<(ThingId, Role)> {
        self.form_of(step).named().iter().map(|&role| (step.thing(role), role)).collect()
    }
}

/// Whether the second step needs an effect of the first, and neither repeats nor undoes it.
pub(super) fn leads_to(world: &World, first: &Step, second: &Step) -> bool {
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
    let is_idle = effects.iter().any(|effect| undoes(effect) || repeats(effect))
        || before.needs.iter().any(returns)
        || (goes(before) && goes(after));
    effects.iter().any(needs) && !is_idle
}
