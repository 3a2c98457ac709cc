//! A story with the entities that are found in it, in place of those of its list.

use super::find;
use super::name::normalized;
use crate::data::{Entity, Story};
use crate::language::Language;
use std::collections::HashMap;

/// The story with the entities that [`find`] finds. One whose name is in the story's list has the labels of the list,
/// and any other one none. If nothing is found, the story stays as it is.
pub fn with_found(story: &Story, language: Language) -> Story {
    let given: HashMap<String, &Entity> =
        story.entities.iter().rev().map(|entity| (normalized(&entity.name), entity)).collect();
    let found = find(&story.sentences, language);
    if found.is_empty() {
        return story.clone();
    }
    let unlabelled = Story::unlabelled("", story.sentences.clone(), found);
    let entity = |new: Entity| match given.get(&normalized(&new.name)) {
        Some(entity) => Entity { name: new.name, ..(*entity).clone() },
        None => new,
    };
    Story { entities: unlabelled.entities.into_iter().map(entity).collect(), ..story.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::Attribute;

    #[test]
    fn found_entities_keep_the_labels_of_the_list() {
        let text = r#"{"test": {"1": {"story_id": 1, "sentences": ["Rosa opened the drawer.", "She took a spoon."],
            "states": [{"open": [["Drawer", 4]]}, {"exist": [["lid", 2]]}]}}}"#;
        let file = crate::data::read_bytes("stories.json".as_ref(), text.as_bytes()).unwrap();
        let story = with_found(&file.split("test").unwrap()[0], Language::English);
        let names: Vec<_> = story.entities.iter().map(|entity| entity.name.as_str()).collect();
        assert_eq!(names, ["Rosa", "drawer", "spoon"]);
        let open = |entity: usize| story.entities[entity].label(0, Attribute::Open);
        assert_eq!([open(0), open(1), open(2)], [None, Some(4), None]);
    }

    #[test]
    fn a_labelled_story_stays_one_if_none_of_its_entities_is_found() {
        let text = r#"{"test": {"1": {"story_id": 1, "sentences": ["Rosa ate two eggs."],
            "states": [{"exist": [["egg", 2]]}]}}}"#;
        let file = crate::data::read_bytes("stories.json".as_ref(), text.as_bytes()).unwrap();
        let story = with_found(&file.split("test").unwrap()[0], Language::English);
        assert!(story.has_states && story.entities.iter().all(|entity| !entity.is_annotated(0)), "{story:?}");
    }
}
