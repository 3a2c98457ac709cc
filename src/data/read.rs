//! Reads story files: JSON `{split: {story id: story}}`. Every irregularity becomes a finding. A file is read as a
//! stream; only the text of one story is in memory at a time.

use super::check::{Code, Finding, Notes, Severity};
use super::given::GivenNames;
use super::json::{Entries, Object};
use super::keep::{Keep, KeptSplit, Whole};
use super::parse;
use super::story::Story;
use crate::error::{Error, Result};
use crate::say::quoted;
use crate::untrusted::{MAX_NAME, MAX_STORY, MAX_STORY_FILE, MAX_UNREAD, Mark, TextStream, json_error, shown};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess};
use serde_json::value::RawValue;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

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
    read_stream(path, open(path)?)
}

/// Opens a story file.
///
/// # Errors
/// `MissingInput` or `Io` if it can't be read.
pub(super) fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| {
        let is_gone = error.kind() == io::ErrorKind::NotFound;
        let remedy = if is_gone { "; check the path, or get TRIP and GITA with `tiered data fetch`" } else { "" };
        let error = Error::reading(path, &error);
        Error { message: error.message.clone() + remedy, ..error }
    })
}

/// Like [`read_file`], for a file that is in memory already. `path` is named in errors.
///
/// # Errors
/// `Data`, like [`read_file`].
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<StoryFile> {
    read_stream(path, bytes)
}

fn read_stream(path: &Path, source: impl Read) -> Result<StoryFile> {
    let file = read_keeping(path, source, MAX_STORY_FILE, Whole)?;
    Ok(StoryFile { path: path.to_owned(), sha256: file.sha256, splits: file.splits, findings: file.findings })
}

/// What was kept of a file.
pub(super) struct KeptFile<K: Keep> {
    pub sha256: String,
    pub splits: Vec<(String, Vec<K::Kept>)>,
    pub findings: Vec<Finding>,
    pub keep: K,
}

/// Like [`read_file`], for a file of at most `most` bytes; `keep` says what is kept of each story.
pub(super) fn read_keeping<K: Keep>(path: &Path, source: impl Read, most: u64, keep: K) -> Result<KeptFile<K>> {
    let (mut stream, mark) = TextStream::new(source, most, MAX_UNREAD);
    let position = Rc::new(Cell::new(0));
    let mut splits = Splits {
        notes: Notes::new(path),
        mark,
        position: position.clone(),
        names: GivenNames::default(),
        read: Vec::new(),
        are_missing: false,
        keep,
    };
    // serde_json reads single bytes. They are slow through a reference to the buffer, so it takes the buffer by value.
    let buffer = Buffer { source: &mut stream, bytes: vec![0; BUFFER], unread: 0..0, position };
    let mut json = serde_json::Deserializer::from_reader(buffer);
    let outcome = Object(&mut splits).deserialize(&mut json).and_then(|other| json.end().map(|()| other));
    drop(json);
    let Splits { notes, read, are_missing, keep, .. } = splits;
    let misshapen = |what: &str| Error::data(format!("line 1: {SHAPE}, {what}")).about(path.display());
    match outcome {
        _ if are_missing => return Err(misshapen("but these stories are in no split; put them into one")),
        // The rest is not parsed; it is read for the checksum.
        _ if notes.is_full() => {
            io::copy(&mut stream, &mut io::sink()).map(drop).map_err(|error| unreadable(path, &error))?
        }
        Ok(None) if read.iter().all(|(_, kept)| kept.is_empty()) && notes.errors() == 0 => {
            return Err(misshapen("but this one has no stories"));
        }
        Ok(None) => (),
        Ok(Some(other)) => return Err(misshapen(&format!("not {other}"))),
        Err(error) if error.is_io() => return Err(unreadable(path, &error.into())),
        Err(error) => return Err(not_json(path, error)),
    }
    Ok(KeptFile { sha256: stream.sha256(), splits: read, findings: notes.into_findings(), keep })
}

fn not_json(path: &Path, error: serde_json::Error) -> Error {
    let is_text = error.is_syntax() && (error.line(), error.column()) == (1, 1);
    let hint = if is_text { "; stories in plain text are for `tiered predict`" } else { "" };
    let message = format!("is not valid JSON: {}{hint}", json_error(&error));
    Error::data(message).about(path.display()).caused_by(error)
}

/// A buffer that counts the bytes that were taken out of it.
struct Buffer<R> {
    source: R,
    bytes: Vec<u8>,
    unread: Range<usize>,
    position: Rc<Cell<u64>>,
}

