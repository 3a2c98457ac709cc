//! What clashes with what others did, and what an edit would take away of it.

use super::change::Change;
use super::describe::describe;
use super::expand::EditStep;
use super::history::{FieldPlace, place};
use super::journal::EditEntry;
use super::lost::{VisibleField, lost};
use super::project::Project;
use super::refusal::{Clash, EditRefusal, value};
use super::sender::{OnClash, Sender};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is about to be done, undone or redone.
pub(super) struct Intent<'a> {
    pub sender: Sender<'a>,
    pub number: i64,
    pub story: &'a str,
    /// The revision since which others may have built on it.
    pub since: u64,
    /// What the annotator left.
    pub from: &'a [Change],
}

impl Project {
    /// The steps that are made, as the annotator wants it if they clash with what others did.
    ///
    /// # Errors
    /// A clash, if it is to be told.
    pub(super) fn settled(
        &self,
        intent: &Intent,
        steps: Vec<EditStep>,
        clashes: impl Fn(&EditStep) -> bool,
    ) -> Result<Vec<EditStep>, EditRefusal> {
        let Intent { sender, number, story, .. } = *intent;
        let group = self.stories.group(number);
        let namesake = |step: &EditStep| group.namesake(&step.change);
        let is_new = |step: &EditStep| {
            let last = self.history.last(number, sender.pass, namesake(step).as_ref().unwrap_or(&step.change));
            last.is_none_or(|last| sender.seen.is_none_or(|seen| last.entry.revision > seen))
        };
        // Two entities can't have one name, whatever was seen.
        let is_kept = |step: &EditStep| sender.on_clash == OnClash::Keep && namesake(step).is_some();
        let clashes = |step: &EditStep| clashes(step) && (is_new(step) || is_kept(step));
        match sender.on_clash {
            OnClash::Override if sender.seen.is_none() => Ok(steps),
            OnClash::Keep => {
                let rest: Vec<_> = steps.into_iter().filter(|step| !clashes(step)).collect();
                // What others built on stays as a whole: a part of it would be nothing to build on.
                Ok(if self.built_on(intent, &rest, &[]).is_empty() { rest } else { Vec::new() })
            }
            OnClash::Override | OnClash::Tell => {
                let clashing: Vec<&EditStep> = steps.iter().filter(|step| clashes(step)).collect();
                let mut told: Vec<Clash> =
                    clashing.iter().map(|step| self.clash(sender.pass, number, story, step)).collect();
                told.extend(self.built_on(intent, &steps, &clashing));
                if told.is_empty() {
                    Ok(steps)
                } else {
                    Err(EditRefusal::Clash { clashes: told, story: story.to_owned(), revision: self.revision() })
                }
            }
        }
    }

    /// What others did since, and what could not be seen any more after the steps, besides what `told` tells. In another
    /// pass the annotator has seen nothing of what they did, but for what was told.
    fn built_on(&self, intent: &Intent, steps: &[EditStep], told: &[&EditStep]) -> Vec<Clash> {
        let Intent { sender, number, story, since, from } = *intent;
        let seen = sender.seen.unwrap_or_default();
        let others = self.history.by_others(number, (sender.who, sender.pass), [since.max(seen), seen]);
        let Some(before) = self.stories.groups.get(&number).filter(|_| !others.is_empty()) else { return Vec::new() };
        let mut after = self.stories.group(number);
        steps.iter().for_each(|step| drop(after.apply(sender.pass, &step.change)));
        let own_place = |change: &Change| place(number, sender.pass, change);
        let as_left: HashMap<FieldPlace, &Change> =
            from.iter().map(|change| (own_place(change), change.within(sender.pass).1)).collect();
        let told: HashSet<FieldPlace> = told.iter().map(|step| own_place(&step.change)).collect();
        let (mut clashes, mut hidden) = (Vec::new(), BTreeMap::new());
        for seen in lost(number, before, &after) {
            let place = seen.place(number);
            let VisibleField { pass, change } = seen;
            let Some(&entry) = others.get(&place) else { continue };
            if told.contains(&place) || as_left.get(&place) == Some(&&change) || follows(&change, entry) {
                continue;
            }
            if change.is_answer() && pass != sender.pass {
                let answer = Box::new(change);
                hidden.insert((pass.clone(), &entry.who), (Change::InPass { pass, answer }, entry));
            } else {
                clashes.push(self.lost_clash(number, story, &change, entry));
            }
        }
        clashes.extend(hidden.into_values().map(|(change, entry)| self.lost_clash(number, story, &change, entry)));
        clashes
    }

    fn lost_clash(&self, number: i64, story: &str, change: &Change, entry: &EditEntry) -> Clash {
        self.told(number, story, change, [Value::Null, value(change)], Some(entry))
    }

    /// A step that sets what somebody else set, or gives an entity the name that another one has got.
    fn clash(&self, pass: &str, number: i64, story: &str, step: &EditStep) -> Clash {
        let EditStep { change, before, .. } = step;
        let namesake = self.stories.groups[&number].namesake(change);
        let last = self.history.last(number, pass, namesake.as_ref().unwrap_or(change)).map(|edit| &edit.entry);
        let theirs = namesake.as_ref().filter(|_| matches!(change, Change::Entity { .. })).unwrap_or(before);
        self.told(number, story, change, [value(change), value(theirs)], last)
    }

    /// A field in words, with the values of two annotators. The second one's is of `last`.
    fn told(
        &self,
        number: i64,
        story: &str,
        change: &Change,
        [yours, theirs]: [Value; 2],
        last: Option<&EditEntry>,
    ) -> Clash {
        let (entity, sentence, attribute) = match change {
            Change::Label { entity, sentence, attribute, .. } => (Some(*entity), Some(*sentence), Some(*attribute)),
            Change::Text { sentence, .. } => (None, Some(*sentence), None),
            Change::Entity { entity, .. } | Change::Member { entity, .. } => (Some(*entity), None, None),
            _ => (None, None, None),
        };
        Clash {
            what: describe(change, &self.stories.groups[&number], story),
            entity,
            sentence,
            attribute,
            yours,
            theirs,
            who: last.map_or_else(String::new, |last| last.who.clone()),
            at: last.map_or_else(String::new, |last| last.at.clone()),
        }
    }
}

/// Whether a version only followed an edit of another story, which has it still.
fn follows(change: &Change, entry: &EditEntry) -> bool {
    matches!(change, Change::Order { story, .. } | Change::Member { story, .. } if *story != entry.story)
}
