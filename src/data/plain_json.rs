//! Stories without labels in JSON.

use super::typed_story::TypedStory;
use crate::error::{Error, Result};
use crate::untrusted::{MAX_PLAIN, json_error, json_line_error};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::HashMap;

/// What to do with a story file where stories without labels are expected.
pub(crate) const OF_STORY_FILES: &str = "a pair of a story file is predicted with --data FILE --pair ID, and all of them \
                                         with `tiered eval RUN --data FILE`";

/// Both forms in one struct, so that the parser's message keeps its line and column.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    stories: Option<Vec<TypedStory>>,
    #[serde(default)]
    sentences: Vec<String>,
    #[serde(default)]
    entities: Vec<String>,
}

pub(super) fn from_json(text: &str, source: &str) -> Result<Vec<TypedStory>> {
    let document: Document = serde_json::from_str(text).map_err(|error| {
        if is_story_file(text) {
            return Error::data(format!("{source}: is a story file, as TRIP's and GITA's are; {OF_STORY_FILES}"));
        }
        let shape = "must be {\"sentences\": [...], \"entities\": [...]} or {\"stories\": [...]} with one or two such";
        // The source of one line is the line.
        let place = if text.trim_end().contains('\n') { json_error } else { json_line_error };
        Error::data(format!("{source}: {}; the JSON {shape}", place(&error))).caused_by(error)
    })?;
    let Document { stories, sentences, entities } = document;
    match stories {
        None => Ok(vec![TypedStory { sentences, entities }]),
        Some(stories) if sentences.is_empty() && entities.is_empty() => Ok(stories),
        Some(_) => {
            let message = format!(
                "{source}: has both \"stories\" and its own \"sentences\" or \"entities\"; put these into the stories"
            );
            Err(Error::data(message))
        }
    }
}

/// Whether the text is a story file, `{split: {key: story}}`. Longer ones are not looked at: their names would take much memory.
pub(crate) fn is_story_file(text: &str) -> bool {
    if text.len() as u64 > MAX_PLAIN {
        return false;
    }
    type Splits = HashMap<String, HashMap<String, HashMap<String, IgnoredAny>>>;
    let splits: Splits = serde_json::from_str(text).unwrap_or_default();
    splits.values().flat_map(HashMap::values).any(|story| story.contains_key("sentences"))
}
