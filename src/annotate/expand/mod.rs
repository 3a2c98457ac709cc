//! Turns the operations of an edit into changes of a group.

mod entities;
mod sentences;
mod stories;

use super::change::{Change, EntityId, EntityText, MarkedConflict, SentenceId};
use super::group::{Draft, Group};
use super::message::{EditProblem, MAX_SENTENCE};
use super::op::Op;
use super::refusal::EditRefusal;
use crate::attribute::Attribute;
use crate::language::composed;
use std::collections::{BTreeMap, HashMap};

/// A change of an edit.
#[derive(Debug, Clone)]
pub(super) struct EditStep {
    pub change: Change,
    /// The change that takes it back.
    pub before: Change,
    /// Whether it was worked out from what is there now, so that it clashes with nothing: an inserted sentence.
    pub merges: bool,
}

/// An edit that is being turned into changes. It works on a copy of the group.
pub(super) struct Expansion<'p> {
    pub group: Group,
    number: i64,
    pass: &'p str,
    /// The story that the edit is about.
    pub story: String,
    pub steps: Vec<EditStep>,
}

type Outcome = Result<(), EditRefusal>;

impl<'p> Expansion<'p> {
    /// Of a story that is there, or that the first operation makes.
    pub fn new(group: Group, number: i64, pass: &'p str, story: &str) -> Self {
        Expansion { group, number, pass, story: story.to_owned(), steps: Vec::new() }
    }

    /// Makes a change, unless it changes nothing.
    pub fn set(&mut self, change: Change) {
        self.put(change, false);
    }

    fn merge(&mut self, change: Change) {
        self.put(change, true);
    }

    /// Makes an answer of any pass that follows from what is there now.
    fn merge_answer(&mut self, pass: &str, answer: Change) {
        self.merge(match pass == self.pass {
            true => answer,
            false => Change::InPass { pass: pass.to_owned(), answer: Box::new(answer) },
        });
    }

    fn put(&mut self, change: Change, merges: bool) {
        let before = self.group.apply(self.pass, &change);
        if before != change {
            self.steps.push(EditStep { change, before, merges });
        }
    }

    /// The changes so far: one for each field that is changed in the end.
    pub fn into_steps(self) -> Vec<EditStep> {
        let mut steps: Vec<EditStep> = Vec::with_capacity(self.steps.len());
        let mut places = HashMap::new();
        for step in self.steps {
            let (pass, change) = step.change.within(self.pass);
            let place = *places.entry((pass.to_owned(), change.field())).or_insert(steps.len());
            match steps.get_mut(place) {
                Some(earlier) => {
                    earlier.change = step.change;
                    earlier.merges &= step.merges;
                }
                None => steps.push(step),
            }
        }
        steps.retain(|step| step.change != step.before);
        steps
    }

    /// Adds what an operation changes.
    pub fn add(&mut self, op: &Op) -> Outcome {
        match op {
            Op::AddStory { sentences } => self.add_story(sentences),
            Op::Version { kind, sentence, text, swap } => self.version(*kind, *sentence, text.as_deref(), *swap),
            Op::RemoveStory => self.remove_story(),
            Op::Text { sentence, text } => self.correct(*sentence, text),
            Op::Replace { sentence, text } => self.replace(*sentence, text),
            Op::Insert { after, text } => self.insert(*after, text),
            Op::Remove { sentence } => self.remove(*sentence),
            Op::Move { sentence, after } => self.move_after(*sentence, *after),
            Op::Swap { sentences } => self.swap(*sentences),
            Op::Own { sentence } => self.own(*sentence),
            Op::Entity { name, person } => self.add_entity(name, *person),
            Op::Rename { entity, name } => self.rename(*entity, name),
            Op::Kind { entity, person } => self.set_kind(*entity, *person),
            Op::Drop { entity } => self.drop_entity(*entity),
            Op::Actor { entity, name } => self.set_actor(*entity, name.as_deref()),
            Op::Location { text } => self.set_location(text),
            Op::Labels { entity, sentence, values } => self.label(*entity, *sentence, values),
            Op::Conflict { evidence, breakpoint } => self.mark(*evidence, *breakpoint),
            Op::Done { done } => self.finish(*done),
        }
    }

    fn draft(&self) -> Result<&Draft, EditRefusal> {
        self.group.story(&self.story).ok_or_else(|| EditProblem::NoStory { story: self.story.clone() }.into())
    }

    /// The position of a sentence in the story.
    fn position(&self, sentence: SentenceId) -> Result<usize, EditRefusal> {
        let found = self.draft()?.sentences.iter().position(|&other| other == sentence);
        found.ok_or_else(|| EditProblem::NoSentence { story: self.story.clone(), id: sentence.0 }.into())
    }

    /// An entity of the story.
    fn entity(&self, entity: EntityId) -> Result<EntityText, EditRefusal> {
        let found = self.draft()?.entities.contains(&entity).then(|| self.group.entity(entity).cloned()).flatten();
        found.ok_or_else(|| EditProblem::NoEntity { story: self.story.clone(), id: entity.0 }.into())
    }

    /// The keys of the stories that a change of this one's sentences or entities concerns: a plausible story with its
    /// versions, or a version alone.
    fn followers(&self) -> Result<Vec<String>, EditRefusal> {
        Ok(match self.draft()?.kind {
            None => self.group.present().map(|(key, _)| key.to_owned()).collect(),
            Some(_) => vec![self.story.clone()],
        })
    }

    fn label(&mut self, entity: EntityId, sentence: SentenceId, values: &BTreeMap<Attribute, Option<u8>>) -> Outcome {
        self.position(sentence)?;
        self.entity(entity)?;
        for (&attribute, &label) in values {
            if label.is_some_and(|label| label > attribute.max_label()) {
                let most = attribute.max_label();
                return Err(EditRefusal::data(format!("a label of {attribute} must be from 0 to {most}")));
            }
            self.set(Change::Label { entity, sentence, attribute, label });
        }
        Ok(())
    }

    fn mark(&mut self, evidence: Option<SentenceId>, breakpoint: Option<SentenceId>) -> Outcome {
        let conflict = match (evidence, breakpoint) {
            (None, None) => None,
            (Some(one), Some(other)) if one != other => {
                let (first, second) = (self.position(one)?, self.position(other)?);
                let (evidence, breakpoint) = if first < second { (one, other) } else { (other, one) };
                Some(MarkedConflict { evidence, breakpoint })
            }
            _ => return Err(EditProblem::ConflictOfOne.into()),
        };
        if self.draft()?.kind.is_none() && conflict.is_some() {
            return Err(EditProblem::ConflictInPlausible.into());
        }
        self.set(Change::Conflict { story: self.story.clone(), conflict });
        Ok(())
    }

    fn finish(&mut self, done: bool) -> Outcome {
        self.draft()?;
        self.set(Change::Done { story: self.story.clone(), done });
        Ok(())
    }
}

/// A sentence without outer spaces and line ends, with accents as part of their letters.
fn tidy(text: &str) -> Result<String, EditRefusal> {
    let text = composed(
        &text
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
    );
    match text.chars().count() > MAX_SENTENCE {
        true => Err(EditProblem::LongSentence.into()),
        false => Ok(text),
    }
}
