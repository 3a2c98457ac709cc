//! The stories of a pass as a story file.

use super::group::{Draft, Group};
use super::message::Lack;
use super::record::{StoryFormat, conflict, record};
use super::stories::Stories;
use crate::data::{Severity, read_bytes};
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::untrusted::MAX_NAME;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A story file, and what is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// `{split: {key: story}}`; `tiered data check` finds no errors in it.
    pub file: Value,
    /// The stories that a story file can't have as they are.
    pub left_out: Vec<LeftOutStory>,
}

/// A story that is not exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutStory {
    /// Its key.
    pub story: String,
    /// What it lacks.
    pub why: Lack,
}

impl Stories {
    /// The stories of a pass. Those that are not complete are left out.
    ///
    /// # Errors
    /// `Data` if a split can't have this name; `Internal` if a story can't be written as JSON.
    pub fn export(&self, pass: &str, format: StoryFormat, split: &str) -> Result<Export> {
        let length = split.chars().count();
        if length > MAX_NAME {
            let message = format!("the name of the split has {length} characters; shorten it to at most {MAX_NAME}");
            return Err(Error::data(message));
        }
        let mut why: BTreeMap<(i64, &str), Lack> = BTreeMap::new();
        for (&number, group) in &self.groups {
            for (key, draft) in group.present() {
                why.extend(incomplete(group, pass, key, draft).map(|why| ((number, key), why)));
            }
        }
        loop {
            leave_out_versions(&self.groups, &mut why);
            let file = self.file(pass, format, split, |number, key| !why.contains_key(&(number, key)))?;
            // The last word has the reader of story files.
            let refused = refused(&file)?;
            let known = why.len();
            for (&number, group) in &self.groups {
                let keys = group.present().map(|(key, _)| key);
                why.extend(keys.filter_map(|key| Some(((number, key), refused.get(key)?.clone()))));
            }
            if why.len() == known {
                let left_out = why.into_iter().map(|((_, key), why)| LeftOutStory { story: key.to_owned(), why });
                return Ok(Export { file, left_out: left_out.collect() });
            }
        }
    }

    /// The file of the stories that are wanted.
    fn file(&self, pass: &str, format: StoryFormat, split: &str, wanted: impl Fn(i64, &str) -> bool) -> Result<Value> {
        let mut stories = Map::new();
        for (&number, group) in &self.groups {
            for (key, draft) in group.present().filter(|(key, _)| wanted(number, key)) {
                let story = serde_json::to_value(record(group, number, key, draft, pass, format)).map_err(internal)?;
                stories.insert(key.to_owned(), story);
            }
        }
        Ok(Value::Object(Map::from_iter([(split.to_owned(), Value::Object(stories))])))
    }

    /// Writes the story file of every pass into the folder of the project, `main.json` and the like.
    ///
    /// # Errors
    /// `Io`, `Internal`.
    pub fn save(&self, folder: &Path) -> Result<()> {
        for pass in &self.passes {
            let Export { file, .. } = self.export(pass, StoryFormat::Trip, "test")?;
            let text = serde_json::to_vec(&file).map_err(internal)?;
            durable::replace(&folder.join(format!("{pass}.json")), &text)?;
        }
        Ok(())
    }
}

fn internal(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("a story can't be written: {error}"))
}

/// What a story lacks.
fn incomplete(group: &Group, pass: &str, key: &str, draft: &Draft) -> Option<Lack> {
    let sentences = group.sentences_of(draft);
    let blank = sentences.iter().position(String::is_empty).map(|blank| blank + 1);
    let plausible = group.present().find(|(_, draft)| draft.kind.is_none());
    let is_same = plausible.is_some_and(|(_, other)| group.sentences_of(other) == sentences);
    let marked = conflict(draft, group.answers(pass), key);
    Some(match (blank, draft.kind, marked) {
        _ if sentences.is_empty() => Lack::NoSentences,
        (Some(blank), ..) => Lack::BlankSentence(blank),
        _ if group.entities_of(draft).next().is_none() => Lack::NoEntities,
        (_, Some(_), _) if is_same => Lack::SameAsPlausible,
        (_, Some(_), None) => Lack::NoConflict,
        (_, Some(_), Some((evidence, breakpoint))) if evidence >= breakpoint => Lack::ConflictReversed,
        _ => return None,
    })
}

/// Versions go with their plausible story.
fn leave_out_versions<'p>(groups: &'p BTreeMap<i64, Arc<Group>>, why: &mut BTreeMap<(i64, &'p str), Lack>) {
    for (&number, group) in groups {
        let plausible = group.present().find(|(_, draft)| draft.kind.is_none()).map(|(key, _)| key);
        if plausible.is_none_or(|key| why.contains_key(&(number, key))) {
            for (key, _) in group.present().filter(|(_, draft)| draft.kind.is_some()) {
                why.entry((number, key)).or_insert(Lack::PlausibleLeftOut);
            }
        }
    }
}

/// The stories in which `tiered data check` finds an error, and the error.
fn refused(file: &Value) -> Result<BTreeMap<String, Lack>> {
    let is_empty = |split: &Value| split.as_object().is_none_or(Map::is_empty);
    if file.as_object().is_none_or(|splits| splits.values().all(is_empty)) {
        return Ok(BTreeMap::new());
    }
    let bytes = serde_json::to_vec(file).map_err(internal)?;
    let findings = read_bytes("the export".as_ref(), &bytes)?.findings;
    let errors = findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    Ok(errors.map(|finding| (finding.story.clone(), Lack::Error(Box::new(finding)))).collect())
}
