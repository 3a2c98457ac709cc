//! The labels of a sentence, as an annotator would give them.

use super::action::Action;
use super::claim::{Claim, Property, Subject};
use super::label::Label;
use super::language::Voice;
use super::plot::Line;
use super::state::State;
use super::step::Step;
use super::table::World;
use super::thing::ThingId;
use super::violation::Violation;
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::{Entity, Story};
use serde::{Serialize, Serializer, ser::SerializeMap};

/// One label for each attribute.
type Labels = [u8; ATTRIBUTES];

/// The labels of one sentence.
#[derive(Default)]
pub(super) struct SentenceLabels {
    actor: Option<Labelled>,
    things: Vec<Labelled>,
    /// Entities that may be people or things.
    others: Vec<Labelled>,
}

struct Labelled {
    name: String,
    labels: Labels,
}

/// The labels of each sentence of a story.
pub(super) fn sentence_labels(world: &World, voice: &Voice, lines: &[Line]) -> Vec<SentenceLabels> {
    let mut state = State::new(world);
    let labelled = |line: &Line| {
        let before = state.clone();
        let violations = state.tell(line);
        SentenceLabels::of(&Context { state: &before, violations: &violations }, voice, line)
    };
    lines.iter().map(labelled).collect()
}

/// What the sentences before one said, also for the second of its actions, and what it contradicts.
struct Context<'a> {
    state: &'a State<'a>,
    violations: &'a [Violation],
}

impl Context<'_> {
    /// Whether a thing, or the actor (`None`), is known to have the attribute; `None` also if that is the conflict.
    fn known(&self, subject: Option<ThingId>, attribute: Attribute) -> Option<bool> {
        if self.violations.iter().any(|v| (v.thing, v.attribute) == (subject, attribute)) {
            return None;
        }
        let is_refused = attribute == Attribute::Edible && self.state.known(subject, Property::Refused) == Some(true);
        if is_refused { Some(false) } else { self.state.known(subject, Property::Noted(attribute)) }
    }

    /// The defaults, but 0 where the opposite is known: what is broken stays so while a sentence only names it.
    fn default_labels(&self, subject: Option<ThingId>) -> Labels {
        let is_denied = |attribute| self.known(subject, attribute) == Some(false);
        Attribute::ALL.map(|attribute| if is_denied(attribute) { 0 } else { attribute.default_label() })
    }

    /// The label that an action gives: only its effect, if its precondition contradicts what is known.
    fn label(&self, subject: Option<ThingId>, label: Label, makes_it: bool) -> u8 {
        let (before, after) = label.attribute.split(label.value);
        let opposite = |known| if known { 1 } else { 2 };
        if self.known(subject, label.attribute).is_none_or(|known| before != opposite(known)) {
            return label.value;
        }
        // A label of what stays as it is has no effect, unless the action brings it about: "was broken".
        if before == after && !makes_it { 0 } else { label.attribute.join(0, after) }
    }
}

impl SentenceLabels {
    fn of(context: &Context, voice: &Voice, line: &Line) -> Self {
        let world = context.state.world();
        let mut sentence = SentenceLabels::default();
        for step in line {
            let action = &world.actions[step.action];
            let form = &action.forms(voice.language)[step.form];
            if form.has_actor {
                sentence.note_actor(&voice.actor.name, actor_labels(context, action));
            }
            for role in (0..action.roles.len()).filter(|&role| form.names(role)) {
                let name = voice.entity_name(world, step.thing(role));
                sentence.note_thing(&name, thing_labels(context, action, step, role));
            }
        }
        if sentence.things.is_empty() {
            // "It was raining": the actor is not mentioned, but is an entity without labels.
            sentence.actor.get_or_insert_with(|| Labelled { name: voice.actor.name.clone(), labels: [0; ATTRIBUTES] });
        }
        sentence
    }

    /// The annotators' labels of a sentence of a real story.
    pub fn annotated(story: &Story, sentence: usize) -> Self {
        let annotated = story.entities.iter().filter(|entity| entity.is_annotated(sentence));
        let labelled = |entity: &Entity| Labelled {
            name: entity.name.clone(),
            labels: Attribute::ALL
                .map(|a| a.join(entity.preconditions[sentence][a.index()], entity.effects[sentence][a.index()])),
        };
        SentenceLabels { others: annotated.map(labelled).collect(), ..SentenceLabels::default() }
    }

