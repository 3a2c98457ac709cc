//! Contradictions in a story file that are survived and reported.

use super::story::{AskedStory, StoryKind};
use std::collections::BTreeMap;

/// One line for each contradiction, with the row that names the story.
pub fn faults(stories: &[AskedStory]) -> Vec<String> {
    let mut faults = repeated(stories);
    for story in stories {
        faults.extend(of_story(story).into_iter().map(|fault| format!("{}: {fault}", story.name())));
    }
    faults
}

fn repeated(stories: &[AskedStory]) -> Vec<String> {
    let mut rows: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for story in stories {
        rows.entry(&story.id).or_default().push(story.row.to_string());
    }
    let repeated = rows.into_iter().filter(|(_, rows)| rows.len() > 1);
    repeated
        .map(|(id, rows)| format!("rows {}: the same `example_id` {id:?}; the row names a story", rows.join(" and ")))
        .collect()
}

fn of_story(story: &AskedStory) -> Vec<String> {
    let mut faults = Vec::new();
    let of_type = StoryKind::of_made(story.made);
    if story.kind != of_type {
        faults.push(format!("its name says {}, its type {}; its name counts", story.kind.name(), of_type.name()));
    }
    if story.plausible != (story.kind == StoryKind::Plausible) {
        let marked = if story.plausible { "plausible" } else { "implausible" };
        let name = story.kind.name();
        faults.push(format!("is marked {marked}, though its name says {name}; the mark is the right answer"));
    }
    let number = story.id.split(['-', '#']).next().and_then(|number| number.parse::<i64>().ok());
    if number.is_some_and(|number| number != story.group) {
        faults.push(format!("has `story_id` {}; its name is not used as a number", story.group));
    }
    if story.sentences.iter().any(|sentence| sentence.trim() != sentence) {
        faults.push("a sentence begins or ends in white space, which is kept".to_owned());
    }
    if !story.plausible && story.conflict.is_none() {
        faults.push("is implausible, but names no conflict; it can't be asked about in tier 2".to_owned());
    }
    faults
}
