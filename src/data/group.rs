//! Groups: the stories of a split with the same `story_id`. One of them is plausible.

use super::check::{Code, Notes};
use super::facts::StoryFacts;
use super::given::Ids;
use super::story::Kind;
use std::collections::HashMap;

/// The first of each group, of (group, plausible story).
pub fn first_by_group<T>(plausible: impl Iterator<Item = (i64, T)>) -> HashMap<i64, T> {
    let mut groups = HashMap::new();
    plausible.for_each(|(group, story)| {
        groups.entry(group).or_insert(story);
    });
    groups
}

/// The kind of every story; `None` for plausible stories and, after an error finding, for those of unknown kind or for
/// whose pairs there is no memory. Notes what only the other stories of a split can tell: kinds that neither key nor
/// `type` gives, implausible stories without a plausible one, and second plausible stories.
pub(super) fn kinds(stories: &[StoryFacts], ids: &Ids, notes: &mut Notes) -> Vec<Option<Kind>> {
    let plausible = stories.iter().enumerate().filter(|(_, story)| !story.is_implausible);
    let plausible = first_by_group(plausible.map(|(number, story)| (story.group, number)));
    let mut kinds = Vec::with_capacity(stories.len());
    for (number, story) in stories.iter().enumerate() {
        notes.story = ids.get(number).to_owned();
        let counterpart = plausible.get(&story.group).map(|&number| (&stories[number], ids.get(number)));
        kinds.push(match story.is_implausible {
            true => implausible_kind(story, counterpart, notes),
            false => {
                note_second(story, counterpart.map(|(_, id)| id), notes);
                None
            }
        });
    }
    notes.story.clear();
    kinds
}

fn implausible_kind(story: &StoryFacts, plausible: Option<(&StoryFacts, &str)>, notes: &mut Notes) -> Option<Kind> {
    let Some((plausible, id)) = plausible else {
        let message = format!(
            "no plausible story in this split has story_id {}, so no pair contains this story; add the plausible story",
            story.group
        );
        notes.add(Code::NoPlausibleStory, "story_id", message);
        return story.kind;
    };
    if !notes.take_memory(story.memory + plausible.memory) {
        return None;
    }
    if story.sentences == plausible.sentences {
        let message = format!("are the same as those of the plausible story {id:?}; nothing distinguishes the two");
        notes.add(Code::SameSentences, "sentences", message);
    }
    story.kind.or_else(|| {
        let kind = if story.sentence_set == plausible.sentence_set { Kind::Order } else { Kind::Cloze };
        let message = format!("the kind is read as {kind}: the sentences were compared with those of {id:?}");
        notes.add(Code::InferredKind, "type", message);
        Some(kind)
    })
}

fn note_second(story: &StoryFacts, first: Option<&str>, notes: &mut Notes) {
    if let Some(first) = first.filter(|&first| first != notes.story) {
        let message = format!("pairs of story_id {} use the first plausible story, {first:?}", story.group);
        notes.add(Code::SecondPlausibleStory, "story_id", message);
    }
}
