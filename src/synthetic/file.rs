//! Synthetic stories with labels, in the format of story files.

use super::language::Voice;
use super::plot::{Broken, Line};
use super::sentence_labels::{SentenceLabels, sentence_labels};
use super::table::World;
use super::thing::ThingId;
use crate::attribute::Attribute;
use crate::data::{Kind, Story};
use crate::error::{Error, ErrorKind, Result};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;

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
    states: Vec<SentenceLabels>,
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
            states: sentence_labels(world, voice, lines),
        };
        story.has_distinct_names().then_some(story)
    }

    /// A story that was not synthesized, perhaps with another order of its sentences.
    pub fn reordered(story: &Story, cause: &BTreeSet<(String, Attribute)>) -> Self {
        MadeStory {
            kind: story.kind,
            actor: story.actor.clone(),
            location: story.location.clone(),
            sentences: story.sentences.clone(),
            conflict: story.conflict.map(|conflict| (conflict.evidence, conflict.breakpoint)),
            actions: Vec::new(),
            cause: cause.clone(),
            states: (0..story.sentences.len()).map(|sentence| SentenceLabels::annotated(story, sentence)).collect(),
        }
    }

    fn names(&self) -> BTreeSet<&str> {
        self.states.iter().flat_map(SentenceLabels::names).collect()
    }

    fn has_distinct_names(&self) -> bool {
        let mut names: Vec<String> = self.names().into_iter().map(str::to_lowercase).collect();
        names.push(self.actor.to_lowercase());
        (0..names.len()).all(|i| names[..i].iter().all(|other| strsim::levenshtein(other, &names[i]) > 1))
    }
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
    states: &'a [SentenceLabels],
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
