//! Edits that are undone and redone: what somebody else changed, or has built on them since, is told.

use super::change::{Change, EntityId, MarkedConflict, SentenceId};
use super::edit::Planned;
use super::expand::EditStep;
use super::group::Group;
use super::history::Edit;
use super::journal::EditEntry;
use super::merge::{merged, ordered};
use super::message::{Deed, EditProblem};
use super::op::Direction;
use super::project::Project;
use super::refusal::EditRefusal;
use super::sender::{Edited, Sender};
use super::settle::Intent;
use std::collections::BTreeSet;

impl Project {
    /// Undoes the last edit of the annotator in this pass, or redoes the one that was undone last.
    ///
    /// # Errors
    /// `gone` if there is none; a clash if somebody changed the same since, or has built on what would go.
    pub fn go(&mut self, sender: Sender, direction: Direction) -> Result<Edited, EditRefusal> {
        if let Some(done) = self.check(sender, 0)? {
            return Ok(done);
        }
        let nothing = || EditProblem::NothingToGoTo { who: sender.who.to_owned(), direction };
        let edit = self.history.next(sender.who, sender.pass, direction).ok_or_else(nothing)?;
        let Edit { entry: EditEntry { revision, group: number, story, changes, .. }, before, deed } = edit;
        let (revision, number) = (*revision, *number);
        let deed = Some(Deed { direction: Some(direction), made: deed.made.clone() });
        let (from, to, since) = match direction {
            Direction::Undo => (changes, before, revision),
            Direction::Redo => (before, changes, self.history.undone(revision)),
        };
        let steps = from.iter().zip(to).map(|(from, to)| self.step_between(number, sender.pass, revision, from, to));
        let mut steps: Vec<_> = steps.filter(|step| step.change != step.before).collect();
        let (group, taken) = (self.stories.group(number), taken_names(self.stories.group(number), sender.pass, &steps));
        let is_taken = |change: &Change| group.named_by(change).is_some_and(|(_, name)| taken.contains(name));
        steps.iter_mut().for_each(|step| step.merges &= !is_taken(&step.change));
        let intent = Intent { sender, number, story, since, from };
        let steps = self.settled(&intent, steps, |step| !step.merges)?;
        let steps = keep_used_texts(self.stories.group(number), sender.pass, steps);
        let steps = without_nameless(self.stories.group(number), sender.pass, steps);
        if let Some(name) = taken_names(self.stories.group(number), sender.pass, &steps).pop_first() {
            return Err(EditProblem::NameIsTakenByNow { name }.into());
        }
        let (undoes, redoes) =
            if direction == Direction::Undo { (Some(revision), None) } else { (None, Some(revision)) };
        let story = story.clone();
        self.commit(Planned { sender, number, story, steps, deed, undoes, redoes })
    }

    /// Sets a field back from `from` to `to`. It merges if nobody set the field since the edit of this revision, or if
    /// the sentences of a story can be merged; otherwise it clashes.
    fn step_between(&self, number: i64, pass: &str, revision: u64, from: &Change, to: &Change) -> EditStep {
        let before = self.stories.groups[&number].current(pass, to);
        let last = self.history.last(number, pass, to).map(|edit| &edit.entry);
        // A mark that moved with its sentence in another pass was set by nobody else.
        let is_own = last.is_some_and(|last| [Some(last.revision), last.undoes, last.redoes].contains(&Some(revision)));
        let merged = match (from, to, &before) {
            _ if before == *from || before == *to => Some(to.clone()),
            (
                Change::Order { sentences: from, .. },
                Change::Order { story, sentences: to },
                Change::Order { sentences, .. },
            ) => {
                let order = |sentences| Change::Order { story: story.clone(), sentences };
                return match merged(from, to, sentences) {
                    Some(merged) => EditStep { change: order(merged), before, merges: true },
                    None => EditStep { change: order(ordered(to, sentences)), before, merges: false },
                };
            }
            (Change::Conflict { .. }, ..) if is_own => Some(to.clone()),
            (
                Change::InPass { answer: from, .. },
                Change::InPass { answer: to, .. },
                Change::InPass { pass, answer },
            ) => moved_back(from, to, answer)
                .map(|answer| Change::InPass { pass: pass.clone(), answer: Box::new(answer) }),
            _ => None,
        };
        EditStep { merges: merged.is_some(), change: merged.unwrap_or_else(|| to.clone()), before }
    }
}

/// A sentence that a story still has keeps its text.
fn keep_used_texts(mut group: Group, pass: &str, mut steps: Vec<EditStep>) -> Vec<EditStep> {
    steps.iter().for_each(|step| drop(group.apply(pass, &step.change)));
    let is_used = |sentence: &SentenceId| group.present().any(|(_, draft)| draft.sentences.contains(sentence));
    steps.retain(|step| !matches!(&step.change, Change::Text { sentence, text: None } if is_used(sentence)));
    steps
}

/// An entity that does not get its name back is not taken into a story again.
fn without_nameless(mut group: Group, pass: &str, mut steps: Vec<EditStep>) -> Vec<EditStep> {
    steps.iter().for_each(|step| drop(group.apply(pass, &step.change)));
    let has_name = |entity: &EntityId| group.entities.get(entity).is_some_and(Option::is_some);
    steps.retain(|step| !matches!(&step.change, Change::Member { entity, is: true, .. } if !has_name(entity)));
    steps
}

/// A mark of another pass goes back with its sentence, whatever was marked there since.
fn moved_back(from: &Change, to: &Change, current: &Change) -> Option<Change> {
    let (Change::Conflict { conflict: Some(from), .. }, Change::Conflict { conflict: Some(to), .. }) = (from, to)
    else {
        return None;
    };
    let Change::Conflict { story, conflict } = current else { return None };
    let moved = |id| match id {
        id if id == from.evidence => to.evidence,
        id if id == from.breakpoint => to.breakpoint,
        id => id,
    };
    let moved = |MarkedConflict { evidence, breakpoint }| MarkedConflict {
        evidence: moved(evidence),
        breakpoint: moved(breakpoint),
    };
    Some(Change::Conflict { story: story.clone(), conflict: conflict.map(moved) })
}

/// The names that two entities of the stories would have after the steps: another one may have got it since.
fn taken_names(mut group: Group, pass: &str, steps: &[EditStep]) -> BTreeSet<String> {
    steps.iter().for_each(|step| drop(group.apply(pass, &step.change)));
    let mut names = BTreeSet::new();
    let shown = group.entities.iter().filter(|(entity, _)| group.shows(**entity)).filter_map(|(_, is)| is.as_ref());
    shown.filter(|entity| !names.insert(&entity.name)).map(|entity| entity.name.clone()).collect()
}
