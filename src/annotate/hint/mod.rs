//! Hints about a story that is being annotated. They never keep anybody from anything.

mod found;
mod physics;
mod rules;

pub use found::Hint;

use super::group::{Draft, Group};
use super::mention::Mentions;
use super::message::{ContradictionRemedy, HintText, InWords};
use super::record::conflict;
use crate::attribute::Attribute;
use crate::data::Finding;
use crate::language::Language;
use physics::Contradiction;

/// The hints about a story, in a pass: by the labels, then by the rules of `tiered data check`.
pub(super) fn hints(group: &Group, number: i64, key: &str, pass: &str, language: Language) -> Vec<Hint> {
    let Some(draft) = group.story(key) else { return Vec::new() };
    // A version is compared with its plausible story.
    let findings = rules::findings(group, number, pass, |other, draft| other == key || draft.kind.is_none());
    all(group, key, draft, &Asked { pass, findings: &findings, language })
}

/// The number of hints about each story of a group.
pub(super) fn count_hints(group: &Group, number: i64, pass: &str) -> Vec<usize> {
    let findings = rules::findings(group, number, pass, |_, _| true);
    let asked = Asked { pass, findings: &findings, language: Language::English };
    group.present().map(|(key, draft)| all(group, key, draft, &asked).len()).collect()
}

/// What hints depend on besides the story.
struct Asked<'a> {
    pass: &'a str,
    findings: &'a [Finding],
    language: Language,
}

fn all(group: &Group, key: &str, draft: &Draft, &Asked { pass, findings, language }: &Asked) -> Vec<Hint> {
    let mut hints = of_labels(group, draft, key, pass, language);
    hints.extend(unlabelled(group, draft, key, pass, language));
    hints.extend(of_wrong_kind(group, draft, pass, language));
    hints.extend(rules::hints(key, draft, findings, language));
    hints
}

/// Whether the labels show the conflict that is marked, and no other one.
fn of_labels(group: &Group, draft: &Draft, key: &str, pass: &str, language: Language) -> Vec<Hint> {
    let contradictions = physics::contradictions(group, draft, pass);
    let marked = conflict(draft, group.answers(pass), key).filter(|_| draft.kind.is_some());
    let is_marked = |found: &Contradiction| marked == Some((found.evidence, found.breakpoint));
    let (code, remedy) = match (draft.kind, marked) {
        (None, _) => ("contradiction", ContradictionRemedy::CorrectLabel),
        (Some(_), None) => ("unmarked-conflict", ContradictionRemedy::MarkConflict),
        (Some(_), Some(_)) => ("second-conflict", ContradictionRemedy::OneConflict),
    };
    let hint = |found: &Contradiction| Hint {
        code,
        message: found.text(group, remedy).words(language),
        sentences: vec![draft.sentences[found.evidence], draft.sentences[found.breakpoint]],
        entity: Some(found.entity),
        attribute: Some(found.attribute),
    };
    let mut hints: Vec<Hint> = contradictions.iter().filter(|found| !is_marked(found)).map(hint).collect();
    if let Some((evidence, breakpoint)) = marked
        && evidence < breakpoint
        && !contradictions.iter().any(is_marked)
    {
        let text = HintText::ConflictNotShown { evidence: evidence + 1, breakpoint: breakpoint + 1 };
        hints.push(Hint {
            code: "conflict-not-shown",
            message: text.words(language),
            sentences: vec![draft.sentences[evidence], draft.sentences[breakpoint]],
            entity: None,
            attribute: None,
        });
    }
    hints
}

/// What a finished story names and does not label.
fn unlabelled(group: &Group, draft: &Draft, key: &str, pass: &str, language: Language) -> Vec<Hint> {
    let answers = group.answers(pass);
    if !answers.done.contains(key) {
        return Vec::new();
    }
    let mentions = Mentions::of(group, draft);
    let mut hints = Vec::new();
    for (position, &sentence) in draft.sentences.iter().enumerate() {
        for (entity, is) in group.entities_of(draft) {
            if !answers.is_annotated(entity, sentence) && mentions.contains(position, entity) {
                hints.push(Hint {
                    code: "not-labelled",
                    message: HintText::NotLabelled { name: &is.name, sentence: position + 1 }.words(language),
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
fn of_wrong_kind(group: &Group, draft: &Draft, pass: &str, language: Language) -> Vec<Hint> {
    let mut hints = Vec::new();
    for (&(entity, sentence), labels) in &group.answers(pass).labels {
        let Some(is) = group.entity(entity).filter(|_| draft.entities.contains(&entity)) else { continue };
        let wrong = |attribute: &Attribute| attribute.is_human() != is.person && labels[attribute.index()].is_some();
        if let (Some(attribute), true) = (Attribute::ALL.into_iter().find(wrong), draft.sentences.contains(&sentence)) {
            let text = HintText::WrongKind { attribute, name: &is.name, person: is.person };
            hints.push(Hint {
                code: "wrong-kind",
                message: text.words(language),
                sentences: vec![sentence],
                entity: Some(entity),
                attribute: Some(attribute),
            });
        }
    }
    hints
}
