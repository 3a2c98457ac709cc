//! Reads story files for language models: the official JSON lines of GITA4CALAMITA, and files with dense states.

use super::faults::faults;
use super::question::no_conflict;
use super::story::{AskedStory, GoldStates};
use super::tier::Protocol;
use crate::data::{self, Severity};
use crate::durable;
use crate::error::{Error, Result};
use crate::untrusted::{self, MAX_PREDICTIONS, json_error, json_line_error};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Stories in their order, and what is odd about them.
#[derive(Debug, Clone, PartialEq)]
pub struct StorySet {
    /// The file that was read.
    pub path: PathBuf,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The split, of a dense file.
    pub split: Option<String>,
    /// In the order of the file or split.
    pub stories: Vec<AskedStory>,
    /// Contradictions that were survived, and stories that were left out; one line each.
    pub warnings: Vec<String>,
    /// The checked stories of the same rows, with entities and states; empty where they are not known.
    pub checked: Vec<data::Story>,
}

/// Reads the stories to ask about. `split` is needed where a dense file has several. By `gita4calamita` the stories of
/// a dense file are taken as released, contradictions and all; by the other protocols they are checked as `data check`
/// does.
///
/// # Errors
/// `MissingInput` or `Io` if the file can't be read; `Data`, with the line or story, if it is neither form, or has no
/// such split.
pub fn read_stories(path: &Path, protocol: Protocol, split: Option<&str>) -> Result<StorySet> {
    read_stories_of(path, protocol, split, "--split")
}

/// The same where another flag names the split, so that errors name that flag.
///
/// # Errors
/// As [`read_stories`].
pub fn read_stories_of(path: &Path, protocol: Protocol, split: Option<&str>, flag: &str) -> Result<StorySet> {
    let bytes = untrusted::read(path, MAX_PREDICTIONS).map_err(|error| Error::reading(path, &error))?;
    let text = untrusted::text(&bytes).map_err(|problem| Error::data(problem).about(path.display()))?;
    let sha256 = durable::sha256(&bytes);
    let about = |error: Error| error.about(path.display());
    if is_official(text) {
        if split.is_some() {
            let remedy = match protocol {
                Protocol::Har => "protocol har needs states of entities; name a file of TRIP or GITA".to_owned(),
                _ => format!("leave {flag} out"),
            };
            return Err(about(Error::data(format!("has no splits: it has one story a line; {remedy}"))));
        }
        let stories = of_lines(text).map_err(about)?;
        let warnings = faults(&stories);
        let path = path.to_owned();
        return Ok(StorySet { path, sha256, split: None, stories, warnings, checked: Vec::new() });
    }
    let set = |split, stories: Vec<AskedStory>, warnings, checked| {
        let (path, sha256) = (path.to_owned(), sha256.clone());
        StorySet { path, sha256, split: Some(split), stories, warnings, checked }
    };
    if protocol == Protocol::Gita4calamita {
        let (split, stories) = as_released(text, split, flag).map_err(about)?;
        let warnings = faults(&stories);
        return Ok(set(split, stories, warnings, Vec::new()));
    }
    let file = data::read_bytes(path, &bytes)?;
    let names: Vec<&str> = file.splits.iter().map(|(name, _)| name.as_str()).collect();
    let split = chosen(&names, split, flag).map_err(about)?;
    let checked = file.split(&split)?.to_vec();
    let stories = checked.iter().enumerate().map(|(row, story)| AskedStory::from_checked(row, story)).collect();
    Ok(set(split, stories, left_out(&file), checked))
}

/// Whether the first line is a story.
fn is_official(text: &str) -> bool {
    let story = untrusted::lines(text).next().and_then(|(_, line)| serde_json::from_str::<Value>(line).ok());
    story.is_some_and(|story| story.get("sentences").is_some())
}

fn of_lines(text: &str) -> Result<Vec<AskedStory>> {
    let read = |(row, (number, line)): (usize, (usize, &str))| {
        let doc = serde_json::from_str(line).map_err(|error| json_line_error(&error));
        let story = doc.and_then(|doc: Value| AskedStory::from_doc(row, &doc));
        story.map_err(|problem| Error::data(format!("line {number}: {problem}")))
    };
    untrusted::lines(text).enumerate().map(read).collect()
}

