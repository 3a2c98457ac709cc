//! Synthetic stories with labels, in the format of story files.

use super::action::Action;
use super::claim::Claim;
use super::label::Label;
use super::language::Voice;
use super::plot::{Broken, Line};
use super::step::Step;
use super::table::World;
use super::thing::ThingId;
use crate::attribute::{ATTRIBUTES, Attribute};
use crate::data::{Kind, Story};
use crate::error::{Error, ErrorKind, Result};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::collections::BTreeSet;
use std::io::Write;

/// One label for each attribute.
type Labels = [u8; ATTRIBUTES];

/// A story, ready to be written.
pub(super) struct MadeStory {
    kind: Option<Kind>,
    actor: String,
    location: String,
    sentences: Vec<String>,
    /// (evidence, breakpoint).
    conflict: Option<(usize, usize)>,
    /// The actions that each sentence tells, with their names in the table.
    actions: Vec<Vec<String>>,
    /// The entities and attributes that cause the conflict.
    cause: BTreeSet<(String, Attribute)>,
    states: Vec<Row>,
}

/// The labels of one sentence.
#[derive(Default)]
struct Row {
    actor: Option<Labelled>,
    things: Vec<Labelled>,
    /// Entities that may be people or things, each with the labels that somebody gave.
    others: Vec<(String, [Option<u8>; ATTRIBUTES])>,
}

struct Labelled {
    name: String,
    labels: Labels,
}

impl MadeStory {
    /// `None` if two of its names are so similar that a reader would take one for a misspelling of the other.
    pub fn new(
        world: &World,
        voice: &Voice,
        room: ThingId,
        lines: &[Line],
        sentences: Vec<String>,
        broken: Option<&Broken>,
    ) -> Option<Self> {
        let name = |thing| voice.entity_name(world, thing);
        let states: Vec<_> = lines.iter().map(|line| row(world, voice, line)).collect();
        let violations = broken.map_or(&[][..], |broken| &broken.violations);
        let cause = violations.iter().map(|v| (v.thing.map_or(voice.actor.name.clone(), name), v.attribute)).collect();
        let story = MadeStory {
            kind: broken.map(|broken| broken.kind),
            actor: voice.actor.name.clone(),
            location: name(room),
            sentences,
            conflict: violations.first().map(|violation| (violation.evidence, violation.breakpoint)),
            actions: lines
                .iter()
                .map(|line| line.iter().map(|step| world.actions[step.action].id.clone()).collect())
                .collect(),
            cause,
            states,
        };
        story.has_distinct_names().then_some(story)
    }

    /// A story that was not synthesized, perhaps with another order of its sentences.
    pub fn reordered(story: &Story, cause: &BTreeSet<(String, Attribute)>) -> Self {
        let labelled = |n: usize| {
            story.entities.iter().map(move |entity| (entity.name.clone(), Attribute::ALL.map(|a| entity.label(n, a))))
        };
        MadeStory {
            kind: story.kind,
            actor: story.actor.clone(),
            location: story.location.clone(),
            sentences: story.sentences.clone(),
            conflict: story.conflict.map(|conflict| (conflict.evidence, conflict.breakpoint)),
            actions: Vec::new(),
            cause: cause.clone(),
            states: (0..story.sentences.len())
                .map(|n| Row { others: labelled(n).collect(), ..Row::default() })
                .collect(),
        }
    }

    fn names(&self) -> BTreeSet<&str> {
        let things = self.states.iter().flat_map(|row| &row.things).map(|thing| thing.name.as_str());
        let others = self.states.iter().flat_map(|row| &row.others).map(|(name, _)| name.as_str());
        things.chain(others).collect()
    }

    fn has_distinct_names(&self) -> bool {
        let mut names: Vec<String> = self.names().into_iter().map(str::to_lowercase).collect();
        names.push(self.actor.to_lowercase());
        (0..names.len()).all(|i| names[..i].iter().all(|other| strsim::levenshtein(other, &names[i]) > 1))
    }
}

fn row(world: &World, voice: &Voice, line: &Line) -> Row {
    let mut row = Row::default();
    for step in line {
        let action = &world.actions[step.action];
        let form = &action.forms(voice.language)[step.form];
        if form.has_actor {
            row.note_actor(&voice.actor.name, overlaid(default_labels(), &action.actor_labels));
        }
        for role in (0..action.roles.len()).filter(|&role| form.names(role)) {
            let name = voice.entity_name(world, step.thing(role));
            row.note_thing(&name, thing_labels(world, action, step, role));
        }
    }
    if row.things.is_empty() {
        // "It was raining": the actor is not mentioned, but is an entity without labels.
        row.actor.get_or_insert_with(|| Labelled { name: voice.actor.name.clone(), labels: [0; ATTRIBUTES] });
    }
    row
}

