//! Edits of a project: checked, written into the journal, made, undone and redone.

use super::change::{Change, EntityText};
use super::describe::{describe, describe_all};
use super::expand::{EditStep, Expansion};
use super::group::Group;
use super::history::{Direction, Edit};
use super::journal::EditEntry;
use super::merge::merged;
use super::op::Op;
use super::project::Project;
use super::refusal::{Clash, EditRefusal, value};
use super::sender::{Edited, OnClash, Sender};
use std::collections::BTreeSet;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A group of a story file keeps its number below this.
pub(super) const MAX_WANTED: i64 = 1 << 30;

/// What is about to be done.
struct Planned<'a> {
    sender: Sender<'a>,
    number: i64,
    story: String,
    steps: Vec<EditStep>,
    what: Option<String>,
    undoes: Option<u64>,
    redoes: Option<u64>,
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
        let steps = self.without_clashes(sender, number, &story, steps, |project, step| {
            let last = project.history.last(number, sender.pass, &step.change);
            !step.merges && last.is_some_and(|last| last.entry.revision > base && last.entry.window != sender.window)
        })?;
        self.commit(Planned { sender, number, story, steps, what: None, undoes: None, redoes: None })
    }

    /// Undoes the last edit of the annotator in this pass, or redoes the one that was undone last.
    ///
    /// # Errors
    /// `Gone` if there is none; a clash if somebody changed the same since.
    pub fn go(&mut self, sender: Sender, direction: Direction) -> Result<Edited, EditRefusal> {
        if let Some(done) = self.check(sender, 0)? {
            return Ok(done);
        }
        let gone = || EditRefusal::Gone(format!("{} has nothing to {} here", sender.who, direction.name()));
        let edit = self.history.next(sender.who, sender.pass, direction).ok_or_else(gone)?;
        let EditEntry { revision, group: number, story, changes, what, .. } = &edit.entry;
        let (revision, number, story) = (*revision, *number, story.clone());
        let what = format!("{}: {what}", direction.name());
        let group = &self.stories.groups[&number];
        let pairs = changes.iter().zip(&edit.before);
        let steps = pairs.map(|(after, before)| match direction {
            Direction::Undo => step_between(group, sender.pass, after, before),
            Direction::Redo => step_between(group, sender.pass, before, after),
        });
        let steps = steps.filter(|step| step.change != step.before).collect();
        let steps = self.without_clashes(sender, number, &story, steps, |_, step| !step.merges)?;
        require_names(self.stories.group(number), sender.pass, &steps)?;
        let (undoes, redoes) =
            if direction == Direction::Undo { (Some(revision), None) } else { (None, Some(revision)) };
        self.commit(Planned { sender, number, story, steps, what: Some(what), undoes, redoes })
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
        let what = Some(format!("import of story {number}"));
        self.commit(Planned { sender, number, story, steps, what, undoes: None, redoes: None })?;
        Ok(())
    }

    /// Checks who sends an edit. What became of it, if it was sent before.
    fn check(&self, sender: Sender, base: u64) -> Result<Option<Edited>, EditRefusal> {
        sender.check()?;
        if base > self.revision() {
            let message = format!("the page has seen revision {base}, but the project has {}", self.revision());
            return Err(EditRefusal::data(message + "; load the page again"));
        }
        let sent = self.history.sent(sender.window, sender.n).and_then(|revision| self.history.edit(revision));
        Ok(sent.map(|Edit { entry, .. }| Edited {
            revision: entry.revision,
            story: entry.story.clone(),
            repeated: true,
        }))
    }

    /// The steps, without those that clash if the others' values are to be kept.
    fn without_clashes(
        &self,
        sender: Sender,
        number: i64,
        story: &str,
        steps: Vec<EditStep>,
        is_others: impl Fn(&Self, &EditStep) -> bool,
    ) -> Result<Vec<EditStep>, EditRefusal> {
        let (clashing, rest): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| is_others(self, step));
        match sender.on_clash {
            _ if clashing.is_empty() => Ok(rest),
            OnClash::Override => Ok(clashing.into_iter().chain(rest).collect()),
            OnClash::Keep => Ok(rest),
            OnClash::Tell => {
                Err(EditRefusal::Clash(clashing.iter().map(|step| self.clash(sender, number, story, step)).collect()))
            }
        }
    }

    fn clash(&self, sender: Sender, number: i64, story: &str, step: &EditStep) -> Clash {
        let (entity, sentence, attribute) = match &step.change {
            Change::Label { entity, sentence, attribute, .. } => (Some(*entity), Some(*sentence), Some(*attribute)),
            Change::Text { sentence, .. } => (None, Some(*sentence), None),
            Change::Entity { entity, .. } | Change::Member { entity, .. } => (Some(*entity), None, None),
            _ => (None, None, None),
        };
        let last = self.history.last(number, sender.pass, &step.change).map(|edit| &edit.entry);
        Clash {
            what: describe(&step.change, &self.stories.groups[&number], story),
            entity,
            sentence,
            attribute,
            yours: value(&step.change),
            theirs: value(&step.before),
            who: last.map_or_else(String::new, |last| last.who.clone()),
            at: last.map_or_else(String::new, |last| last.at.clone()),
        }
    }

    /// Writes an edit into the journal, then makes it. An undo is written even if nothing of it is left to do: the next
    /// one then takes the edit before it.
    fn commit(&mut self, planned: Planned) -> Result<Edited, EditRefusal> {
        let Planned { sender, number, story, steps, what, undoes, redoes } = planned;
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
            what: what.unwrap_or_else(|| describe_all(&changes, &group, &story)),
            undoes,
            redoes,
            changes,
        };
        self.journal.append(&entry)?;
        self.make(entry);
        Ok(Edited { revision: self.revision(), story, repeated: false })
    }
}

/// # Errors
/// `Data` if two entities would have one name: another one may have got it since.
fn require_names(mut group: Group, pass: &str, steps: &[EditStep]) -> Result<(), EditRefusal> {
    steps.iter().for_each(|step| drop(group.apply(pass, &step.change)));
    let mut names = BTreeSet::new();
    match group.entities.values().flatten().find(|entity| !names.insert(&entity.name)) {
        Some(EntityText { name, .. }) => Err(EditRefusal::data(format!(
            "another entity of these stories is named {name:?} by now; rename that one first"
        ))),
        None => Ok(()),
    }
}

/// Sets a field back from `from` to `to`. It merges if nobody set the field since, or if the sentences of a story can be
/// merged; otherwise it clashes.
fn step_between(group: &Group, pass: &str, from: &Change, to: &Change) -> EditStep {
    let before = group.current(pass, to);
    let merged = match (from, to, &before) {
        _ if before == *from || before == *to => Some(to.clone()),
        (
            Change::Order { sentences: from, .. },
            Change::Order { story, sentences: to },
            Change::Order { sentences, .. },
        ) => merged(from, to, sentences).map(|sentences| Change::Order { story: story.clone(), sentences }),
        _ => None,
    };
    EditStep { merges: merged.is_some(), change: merged.unwrap_or_else(|| to.clone()), before }
}

fn now() -> String {
    OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default()
}
