//! Reads story files: JSON `{split: {story id: story}}`. Every irregularity becomes a finding. A file is read as a
//! stream; only the text of one story is in memory at a time.

use super::check::{self, Code, Finding, Notes, Severity};
use super::json::{Entries, Object};
use super::story::Story;
use super::{group, parse};
use crate::error::{Error, Result};
use crate::untrusted::{MAX_NAME, MAX_STORY, MAX_STORY_FILE, MAX_UNREAD, Mark, TextStream, json_error, shown};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// The size of the read buffer, in bytes.
const BUFFER: usize = 1 << 16;

/// The form that a file must have.
const SHAPE: &str = "must be an object of splits, {\"test\": {\"1\": {...}, ...}}";

/// How many error findings [`StoryFile::require_clean`] lists.
const LISTED: usize = 5;

/// A story file after reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryFile {
    /// As the reader was given it.
    pub path: PathBuf,
    /// SHA-256 of the file's bytes, in lower-case hexadecimal.
    pub sha256: String,
    /// Splits with their usable stories, in the order of the file.
    pub splits: Vec<(String, Vec<Story>)>,
    /// Every irregularity, in the order in which it was found.
    pub findings: Vec<Finding>,
}

/// Reads a story file as a stream. A story with an error finding is left out, and reading continues. A repeated key or
/// split gets the suffix "#2" (then "#3" and so on).
///
/// # Errors
/// `MissingInput` or `Io` if the file can't be read; `Data`, with line and column, if it is not a JSON object or is
/// larger than [`MAX_STORY_FILE`].
pub fn read_file(path: &Path) -> Result<StoryFile> {
    let file = File::open(path).map_err(|error| Error::reading(path, &error))?;
    read_stream(path, file)
}

/// Like [`read_file`], for a file that is in memory already. `path` is named in errors.
///
/// # Errors
/// `Data`, like [`read_file`].
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<StoryFile> {
    read_stream(path, bytes)
}

fn read_stream(path: &Path, source: impl Read) -> Result<StoryFile> {
    let (mut stream, mark) = TextStream::new(source, MAX_STORY_FILE, MAX_UNREAD);
    let mut splits =
        Splits { notes: Notes::new(path), mark, names: Names::default(), read: Vec::new(), are_missing: false };
    // serde_json reads single bytes. They are slow through a reference to the buffer, so it takes the buffer by value.
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER, &mut stream));
    let outcome = Object(&mut splits).deserialize(&mut json).and_then(|other| json.end().map(|()| other));
    drop(json);
    let Splits { notes, read, are_missing, .. } = splits;
    let misshapen = |what: &str| Error::data(format!("line 1: {SHAPE}, {what}")).about(path.display());
    match outcome {
        _ if are_missing => return Err(misshapen("but these stories are in no split; put them into one")),
        // The rest is not parsed; it is read for the checksum.
        _ if notes.is_full() => {
            io::copy(&mut stream, &mut io::sink()).map(drop).map_err(|error| unreadable(path, &error))?
        }
        Ok(None) if read.is_empty() && notes.errors() == 0 => return Err(misshapen("but this one has no stories")),
        Ok(None) => (),
        Ok(Some(other)) => return Err(misshapen(&format!("not {other}"))),
        Err(error) if error.is_io() => return Err(unreadable(path, &error.into())),
        Err(error) => {
            let is_text = error.is_syntax() && (error.line(), error.column()) == (1, 1);
            let hint = if is_text { "; stories in plain text are for `tiered predict`" } else { "" };
            let message = format!("is not valid JSON: {}{hint}", json_error(&error));
            return Err(Error::data(message).about(path.display()).caused_by(error));
        }
    }
    let sha256 = stream.sha256();
    Ok(StoryFile { path: path.to_owned(), sha256, splits: read, findings: notes.into_findings() })
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData => Error::data(error.to_string()).about(path.display()),
        io::ErrorKind::FileTooLarge => Error::data(format!("{error}; split it")).about(path.display()),
        _ => Error::reading(path, error),
    }
}

/// The splits of a file, while they are read.
struct Splits {
    notes: Notes,
    mark: Mark,
    names: Names,
    read: Vec<(String, Vec<Story>)>,
    /// Whether the file has a story, or stories, in the place of splits.
    are_missing: bool,
}

impl Entries for Splits {
    fn entry<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        self.mark.set();
        let Splits { notes, mark, names, read, are_missing } = self;
        notes.split.clone_from(&name);
        if !notes.has_fair_length(&name, "") {
            return skip(map, notes);
        }
        notes.split = names.distinct(&name);
        if notes.split != name {
            let message = format!("split {name:?} is repeated; this one is named {:?}", notes.split);
            notes.add(Code::RepeatedSplit, "", message);
        }
        let mut stories = Stories { notes, mark, names: Names::default(), read: Vec::new(), is_story: false };
        let outcome = map.next_value_seed(Object(&mut stories));
        let Stories { notes, read: stories, is_story, .. } = stories;
        notes.story.clear();
        *are_missing = is_story || name == SENTENCES && matches!(outcome, Ok(Some("a list")));
        if *are_missing {
            return stop();
        }
        if let Ok(Some(other)) = outcome {
            notes.add(Code::WrongType, "", format!("must be an object of stories, not {other}"));
        }
        read.push((notes.split.clone(), group::settle(stories, notes)));
        outcome?;
        go_on(notes)
    }
}