impl<R: Read> Read for Buffer<R> {
    #[inline]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.unread.is_empty() {
            self.unread = 0..self.source.read(&mut self.bytes)?;
        }
        if let ([byte], Some(&next)) = (&mut *into, self.bytes[self.unread.clone()].first()) {
            *byte = next; // serde_json asks for single bytes
            self.unread.start += 1;
            self.position.set(self.position.get() + 1);
            return Ok(1);
        }
        let length = into.len().min(self.unread.len());
        into[..length].copy_from_slice(&self.bytes[self.unread.start..][..length]);
        self.unread.start += length;
        self.position.set(self.position.get() + length as u64);
        Ok(length)
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData => Error::data(error.to_string()).about(path.display()),
        io::ErrorKind::FileTooLarge => Error::data(format!("{error}; split it")).about(path.display()),
        _ => Error::reading(path, error),
    }
}

/// The splits of a file, while they are read.
struct Splits<K: Keep> {
    notes: Notes,
    mark: Mark,
    /// How many bytes were parsed.
    position: Rc<Cell<u64>>,
    names: GivenNames,
    read: Vec<(String, Vec<K::Kept>)>,
    /// Whether the file has a story, or stories, instead of splits.
    are_missing: bool,
    keep: K,
}

impl<K: Keep> Entries for Splits<K> {
    fn entry<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        self.mark.set();
        let Splits { notes, mark, position, names, read, are_missing, keep } = self;
        notes.split.clone_from(&name);
        if !notes.has_fair_length(&name, "") {
            return skip(map, notes);
        }
        notes.split = names.distinct(&name);
        if notes.split != name {
            let message = format!("split {name:?} is repeated; this one is named {:?}", notes.split);
            notes.add(Code::RepeatedSplit, "", message);
        }
        let (names, split) = (GivenNames::default(), KeptSplit::new());
        let mut stories = Stories { notes, mark, position, names, keep, split, is_story: false };
        let outcome = map.next_value_seed(Object(&mut stories));
        let Stories { notes, split, is_story, .. } = stories;
        notes.story.clear();
        *are_missing = is_story || name == SENTENCES && matches!(outcome, Ok(Some("a list")));
        if *are_missing {
            return stop();
        }
        if let Ok(Some(other)) = outcome {
            notes.add(Code::WrongType, "", format!("must be an object of stories, not {other}"));
        }
        read.push((notes.split.clone(), split.settle::<K>(notes)));
        outcome?;
        go_on(notes)
    }
}

/// The stories of a split, while they are read.
struct Stories<'n, K: Keep> {
    notes: &'n mut Notes,
    mark: &'n Mark,
    position: &'n Cell<u64>,
    names: GivenNames,
    keep: &'n mut K,
    split: KeptSplit<K::Kept>,
    /// Whether the supposed split is a story.
    is_story: bool,
}

/// The field that marks an object as a story.
const SENTENCES: &str = "sentences";

impl<K: Keep> Entries for Stories<'_, K> {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        self.mark.set();
        let Stories { notes, position, names, keep, split, is_story, .. } = self;
        notes.story.clone_from(&key);
        if !notes.has_fair_length(&key, "") {
            return skip(map, notes);
        }
        notes.story = names.distinct(&key);
        let json: Box<RawValue> = map.next_value()?;
        let end = position.get(); // of an object, whose end is its last byte
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
        if let Some(story) = parse::story(&key, &node, notes) {
            split.push(*keep, &key, story, end - bytes as u64..end);
        }
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

impl StoryFile {
    /// The number of findings with this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// The stories of one split.
    ///
    /// # Errors
    /// `Data`, with the names of the splits, if none has this name.
    pub fn split(&self, name: &str) -> Result<&[Story]> {
        let found = self.splits.iter().find(|(split, _)| split == name);
        found.map(|(_, stories)| stories.as_slice()).ok_or_else(|| no_split(&self.path, name, &self.splits))
    }

    /// Refuses a file with error findings, for callers that train.
    ///
    /// # Errors
    /// `Data`, with the first five errors and the command that lists them all.
    pub fn require_clean(&self) -> Result<()> {
        require_clean(&self.path, &self.findings)
    }
}

/// The command that lists what is wrong in a story file.
pub fn checking(path: &Path) -> String {
    format!("`tiered data check {}`", quoted(path.display()))
}

/// # Errors
/// `Data` if there are error findings, with the first five and the command that lists them all.
pub(super) fn require_clean(path: &Path, findings: &[Finding]) -> Result<()> {
    let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let mut message = format!("{}: stories can't be used (errors: {}):", path.display(), errors.len());
    for finding in errors.iter().take(LISTED) {
        message.push_str(&format!("\n  {finding}"));
    }
    message.push_str(&format!("\n{} lists all of them", checking(path)));
    Err(Error::data(message))
}

/// The error for a file without this split. It lists those that there are.
pub(super) fn no_split<T>(path: &Path, name: &str, splits: &[(String, T)]) -> Error {
    let names: Vec<_> = splits.iter().map(|(split, _)| split.as_str()).collect();
    Error::data(format!("{}: has no split {name:?}; name one of {names:?}", path.display()))
}
