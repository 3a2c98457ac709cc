//! What a change of the text would take away of what can be seen of a group: labels of an entity that goes, a version
//! whose plausible story goes.

use super::change::{Change, EntityId, SentenceId};
use super::group::{Answers, Group};
use super::history::{FieldPlace, place};
use crate::attribute::Attribute;
use std::collections::HashSet;

/// A field that has a value, with the pass if it is an answer.
pub(super) struct VisibleField {
    pub pass: String,
    pub change: Change,
}

impl VisibleField {
    pub fn place(&self, number: i64) -> FieldPlace {
        place(number, &self.pass, &self.change)
    }
}

/// What can be seen before and not after.
pub(super) fn lost(number: i64, before: &Group, after: &Group) -> Vec<VisibleField> {
    let stays: HashSet<FieldPlace> = seen(after).iter().map(|seen| seen.place(number)).collect();
    let mut lost = seen(before);
    lost.retain(|seen| !stays.contains(&seen.place(number)));
    lost
}

/// All that can be seen of a group.
fn seen(group: &Group) -> Vec<VisibleField> {
    if group.present().next().is_none() {
        return Vec::new();
    }
    let shared = texts(group).into_iter().map(|change| VisibleField { pass: String::new(), change });
    let answers = group.answers.iter().flat_map(|(pass, answers)| {
        answered(group, answers).into_iter().map(|change| VisibleField { pass: pass.clone(), change })
    });
    shared.chain(answers).collect()
}

/// What all passes share.
fn texts(group: &Group) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut sentences, mut entities) = (HashSet::new(), HashSet::new());
    for (key, draft) in group.present() {
        let story = key.to_owned();
        changes.push(Change::Story { story: story.clone(), kind: draft.kind, exists: true });
        changes.push(Change::Order { story: story.clone(), sentences: draft.sentences.clone() });
        for (entity, _) in group.entities_of(draft) {
            changes.push(Change::Member { story: story.clone(), entity, is: true });
            entities.insert(entity);
        }
        sentences.extend(&draft.sentences);
    }
    let text = |sentence: SentenceId| Change::Text { sentence, text: Some(group.text(sentence).to_owned()) };
    changes.extend(sentences.into_iter().map(text));
    let is = |&entity: &EntityId| Change::Entity { entity, is: group.entity(entity).cloned() };
    changes.extend(entities.iter().map(is));
    let actor = group.actor.filter(|actor| entities.contains(actor));
    changes.extend(actor.map(|actor| Change::Actor { entity: Some(actor) }));
    let location = Some(group.location.clone()).filter(|location| !location.is_empty());
    changes.extend(location.map(|text| Change::Location { text }));
    changes
}

fn answered(group: &Group, answers: &Answers) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut cells = HashSet::new();
    for (key, draft) in group.present() {
        let story = key.to_owned();
        let marked = answers.conflicts.get(key).copied();
        let marked =
            marked.filter(|marked| [marked.evidence, marked.breakpoint].iter().all(|id| draft.sentences.contains(id)));
        changes.extend(marked.map(|marked| Change::Conflict { story: story.clone(), conflict: Some(marked) }));
        if answers.done.contains(key) {
            changes.push(Change::Done { story, done: true });
        }
        for (entity, _) in group.entities_of(draft) {
            cells.extend(draft.sentences.iter().map(|&sentence| (entity, sentence)));
        }
    }
    for (&(entity, sentence), labels) in answers.labels.iter().filter(|(cell, _)| cells.contains(cell)) {
        for attribute in Attribute::ALL {
            if let label @ Some(_) = labels[attribute.index()] {
                changes.push(Change::Label { entity, sentence, attribute, label });
            }
        }
    }
    changes
}
