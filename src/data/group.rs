//! Groups: the stories of a split with the same `story_id`. One of them is plausible.

use super::check::{Code, Notes};
use super::story::{Kind, Story};
use std::collections::HashMap;

/// The first plausible story of every group.
pub(super) fn plausible_by_group(stories: &[Story]) -> HashMap<i64, &Story> {
    let mut groups = HashMap::new();
    for story in stories.iter().filter(|story| story.conflict.is_none()) {
        groups.entry(story.group).or_insert(story);
    }
    groups
}

/// Checks what only the other stories of a split can tell: kinds that neither key nor `type` gives, implausible stories
/// without a plausible one, and second plausible stories. Leaves out stories of unknown kind and stories for whose
/// pairs there is no memory.
pub(super) fn settle(mut stories: Vec<Story>, notes: &mut Notes) -> Vec<Story> {
    let kinds: Vec<_> = kinds(&stories, notes);
    for (story, kind) in stories.iter_mut().zip(kinds) {
        story.kind = kind;
    }
    stories.retain(|story| story.conflict.is_some() == story.kind.is_some());
    stories
}

/// The kind of every story; `None` for plausible stories and, after an error finding, for those of unknown kind.
fn kinds(stories: &[Story], notes: &mut Notes) -> Vec<Option<Kind>> {
    let plausible = plausible_by_group(stories);
    let mut kinds = Vec::new();
    for story in stories {
        notes.story.clone_from(&story.id);
        let counterpart = plausible.get(&story.group).copied();
        kinds.push(match story.conflict {
            Some(_) => implausible_kind(story, counterpart, notes),
            None => {
                note_second(story, counterpart, notes);
                None
            }
        });
    }
    notes.story.clear();
    kinds
}

fn implausible_kind(story: &Story, plausible: Option<&Story>, notes: &mut Notes) -> Option<Kind> {
    let Some(plausible) = plausible else {
        let message = format!(
            "no plausible story in this split has story_id {}, so no pair contains this story; add the plausible story",
            story.group
        );
        notes.add(Code::NoPlausibleStory, "story_id", message);
        return story.kind;
    };
    if !notes.take_memory(story.memory() + plausible.memory()) {
        return None;
    }
    if story.sentences == plausible.sentences {
        let message =
            format!("are the same as those of the plausible story {:?}; nothing distinguishes the two", plausible.id);
        notes.add(Code::SameSentences, "sentences", message);
    }
    story.kind.or_else(|| {
        let kind = if have_same_sentences(story, plausible) { Kind::Order } else { Kind::Cloze };
        let message =
            format!("the kind is read as {kind}: the sentences were compared with those of {:?}", plausible.id);
        notes.add(Code::InferredKind, "type", message);
        Some(kind)
    })
}

/// Whether two stories have the same sentences, in any order.
fn have_same_sentences(a: &Story, b: &Story) -> bool {
    fn sorted(story: &Story) -> Vec<&String> {
        let mut sentences: Vec<_> = story.sentences.iter().collect();
        sentences.sort_unstable();
        sentences
    }
    sorted(a) == sorted(b)
}

fn note_second(story: &Story, first: Option<&Story>, notes: &mut Notes) {
    if let Some(first) = first.filter(|first| first.id != story.id) {
        let message = format!("pairs of story_id {} use the first plausible story, {:?}", story.group, first.id);
        notes.add(Code::SecondPlausibleStory, "story_id", message);
    }
}
