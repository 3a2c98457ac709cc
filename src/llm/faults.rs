//! Contradictions in a story file that are survived and reported.

use super::options::{STATES, pair_answer, sentence_pairs};
use super::story::{AskedStory, GoldStates, StoryKind};
use crate::say::counted;
use crate::untrusted::shown;
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
    faults.extend(impossible_answers(story));
    faults
}

/// Answers that are none of the options, so that no model can be right.
fn impossible_answers(story: &AskedStory) -> Vec<String> {
    let mut faults = Vec::new();
    if story.plausible {
        return faults;
    }
    let sentences = story.sentences.len();
    if let Some(conflict) = story.conflict.filter(|conflict| !sentence_pairs(sentences).contains(conflict)) {
        let (answer, sentences) = (pair_answer(conflict), counted(sentences as u64, "sentence"));
        faults.push(format!(
            "its conflict {answer:?} (`confl_sents` and `breakpoint`, from 0) is no pair of its {sentences}; no answer \
             of tier 2 is right"
        ));
    }
    if let GoldStates::Named(state) = &story.states
        && !STATES.contains(&state.as_str())
    {
        let state = shown(state, 40);
        faults.push(format!("its `states` {state:?} is no option; no answer of tier 3 is right"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_that_are_no_options_are_told() {
        let told = |breakpoint: i64, state: &str, plausible: bool| {
            let doc = json!({
                "story_id": 3, "example_id": "3-C0", "type": "cloze", "sentences": ["a", "b", "c"],
                "plausible": plausible, "breakpoint": breakpoint, "confl_sents": [1], "states": state,
            });
            faults(&[AskedStory::from_doc(7, &doc).unwrap()])
        };
        assert!(told(2, "open", false).is_empty());
        let both = told(77, "magic", false);
        assert_eq!(both.len(), 2, "{both:?}");
        assert!(both[0].starts_with("row 7 (3-C0): its conflict \"1 and 77\"") && both[0].contains("3 sentences"));
        assert!(both[1].contains("\"magic\" is no option"), "{both:?}");
        assert_eq!(told(1, "open", false).len(), 1, "a sentence is in no conflict with itself");
        assert!(!told(77, "magic", true).join("").contains("is right"), "tiers 2 and 3 don't ask about plausible ones");
    }
}
