//! Hints about a story that is being annotated. They never keep anybody from anything.

mod found;
mod physics;
mod rules;

pub use found::Hint;

use super::group::{Draft, Group};
use super::mention::Mentions;
use super::record::conflict;
use crate::attribute::Attribute;
use crate::data::Finding;
use crate::report::words::noun;
use physics::Contradiction;

/// The hints about a story, in a pass: by the labels, then by the rules of `tiered data check`.
pub(super) fn hints(group: &Group, number: i64, key: &str, pass: &str) -> Vec<Hint> {
    let Some(draft) = group.story(key) else { return Vec::new() };
    // A version is compared with its plausible story.
    let findings = rules::findings(group, number, pass, |other, draft| other == key || draft.kind.is_none());
    all(group, key, draft, pass, &findings)
}

/// The number of hints about each story of a group.
pub(super) fn count_hints(group: &Group, number: i64, pass: &str) -> Vec<usize> {
    let findings = rules::findings(group, number, pass, |_, _| true);
    group.present().map(|(key, draft)| all(group, key, draft, pass, &findings).len()).collect()
}

fn all(group: &Group, key: &str, draft: &Draft, pass: &str, findings: &[Finding]) -> Vec<Hint> {
    let mut hints = of_labels(group, draft, key, pass);
    hints.extend(unlabelled(group, draft, key, pass));
    hints.extend(of_wrong_kind(group, draft, pass));
    hints.extend(rules::hints(key, draft, findings));
    hints
}

/// Whether the labels show the conflict that is marked, and no other one.
fn of_labels(group: &Group, draft: &Draft, key: &str, pass: &str) -> Vec<Hint> {
    let contradictions = physics::contradictions(group, draft, pass);
    let marked = conflict(draft, group.answers(pass), key).filter(|_| draft.kind.is_some());
    let is_marked = |found: &Contradiction| marked == Some((found.evidence, found.breakpoint));
    let (code, remedy) = match (draft.kind, marked) {
        (None, _) => ("contradiction", "the story is plausible, so one of the labels may be wrong"),
        (Some(_), None) => ("unmarked-conflict", "mark this conflict, or correct a label"),
        (Some(_), Some(_)) => ("second-conflict", "another conflict is marked; a story has one"),
    };
    let hint = |found: &Contradiction| Hint {
        code,
        message: format!("{}; {remedy}", found.words(group)),
        sentences: vec![draft.sentences[found.evidence], draft.sentences[found.breakpoint]],
        entity: Some(found.entity),
        attribute: Some(found.attribute),
    };
    let mut hints: Vec<Hint> = contradictions.iter().filter(|found| !is_marked(found)).map(hint).collect();
    if let Some((evidence, breakpoint)) = marked
        && evidence < breakpoint
        && !contradictions.iter().any(is_marked)
    {
        let (first, second) = (evidence + 1, breakpoint + 1);
        let problem = format!("no label shows the conflict between sentences {first} and {second}");
        let remedy = format!("label what sentence {first} leaves and sentence {second} must not find");
        hints.push(Hint {
            code: "conflict-not-shown",
            message: format!("{problem}; {remedy}"),
            sentences: vec![draft.sentences[evidence], draft.sentences[breakpoint]],
            entity: None,
            attribute: None,
        });
    }
    hints
}

/// What a finished story names and does not label.
fn unlabelled(group: &Group, draft: &Draft, key: &str, pass: &str) -> Vec<Hint> {
    let answers = group.answers(pass);
    if !answers.done.contains(key) {
        return Vec::new();
    }
    let mentions = Mentions::of(group, draft);
    let mut hints = Vec::new();
    for (position, &sentence) in draft.sentences.iter().enumerate() {
        for (entity, is) in group.entities_of(draft) {
            if !answers.is_annotated(entity, sentence) && mentions.contains(position, entity) {
                let name = noun(&is.name, crate::language::Language::English);
                hints.push(Hint {
                    code: "not-labelled",
                    message: format!("the story is done, but {name} has no label in sentence {}", position + 1),
                    sentences: vec![sentence],
                    entity: Some(entity),
                    attribute: None,
                });
            }
        }
    }
    hints
}

/// Labels of people's attributes for things, and the reverse.
fn of_wrong_kind(group: &Group, draft: &Draft, pass: &str) -> Vec<Hint> {
    let mut hints = Vec::new();
    for (&(entity, sentence), labels) in &group.answers(pass).labels {
        let Some(is) = group.entity(entity).filter(|_| draft.entities.contains(&entity)) else { continue };
        let wrong = |attribute: &Attribute| attribute.is_human() != is.person && labels[attribute.index()].is_some();
        if let (Some(attribute), true) = (Attribute::ALL.into_iter().find(wrong), draft.sentences.contains(&sentence)) {
            let (of, kind) = if is.person { ("things", "person") } else { ("people", "thing") };
            hints.push(Hint {
                code: "wrong-kind",
                message: format!("{attribute} is an attribute of {of}, but {:?} is a {kind}", is.name),
                sentences: vec![sentence],
                entity: Some(entity),
                attribute: Some(attribute),
            });
        }
    }
    hints
}
