//! The rules of `tiered data check`, on a group as it is.

use super::found::Hint;
use crate::annotate::group::{Draft, Group};
use crate::annotate::message::{HintText, InWords, position};
use crate::annotate::record::{StoryFormat, record};
use crate::data::{Code, Finding, read_bytes};
use crate::language::Language;
use crate::say::aside;
use serde_json::{Map, Value, json};

/// Findings that only say that the annotator has not come to it yet.
const UNFINISHED: [Code; 5] =
    [Code::NoStateLabels, Code::UnannotatedSentence, Code::NoEntities, Code::NoSentences, Code::NoPlausibleStory];

/// What `tiered data check` finds in the stories of a group that are wanted.
pub(super) fn findings(
    group: &Group,
    number: i64,
    pass: &str,
    is_wanted: impl Fn(&str, &Draft) -> bool,
) -> Vec<Finding> {
    let story = |(key, draft): (&str, &Draft)| {
        let story = serde_json::to_value(record(group, number, key, draft, pass, StoryFormat::Trip));
        story.ok().map(|story| (key.to_owned(), story))
    };
    let wanted = group.present().filter(|(key, draft)| is_wanted(key, draft));
    let stories: Map<String, Value> = wanted.filter_map(story).collect();
    let file = json!({"test": stories}).to_string();
    let read = read_bytes("the project".as_ref(), file.as_bytes());
    read.map_or_else(
        |error| {
            aside!("warning: group {number} has no hints: {error}");
            Vec::new()
        },
        |file| file.findings,
    )
}

/// What was found in a story.
pub(super) fn hints(key: &str, draft: &Draft, findings: &[Finding], language: Language) -> Vec<Hint> {
    let is_of_story = |finding: &&Finding| finding.story == key && !UNFINISHED.contains(&finding.code);
    let hint = |finding: &Finding| Hint {
        code: finding.code.name(),
        sentences: position(&finding.field).and_then(|n| draft.sentences.get(n)).copied().into_iter().collect(),
        message: HintText::Found(finding).words(language),
        entity: None,
        attribute: None,
    };
    findings.iter().filter(is_of_story).map(hint).collect()
}