/// The stories of a dense file as they stand there, those with a repeated key too.
fn as_released(text: &str, split: Option<&str>, flag: &str) -> Result<(String, Vec<AskedStory>)> {
    let file: Entries<Entries<Value>> = serde_json::from_str(text).map_err(|error| {
        let shape = "must be {\"test\": {\"1\": {...}, ...}}, or have one story a line";
        Error::data(format!("{shape}: {}", json_error(&error))).caused_by(error)
    })?;
    let names: Vec<&str> = file.0.iter().map(|(name, _)| name.as_str()).collect();
    let name = chosen(&names, split, flag)?;
    let stories = file.0.into_iter().find(|(of, _)| *of == name).map(|(_, stories)| stories.0).unwrap_or_default();
    let read = |(row, (key, doc)): (usize, (String, Value))| {
        let story = AskedStory::from_doc(row, &doc);
        story.map_err(|problem| Error::data(format!("story {:?}: {problem}", untrusted::shown(&key, 40))))
    };
    Ok((name, stories.into_iter().enumerate().map(read).collect::<Result<_>>()?))
}

/// The split that was asked for, or the only one.
fn chosen(names: &[&str], split: Option<&str>, flag: &str) -> Result<String> {
    let problem = match (split, names) {
        (Some(split), names) if names.contains(&split) => return Ok(split.to_owned()),
        (None, [only]) => return Ok((*only).to_owned()),
        (_, []) => return Err(Error::data("has no stories")),
        (Some(split), _) => format!("has no split {split:?}"),
        (None, _) => "has several splits".to_owned(),
    };
    Err(Error::data(format!("{problem}; name one of {names:?} with {flag}")))
}

fn left_out(file: &data::StoryFile) -> Vec<String> {
    match file.count(Severity::Error) {
        0 => Vec::new(),
        errors => vec![format!(
            "stories with errors were left out (errors: {errors}); {} lists them",
            data::checking(&file.path)
        )],
    }
}

/// The entries of a JSON object in order, repeated keys too.
struct Entries<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        from.deserialize_map(Object(std::marker::PhantomData))
    }
}

impl StorySet {
    /// Keeps the first stories only, and the warnings about them. Whether others were left out.
    pub fn keep_first(&mut self, most: usize) -> bool {
        let is_cut = most < self.stories.len();
        self.stories.truncate(most);
        // The warnings about checked stories are about the whole file.
        if is_cut && self.checked.is_empty() {
            self.warnings = faults(&self.stories);
        }
        is_cut
    }

    /// Refuses the second tier where an implausible story names no sentences in conflict, or has fewer than two.
    ///
    /// # Errors
    /// `Data`, with what to do.
    pub fn require_conflicts(&self) -> Result<()> {
        for story in self.stories.iter().filter(|story| !story.plausible) {
            if story.sentences.len() < 2 {
                let problem = "is implausible, but has fewer than two sentences, so that tier 2 has no options; leave it \
                               out, or ask about tier 1 only";
                return Err(Error::data(format!("{}: {problem}", story.name())).about(self.path.display()));
            }
            if story.conflict.is_none() {
                return Err(no_conflict(story).about(self.path.display()));
            }
        }
        Ok(())
    }

    /// # Errors
    /// `Data` if there are none.
    pub fn require_stories(&self) -> Result<()> {
        match self.stories.is_empty() {
            true => Err(Error::data("has no stories to ask about").about(self.path.display())),
            false => Ok(()),
        }
    }

    /// Refuses the third tier where an implausible story does not tell its states.
    ///
    /// # Errors
    /// `Data`, with what to do instead.
    pub fn require_states(&self, protocol: Protocol) -> Result<()> {
        let lacks = |story: &&AskedStory| !story.plausible && story.states == GoldStates::Unknown;
        let Some(story) = self.stories.iter().find(lacks) else { return Ok(()) };
        let problem = match protocol {
            Protocol::Gita4calamita => {
                "its dense states do not name the one state that causes a conflict, which tier 3 of gita4calamita \
                 needs; use the official GITA4CALAMITA.jsonl, or --protocol trip, where any gold state is right"
                    .to_owned()
            }
            _ => format!("{}: has no states, which tier 3 needs; ask --tiers 2, or leave it out", story.name()),
        };
        Err(Error::data(problem).about(self.path.display()))
    }
}