impl Row {
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

fn default_labels() -> Labels {
    Attribute::ALL.map(Attribute::default_label)
}

fn overlaid(mut labels: Labels, over: &[Label]) -> Labels {
    for label in over {
        labels[label.attribute.index()] = label.value;
    }
    labels
}

/// The labels of a role's thing: those of every such thing, those from its container, and those from the action.
fn thing_labels(world: &World, action: &Action, step: &Step, role: usize) -> Labels {
    let id = step.thing(role);
    let thing = world.thing(id);
    let mut labels = default_labels();
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
    let applies = |label: &&Label| !world.lacks(id, super::claim::Property::Noted(label.attribute));
    let own: Vec<_> = action.roles[role].labels.iter().filter(applies).copied().collect();
    overlaid(labels, &own)
}

/// Writes stories one by one.
pub(super) struct Writer<'a> {
    output: &'a mut dyn Write,
    is_first: bool,
}

impl<'a> Writer<'a> {
    pub fn begin(output: &'a mut dyn Write, split: &str) -> Result<Self> {
        let split = serde_json::to_string(split).map_err(failed)?;
        writeln!(output, "{{{split}: {{").map_err(failed)?;
        Ok(Writer { output, is_first: true })
    }

    /// `number`: the number of the story within its group and kind.
    pub fn write(&mut self, group: i64, number: usize, story: &MadeStory) -> Result<()> {
        let key = match story.kind {
            None => group.to_string(),
            Some(Kind::Cloze) => format!("{group}-C{number}"),
            Some(Kind::Order) => format!("{group}-O{number}"),
        };
        write!(self.output, "{}{:?}: ", if self.is_first { "" } else { ",\n" }, key).map_err(failed)?;
        self.is_first = false;
        serde_json::to_writer(&mut *self.output, &Record::of(story, group, &key)).map_err(failed)
    }

    pub fn finish(self) -> Result<()> {
        writeln!(self.output, "\n}}}}").and_then(|()| self.output.flush()).map_err(failed)
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, format!("cannot be written: {error}"))
}

/// The fields of a story file.
#[derive(Serialize)]
struct Record<'a> {
    story_id: i64,
    worker_id: &'a str,
    r#type: Option<Kind>,
    idx: Option<u64>,
    aug: bool,
    actor: &'a str,
    location: &'a str,
    objects: String,
    sentences: &'a [String],
    length: usize,
    example_id: &'a str,
    plausible: bool,
    breakpoint: i64,
    confl_sents: Vec<usize>,
    confl_pairs: Vec<[usize; 2]>,
    actions: &'a [Vec<String>],
    cause: &'a BTreeSet<(String, Attribute)>,
    states: &'a [Row],
}

impl<'a> Record<'a> {
    fn of(story: &'a MadeStory, group: i64, key: &'a str) -> Self {
        Record {
            story_id: group,
            worker_id: "",
            r#type: story.kind,
            idx: None,
            aug: true,
            actor: &story.actor,
            location: &story.location,
            objects: story.names().into_iter().collect::<Vec<_>>().join(", "),
            sentences: &story.sentences,
            length: story.sentences.len(),
            example_id: key,
            plausible: story.conflict.is_none(),
            breakpoint: story.conflict.map_or(-1, |(_, breakpoint)| breakpoint as i64),
            confl_sents: story.conflict.map(|(evidence, _)| evidence).into_iter().collect(),
            confl_pairs: story.conflict.map(|(evidence, breakpoint)| [evidence, breakpoint]).into_iter().collect(),
            actions: &story.actions,
            cause: &story.cause,
            states: &story.states,
        }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for attribute in Attribute::ALL {
            let labelled: &[Labelled] = if attribute.is_human() { self.actor.as_slice() } else { &self.things };
            let labelled = labelled.iter().map(|l| (l.name.as_str(), l.labels[attribute.index()]));
            let others = self.others.iter();
            let others = others.filter_map(|(name, labels)| Some((name.as_str(), labels[attribute.index()]?)));
            let entities: Vec<_> = labelled.chain(others).collect();
            if !entities.is_empty() {
                map.serialize_entry(attribute.name(), &entities)?;
            }
        }
        map.end()
    }
}