    /// The names of its things, and of those that may be people or things.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.things.iter().chain(&self.others).map(|labelled| labelled.name.as_str())
    }

    fn note_actor(&mut self, name: &str, labels: Labels) {
        match &mut self.actor {
            Some(actor) => actor.labels = sequence(actor.labels, labels),
            None => self.actor = Some(Labelled { name: name.to_owned(), labels }),
        }
    }

    fn note_thing(&mut self, name: &str, labels: Labels) {
        match self.things.iter_mut().find(|thing| thing.name == name) {
            Some(thing) => thing.labels = sequence(thing.labels, labels),
            None => self.things.push(Labelled { name: name.to_owned(), labels }),
        }
    }
}

/// Combines the labels of two actions that one sentence tells.
fn sequence(first: Labels, second: Labels) -> Labels {
    Attribute::ALL.map(|attribute| {
        let (a, b) = (first[attribute.index()], second[attribute.index()]);
        let default = attribute.default_label();
        if b == default || b == 0 {
            return a;
        }
        if a == default || a == 0 || attribute.max_label() < 8 || attribute == Attribute::Location {
            return b;
        }
        let ((before, then), (needed, after)) = (attribute.split(a), attribute.split(b));
        let before = if before == 0 && then == 0 { needed } else { before };
        let after = if after == 0 { then } else { after };
        attribute.join(before, after)
    })
}

fn overlaid(mut labels: Labels, over: &[Label]) -> Labels {
    for label in over {
        labels[label.attribute.index()] = label.value;
    }
    labels
}

fn actor_labels(context: &Context, action: &Action) -> Labels {
    action.actor_labels.iter().fold(context.default_labels(None), |mut labels, label| {
        labels[label.attribute.index()] =
            context.label(None, *label, action.makes_false(Subject::Actor, label.attribute));
        labels
    })
}

/// The labels of a role's thing: those of every such thing, those from its container, and those from the action.
fn thing_labels(context: &Context, action: &Action, step: &Step, role: usize) -> Labels {
    let (world, id) = (context.state.world(), step.thing(role));
    let thing = world.thing(id);
    let is_new = action.gets.contains(&role);
    let mut labels =
        if is_new { Attribute::ALL.map(Attribute::default_label) } else { context.default_labels(Some(id)) };
    if thing.is("fixed") || thing.is("furniture") {
        labels[Attribute::Moveable.index()] = 0;
    }
    let is_put = |claims: &[Claim], a, b| {
        claims
            .iter()
            .any(|claim| matches!(*claim, Claim::In { thing, container, value: true } if (thing, container) == (a, b)))
    };
    for other in (0..action.roles.len()).filter(|&other| other != role) {
        let container = world.thing(step.thing(other));
        let (put, taken) = (is_put(&action.makes, role, other), is_put(&action.needs, role, other));
        if put {
            labels = overlaid(labels, &container.puts);
        } else if taken {
            labels = overlaid(labels, &container.takes);
        }
        if is_put(&action.makes, other, role) || is_put(&action.needs, other, role) {
            labels = overlaid(labels, &thing.aura);
        }
    }
    let applies = |label: &&Label| !world.lacks(id, Property::Noted(label.attribute));
    for label in action.roles[role].labels.iter().filter(applies) {
        let makes_it = action.makes_false(Subject::Role(role), label.attribute);
        labels[label.attribute.index()] = context.label(Some(id), *label, makes_it);
    }
    labels
}

impl Serialize for SentenceLabels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for attribute in Attribute::ALL {
            let labelled: &[Labelled] = if attribute.is_human() { self.actor.as_slice() } else { &self.things };
            let labelled = labelled.iter().chain(&self.others);
            let entities: Vec<_> = labelled.map(|l| (l.name.as_str(), l.labels[attribute.index()])).collect();
            if !entities.is_empty() {
                map.serialize_entry(attribute.name(), &entities)?;
            }
        }
        map.end()
    }
}
