//! The edits so far: who set a field last, and what each annotator can undo.

use super::change::{Change, Field};
use super::journal::EditEntry;
use super::message::Deed;
use super::op::Direction;
use std::collections::HashMap;

/// An edit with what it takes to undo it.
#[derive(Debug)]
pub(super) struct Edit {
    pub entry: EditEntry,
    /// The changes that take the edit's changes back, one by one.
    pub before: Vec<Change>,
    /// What it did, for those who see it.
    pub deed: Deed,
}

/// A field of a group; of an answer also the pass.
pub(super) type FieldPlace = (i64, String, Field);

/// All edits, in their order.
#[derive(Default)]
pub(super) struct History {
    pub edits: Vec<Edit>,
    /// The revision in which a field was set last.
    touched: HashMap<FieldPlace, u64>,
    /// By annotator and pass.
    stacks: HashMap<(String, String), Stacks>,
    /// The revision of the last edit of each group.
    groups: HashMap<i64, u64>,
    /// The revision of an edit by its window and its number there.
    sent: HashMap<(String, u64), u64>,
}

/// Revisions of edits, the last of which is undone or redone next.
#[derive(Default)]
struct Stacks {
    undo: Vec<u64>,
    redo: Vec<u64>,
}

pub(super) fn place(group: i64, pass: &str, change: &Change) -> FieldPlace {
    let (pass, change) = change.within(pass);
    let pass = if change.is_answer() { pass } else { "" };
    (group, pass.to_owned(), change.field())
}

impl History {
    /// The number of edits, which is the revision of the last one.
    pub fn revision(&self) -> u64 {
        self.edits.len() as u64
    }

    /// The edit of this revision.
    pub fn edit(&self, revision: u64) -> Option<&Edit> {
        self.edits.get(usize::try_from(revision).ok()?.checked_sub(1)?)
    }

    /// The revision of an edit that was sent before.
    pub fn sent(&self, window: &str, n: u64) -> Option<u64> {
        self.sent.get(&(window.to_owned(), n)).copied()
    }

    /// The last edit of a field, if there is one.
    pub fn last(&self, group: i64, pass: &str, change: &Change) -> Option<&Edit> {
        self.edit(*self.touched.get(&place(group, pass, change))?)
    }

    /// The fields of a group that others than `who`, or they in another pass, set since the first revision, answers of
    /// another pass since the second one; with the last edit that did. An answer that moved with its sentence is still that
    /// of its pass.
    pub fn by_others(
        &self,
        group: i64,
        (who, pass): (&str, &str),
        [since, answers_since]: [u64; 2],
    ) -> HashMap<FieldPlace, &EditEntry> {
        let entries = self.edits.iter().map(|edit| &edit.entry);
        let others = entries.filter(|entry| entry.group == group && (entry.who != who || entry.pass != pass));
        let set = others.flat_map(|entry| entry.changes.iter().map(move |change| (change, entry)));
        let own = set.filter(|(change, _)| !matches!(change, Change::InPass { .. }));
        let unseen = own.filter(|(change, entry)| {
            let is_hidden = entry.pass != pass && change.is_answer();
            entry.revision > if is_hidden { answers_since } else { since }
        });
        unseen.map(|(change, entry)| (place(group, &entry.pass, change), entry)).collect()
    }

    /// The revision in which the edit of this revision was undone last; that one if it was not.
    pub fn undone(&self, revision: u64) -> u64 {
        let undo = self.edits.iter().rev().find(|edit| edit.entry.undoes == Some(revision));
        undo.map_or(revision, |undo| undo.entry.revision)
    }

    /// The revision of the last edit of a group; 0 if there is none.
    pub fn last_of(&self, group: i64) -> u64 {
        self.groups.get(&group).copied().unwrap_or_default()
    }

    /// The edit that `who` would undo or redo next in a pass.
    pub fn next(&self, who: &str, pass: &str, direction: Direction) -> Option<&Edit> {
        let stacks = self.stacks.get(&(who.to_owned(), pass.to_owned()))?;
        let stack = if direction == Direction::Undo { &stacks.undo } else { &stacks.redo };
        self.edit(*stack.last()?)
    }

    /// Adds an edit that was made.
    pub fn push(&mut self, edit: Edit) {
        let EditEntry { revision, who, window, n, pass, group, undoes, redoes, changes, .. } = &edit.entry;
        // Who moves the answers of another pass with a sentence gives no answer there.
        for change in changes.iter().filter(|change| !matches!(change, Change::InPass { .. })) {
            self.touched.insert(place(*group, pass, change), *revision);
        }
        self.groups.insert(*group, *revision);
        self.sent.insert((window.clone(), *n), *revision);
        let Stacks { undo, redo } = self.stacks.entry((who.clone(), pass.clone())).or_default();
        match (undoes, redoes) {
            (Some(_), _) => redo.extend(undo.pop()),
            (None, Some(_)) => undo.extend(redo.pop()),
            (None, None) => {
                undo.push(*revision);
                redo.clear();
            }
        }
        self.edits.push(edit);
    }
}
