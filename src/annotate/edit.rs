//! Edits of a project: checked, written into the journal, and made.

use super::change::Change;
use super::describe::describe_all;
use super::expand::{EditStep, Expansion};
use super::group::Group;
use super::history::Edit;
use super::journal::EditEntry;
use super::message::{Deed, EditProblem, InWords, Made};
use super::op::Op;
use super::project::Project;
use super::refusal::EditRefusal;
use super::sender::{Edited, Sender};
use super::settle::Intent;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A group of a story file keeps its number below this.
pub(super) const MAX_WANTED: i64 = 1 << 30;

/// What is about to be done.
pub(super) struct Planned<'a> {
    pub sender: Sender<'a>,
    pub number: i64,
    pub story: String,
    pub steps: Vec<EditStep>,
    /// Unless the changes say it.
    pub deed: Option<Deed>,
    pub undoes: Option<u64>,
    pub redoes: Option<u64>,
}

impl Project {
    /// Makes the operations of an annotator who last saw revision `base`, all or none. `story` is `None` if the first one
    /// makes a story.
    ///
    /// # Errors
    /// See [`EditRefusal`]. Nothing is changed then.
    pub fn edit(&mut self, sender: Sender, base: u64, story: Option<&str>, ops: &[Op]) -> Result<Edited, EditRefusal> {
        if let Some(done) = self.check(sender, base)? {
            return Ok(done);
        }
        let number = match story {
            Some(story) => self.stories.number_of(story)?,
            None => self.stories.free_number(),
        };
        let group = self.stories.group(number);
        let mut expansion = Expansion::new(group, number, sender.pass, story.unwrap_or_default());
        for op in ops {
            expansion.add(op)?;
        }
        let (story, steps) = (expansion.story.clone(), expansion.into_steps());
        let is_others = |step: &EditStep| {
            let last = self.history.last(number, sender.pass, &step.change);
            !step.merges && last.is_some_and(|last| last.entry.revision > base && last.entry.window != sender.window)
        };
        let intent = Intent { sender, number, story: &story, since: base, from: &[] };
        let steps = self.settled(&intent, steps, is_others)?;
        self.commit(Planned { sender, number, story, steps, deed: None, undoes: None, redoes: None })
    }

    /// Adds a group that was read from a story file, as one edit. It gets the number that is wanted; if that is
    /// taken, the next free one from `above` on.
    pub(super) fn add_group(
        &mut self,
        sender: Sender,
        wanted: i64,
        above: i64,
        changes: impl FnOnce(i64) -> Vec<Change>,
    ) -> Result<(), EditRefusal> {
        let is_free = (0..MAX_WANTED).contains(&wanted) && !self.stories.groups.contains_key(&wanted);
        let number = if is_free { wanted } else { self.stories.free_number().max(above) };
        let mut expansion = Expansion::new(Group::default(), number, sender.pass, &number.to_string());
        changes(number).into_iter().for_each(|change| expansion.set(change));
        let (story, steps) = (expansion.story.clone(), expansion.into_steps());
        let deed = Some(Deed { direction: None, made: Made::Import { story: story.clone() } });
        self.commit(Planned { sender, number, story, steps, deed, undoes: None, redoes: None })?;
        Ok(())
    }

    /// Checks who sends an edit. What became of it, if it was sent before.
    pub(super) fn check(&self, sender: Sender, base: u64) -> Result<Option<Edited>, EditRefusal> {
        sender.check()?;
        let seen = sender.seen.map_or(base, |seen| seen.max(base));
        if seen > self.revision() {
            return Err(EditProblem::PageIsAhead { seen, revision: self.revision() }.into());
        }
        let sent = self.history.sent(sender.window, sender.n).and_then(|revision| self.history.edit(revision));
        Ok(sent.map(|Edit { entry, .. }| Edited {
            revision: entry.revision,
            story: entry.story.clone(),
            repeated: true,
        }))
    }

    /// Writes an edit into the journal, then makes it. An undo is written even if nothing of it is left to do: the next
    /// one then takes the edit before it.
    pub(super) fn commit(&mut self, planned: Planned) -> Result<Edited, EditRefusal> {
        let Planned { sender, number, story, steps, deed, undoes, redoes } = planned;
        if steps.is_empty() && undoes.is_none() && redoes.is_none() {
            return Ok(Edited { revision: self.revision(), story, repeated: false });
        }
        let mut group = self.stories.group(number);
        let changes: Vec<Change> = steps.into_iter().map(|step| step.change).collect();
        changes.iter().for_each(|change| drop(group.apply(sender.pass, change)));
        let entry = EditEntry {
            revision: self.revision() + 1,
            at: now(),
            who: sender.who.to_owned(),
            window: sender.window.to_owned(),
            n: sender.n,
            pass: sender.pass.to_owned(),
            group: number,
            story: story.clone(),
            what: deed.unwrap_or_else(|| describe_all(&changes, &group, &story)).english(),
            undoes,
            redoes,
            changes,
        };
        self.journal.append(&entry)?;
        self.make(entry);
        Ok(Edited { revision: self.revision(), story, repeated: false })
    }
}

fn now() -> String {
    OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default()
}