/// The stories of a split, while they are read.
struct Stories<'n> {
    notes: &'n mut Notes,
    mark: &'n Mark,
    names: Names,
    read: Vec<Story>,
    /// Whether the supposed split is a story.
    is_story: bool,
}

/// The field that marks an object as a story.
const SENTENCES: &str = "sentences";

impl Entries for Stories<'_> {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        self.mark.set();
        let Stories { notes, names, read, is_story, .. } = self;
        notes.story.clone_from(&key);
        if !notes.has_fair_length(&key, "") {
            return skip(map, notes);
        }
        notes.story = names.distinct(&key);
        let json: Box<RawValue> = map.next_value()?;
        *is_story = key == SENTENCES && json.get().starts_with('[');
        if *is_story {
            return stop();
        }
        let bytes = json.get().len();
        if bytes > MAX_STORY {
            let message = format!("a story has {bytes} bytes; shorten it to at most {MAX_STORY}");
            notes.add(Code::TooLarge, "", message);
            return go_on(notes);
        }
        notes.make_room(bytes);
        if notes.story != key {
            let message = format!("key {key:?} is repeated; this story is named {:?}", notes.story);
            notes.add(Code::RepeatedKey, "", message);
        }
        let node = serde_json::from_str(json.get()).map_err(|error| {
            let story = shown(&notes.story, MAX_NAME);
            A::Error::custom(format_args!("story {story:?}: {}, in the story that ends", json_error(&error)))
        })?;
        read.extend(parse::story(&key, &node, notes));
        go_on(notes)
    }
}

fn skip<'de, A: MapAccess<'de>>(map: &mut A, notes: &Notes) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>()?;
    go_on(notes)
}

/// Stops if the limit of findings is reached.
fn go_on<E: serde::de::Error>(notes: &Notes) -> Result<(), E> {
    if notes.is_full() { stop() } else { Ok(()) }
}

/// Stops reading. Nobody sees this error.
fn stop<E: serde::de::Error>() -> Result<(), E> {
    Err(E::custom("enough"))
}

/// Gives every name once only.
#[derive(Default)]
struct Names {
    /// For each name, the number of the last suffix given; 1 if none was.
    given: HashMap<String, usize>,
}

impl Names {
    /// The name, with "#2", "#3" ... if it was given before. The result was never given before.
    fn distinct(&mut self, name: &str) -> String {
        let Some(last) = self.given.get(name) else {
            self.given.insert(name.to_owned(), 1);
            return name.to_owned();
        };
        let free = (last + 1..).find(|number| !self.given.contains_key(&format!("{name}#{number}")));
        let number = free.expect("a free number");
        self.given.insert(name.to_owned(), number);
        self.distinct(&format!("{name}#{number}"))
    }
}

impl StoryFile {
    /// The number of findings with this severity.
    pub fn count(&self, severity: Severity) -> usize {
        check::count(&self.findings, severity)
    }

    /// The stories of one split.
    ///
    /// # Errors
    /// `Data`, with the names of the splits, if none has this name.
    pub fn split(&self, name: &str) -> Result<&[Story]> {
        let found = self.splits.iter().find(|(split, _)| split == name);
        found.map(|(_, stories)| stories.as_slice()).ok_or_else(|| {
            let names: Vec<_> = self.splits.iter().map(|(split, _)| split.as_str()).collect();
            Error::data(format!("{}: has no split {name:?}; its splits are {names:?}", self.path.display()))
        })
    }

    /// Refuses a file with error findings, for callers that train.
    ///
    /// # Errors
    /// `Data`, with the first five errors and the command that lists them all.
    pub fn require_clean(&self) -> Result<()> {
        let errors: Vec<_> = self.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        if errors.is_empty() {
            return Ok(());
        }
        let path = self.path.display();
        let mut message = format!("{path}: stories can't be used (errors: {}):", errors.len());
        for finding in errors.iter().take(LISTED) {
            message.push_str(&format!("\n  {finding}"));
        }
        message.push_str(&format!("\n`tiered data check {path}` lists all of them"));
        Err(Error::data(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_get_a_free_suffix() {
        let named = |names: &[&str]| {
            let mut given = Names::default();
            names.iter().map(|name| given.distinct(name)).collect::<Vec<_>>()
        };
        assert_eq!(named(&["98", "98#2", "98", "98"]), ["98", "98#2", "98#3", "98#4"]);
        assert_eq!(named(&["98", "98", "98#2", "98"]), ["98", "98#2", "98#2#2", "98#3"]);
        assert_eq!(named(&["a", "b"]), ["a", "b"]);
    }
}
