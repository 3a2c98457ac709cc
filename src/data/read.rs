//! Story files: JSON `{partition: {story id: story}}`, read whole, with every irregularity as a finding.

use super::check::{self, Code, Finding, Notes, Severity};
use super::json::{Json, Part, Raw};
use super::story::Story;
use super::{group, parse};
use crate::error::{Error, Result};
use crate::outside::{self, MAX_STORY, MAX_STORY_FILE};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How many error findings [`StoryFile::require_clean`] lists.
const LISTED: usize = 5;

/// A story file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryFile {
    pub path: PathBuf,
    /// Of the file's bytes, in lower-case hexadecimal.
    pub sha256: String,
    /// Partitions with their usable stories, in file order.
    pub partitions: Vec<(String, Vec<Story>)>,
    pub findings: Vec<Finding>,
}

/// Reads a story file. A story with an error finding is left out, and reading goes on; a repeated key or
/// partition gets the suffix "#2" (then "#3" and so on).
///
/// # Errors
/// `MissingInput` or `Io` if the file can't be read; `Data`, with line and column, if it is no JSON object or larger
/// than [`MAX_STORY_FILE`].
pub fn read_file(path: &Path) -> Result<StoryFile> {
    let bytes = outside::read(path, MAX_STORY_FILE).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => Error::data(format!("{}: {error}; split it", path.display())),
        _ => Error::reading(path, &error),
    })?;
    read_bytes(path, &bytes)
}

/// [`read_file`] of a file that is in memory already; `path` is what it is called.
///
/// # Errors
/// `Data`, as [`read_file`].
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<StoryFile> {
    let stories = partitions(path, bytes);
    let (partitions, findings) = stories.map_err(|message| Error::data(message).about(path.display()))?;
    Ok(StoryFile { path: path.to_owned(), sha256: sha256(bytes), partitions, findings })
}

type Partitions = Vec<(String, Vec<Story>)>;

/// The partitions of a file and what was found, or what is wrong with the whole.
fn partitions(path: &Path, bytes: &[u8]) -> Result<(Partitions, Vec<Finding>), String> {
    let json = Json::new(outside::text(bytes)?);
    let Part::Object(entries) = json.root()? else {
        return Err(format!("line 1: must be an object of partitions, not {}", json.root_type()));
    };
    let mut notes = Notes::new(path);
    let mut partitions = Partitions::new();
    let names = distinct(entries.iter().map(|(name, _)| name.as_str()));
    for ((name, raw), id) in entries.iter().zip(names) {
        notes.partition.clone_from(&id);
        if !notes.has_fair_length(&id, "") || notes.is_full() {
            continue;
        }
        if *name != id {
            notes.add(
                Code::RepeatedPartition,
                "",
                format!("partition {name:?} occurs again; this one is named {id:?}"),
            );
        }
        partitions.push((id, read_partition(&json, raw, &mut notes)?));
    }
    Ok((partitions, notes.into_findings()))
}

fn read_partition(json: &Json, raw: &Raw, notes: &mut Notes) -> Result<Vec<Story>, String> {
    let Part::Object(entries) = json.part(raw)? else {
        notes.add(Code::WrongType, "", format!("must be an object of stories, not {}", raw.type_name()));
        return Ok(Vec::new());
    };
    let mut stories = Vec::new();
    let ids = distinct(entries.iter().map(|(key, _)| key.as_str()));
    for ((key, raw), id) in entries.iter().zip(ids) {
        notes.story = id;
        if notes.is_full() {
            break;
        }
        let story = notes.story.clone();
        if !notes.has_fair_length(&story, "") || !has_fair_size(raw, notes) {
            continue;
        }
        if story != *key {
            let message = format!("key {key:?} occurs again; this story is named {story:?}");
            notes.add(Code::RepeatedKey, "", message);
        }
        stories.extend(parse::story(key, &json.node(raw)?, notes));
    }
    notes.story.clear();
    Ok(group::settle(stories, notes))
}

/// Whether a story is short enough to be read; an error finding if it is not.
fn has_fair_size(raw: &Raw, notes: &mut Notes) -> bool {
    let bytes = raw.text().len();
    if bytes > MAX_STORY {
        let message = format!("a story of {bytes} bytes; at most {MAX_STORY} are read: shorten it");
        notes.add(Code::TooLarge, "", message);
    }
    bytes <= MAX_STORY
}

/// The names, with "#2", "#3" ... after those that occurred before; a suffixed name is never one of the others.
fn distinct<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let given: HashSet<&str> = names.clone().collect();
    let mut occurrences = HashMap::new();
    names.map(|name| distinct_name(name, &given, occurrences.entry(name).or_insert(0))).collect()
}

/// `last` is the number of the suffix given last to this name; 0 if it has not occurred yet.
fn distinct_name(name: &str, given: &HashSet<&str>, last: &mut usize) -> String {
    *last += 1;
    if *last == 1 {
        return name.to_owned();
    }
    loop {
        let id = format!("{name}#{last}");
        if !given.contains(id.as_str()) {
            return id;
        }
        *last += 1;
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl StoryFile {
    /// Number of findings of that severity.
    pub fn count(&self, severity: Severity) -> usize {
        check::count(&self.findings, severity)
    }

    /// The stories of one partition.
    ///
    /// # Errors
    /// `Data`, naming the partitions there are, if there is none of that name.
    pub fn partition(&self, name: &str) -> Result<&[Story]> {
        let found = self.partitions.iter().find(|(partition, _)| partition == name);
        found.map(|(_, stories)| stories.as_slice()).ok_or_else(|| {
            let names: Vec<_> = self.partitions.iter().map(|(partition, _)| partition.as_str()).collect();
            Error::data(format!("{}: has no partition {name:?}, only {names:?}", self.path.display()))
        })
    }

    /// Refuses a file with error findings: for callers that train.
    ///
    /// # Errors
    /// `Data`, listing the first five errors and the command that lists them all.
    pub fn require_clean(&self) -> Result<()> {
        let errors: Vec<_> = self.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        if errors.is_empty() {
            return Ok(());
        }
        let path = self.path.display();
        let mut message = format!("{path}: stories can't be used ({} errors):", errors.len());
        for finding in errors.iter().take(LISTED) {
            message.push_str(&format!("\n  {finding}"));
        }
        message.push_str(&format!("\nrun `tiered data check {path}` for all of them"));
        Err(Error::data(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_get_a_free_suffix() {
        assert_eq!(distinct(["98", "98", "98#2", "98"].into_iter()), ["98", "98#3", "98#2", "98#4"]);
        assert_eq!(distinct(["a", "b"].into_iter()), ["a", "b"]);
    }
}
