//! The journal of a project: one JSON line an edit, on the disk before the edit is acknowledged.
//!
//! The journal has all that is in the project; the story files beside it are made from it. A last line without a line
//! end was torn by a kill before it was acknowledged; it is dropped. If it is a whole edit, only the line end was lost,
//! perhaps in an editor: it counts.

use super::change::Change;
use super::message::EditProblem;
use super::refusal::EditRefusal;
use crate::durable::LineFile;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{self, SchemaVersion};
use crate::untrusted::{self, json_line_error};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The limit for a journal, in bytes: a label has about 80.
const MAX_JOURNAL: u64 = 1 << 30;

/// An edit, as the journal has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EditEntry {
    /// The number of the edit: 1, 2, 3, ...
    pub revision: u64,
    /// When it was made, in RFC 3339, UTC.
    pub at: String,
    /// The annotator.
    pub who: String,
    /// The window in which it was made.
    pub window: String,
    /// Its number in that window. An edit that is sent again has the same.
    pub n: u64,
    /// Whose answers it changes.
    pub pass: String,
    /// The group of stories.
    pub group: i64,
    /// The story that the annotator worked on.
    pub story: String,
    /// What was done, in words.
    pub what: String,
    /// The revision of the edit that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// The revision of the edit that this one makes again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redoes: Option<u64>,
    /// At most one for each field.
    pub changes: Vec<Change>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(default)]
    schema_version: SchemaVersion,
    #[serde(flatten)]
    entry: EditEntry,
}

/// No sentence or entity has a larger number.
const MAX_NUMBER: u32 = 1 << 30;

impl EditEntry {
    /// A journal may come from outside: what this program would not have written is refused.
    fn validate(&self) -> Result<(), String> {
        if !is_plain(&self.pass) {
            return Err(format!("{:?} is no name of a pass", self.pass));
        }
        if !(0..=i64::MAX / 2).contains(&self.group) {
            return Err(format!("group {} is out of range", self.group));
        }
        match self.changes.iter().position(|change| !is_fair(change)) {
            Some(number) => Err(format!("changes[{number}] has a number or a label that is out of range")),
            None => Ok(()),
        }
    }
}

fn is_fair(change: &Change) -> bool {
    let is_id = |number: u32| (1..=MAX_NUMBER).contains(&number);
    match change {
        Change::Order { sentences, .. } => sentences.iter().all(|sentence| is_id(sentence.0)),
        Change::Member { entity, .. } | Change::Entity { entity, .. } => is_id(entity.0),
        Change::Text { sentence, .. } => is_id(sentence.0),
        Change::Label { entity, sentence, attribute, label } => {
            is_id(entity.0) && is_id(sentence.0) && label.is_none_or(|label| label <= attribute.max_label())
        }
        Change::InPass { pass, answer } => {
            let is_plain_answer = answer.is_answer() && !matches!(**answer, Change::InPass { .. });
            is_plain(pass) && is_plain_answer && is_fair(answer)
        }
        _ => true,
    }
}

/// Whether it is 1 to 32 of a to z, 0 to 9 and "-". A pass becomes the name of a file.
pub(super) fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=32).contains(&name.len()) && name.chars().all(is_plain)
}

/// The file, open for appending.
pub(super) struct EditJournal {
    path: PathBuf,
    file: LineFile,
}

impl EditJournal {
    /// Opens the file, or creates it, and reads its edits. A torn last line is removed from it.
    ///
    /// # Errors
    /// `Data` if another line is not the next edit; `CantCreate`, `Io`.
    pub fn open(path: &Path) -> Result<(Self, Vec<EditEntry>)> {
        let text = untrusted::read_if_there(path, MAX_JOURNAL).map_err(|error| Error::reading(path, &error))?;
        let mut text = text.unwrap_or_default();
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lacks_end = schema::from_slice::<Line>(&text[whole..]).is_ok();
        if !lacks_end {
            text.truncate(whole);
        }
        let entries = entries(path, &text)?;
        let mut file = LineFile::open(path, text.len() as u64)?;
        if lacks_end {
            file.append_durably(b"\n")?;
        }
        Ok((EditJournal { path: path.to_owned(), file }, entries))
    }

    /// Appends an edit and syncs it to the disk. After an error, nothing was appended.
    ///
    /// # Errors
    /// `Io` if it can't be written; `JournalIsFull`.
    pub fn append(&mut self, entry: &EditEntry) -> Result<(), EditRefusal> {
        let mut line = serde_json::to_vec(&Line { schema_version: SchemaVersion, entry: entry.clone() })
            .map_err(|error| Error::new(ErrorKind::Internal, format!("{}: {error}", self.path.display())))?;
        line.push(b'\n');
        if self.file.length() + line.len() as u64 > MAX_JOURNAL {
            return Err(EditProblem::JournalIsFull { path: self.path.display().to_string() }.into());
        }
        Ok(self.file.append_durably(&line)?)
    }
}

/// The edits in whole lines.
fn entries(path: &Path, text: &[u8]) -> Result<Vec<EditEntry>> {
    let mut entries = Vec::new();
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let wrong = |problem: String| {
            let remedy = "restore the file from a copy, or remove this line and those after it";
            Error::data(format!("{}: line {}: {problem}; {remedy}", path.display(), number + 1))
        };
        let Line { entry, .. } =
            schema::from_slice(line).map_err(|error| wrong(json_line_error(&error)).caused_by(error))?;
        if entry.revision != number as u64 + 1 {
            return Err(wrong(format!("has revision {}, but {} comes next", entry.revision, number + 1)));
        }
        entry.validate().map_err(wrong)?;
        entries.push(entry);
    }
    Ok(entries)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::fs;

    pub fn entry(revision: u64) -> EditEntry {
        EditEntry {
            revision,
            at: "2026-01-02T03:04:05Z".into(),
            who: "Ada".into(),
            window: "w".into(),
            n: revision,
            pass: "main".into(),
            group: 1,
            story: "1".into(),
            what: "location".into(),
            undoes: None,
            redoes: None,
            changes: vec![Change::Location { text: format!("però {revision}\n") }],
        }
    }

    #[test]
    fn a_torn_last_line_is_dropped_at_every_byte_and_a_wrong_one_is_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (mut journal, none) = EditJournal::open(&path).unwrap();
        assert!(none.is_empty());
        (1..=3).for_each(|revision| journal.append(&entry(revision)).unwrap());
        let bytes = fs::read(&path).unwrap();
        let second = bytes.len() / 3 * 2;
        for length in second..bytes.len() - 1 {
            fs::write(&path, &bytes[..length]).unwrap();
            let (mut journal, entries) = EditJournal::open(&path).unwrap();
            assert_eq!(entries, [entry(1), entry(2)], "cut at {length}");
            journal.append(&entry(3)).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes, "cut at {length}");
        }
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(EditJournal::open(&path).unwrap().1, [entry(1), entry(2), entry(3)], "an editor took the line end");
        assert_eq!(fs::read(&path).unwrap(), bytes);
        fs::write(&path, [&bytes[..second], b"{}\n", &bytes[second..]].concat()).unwrap();
        let error = EditJournal::open(&path).err().unwrap();
        assert!(error.kind == ErrorKind::Data && error.message.contains("line 3"), "{error}");
        fs::write(&path, [&bytes[..second], &bytes[..second]].concat()).unwrap();
        assert!(EditJournal::open(&path).err().unwrap().message.contains("has revision 1, but 3 comes next"));
    }

    #[test]
    fn what_this_program_would_not_have_written_is_refused() {
        use crate::annotate::change::{EntityId, SentenceId};
        use crate::attribute::Attribute;
        let folder = tempfile::TempDir::new().unwrap();
        let label = |sentence, label| {
            let (entity, sentence) = (EntityId(1), SentenceId(sentence));
            Change::Label { entity, sentence, attribute: Attribute::HLocation, label: Some(label) }
        };
        let with = |changes| EditEntry { changes, ..entry(1) };
        let cases = [
            (EditEntry { pass: "../main".into(), ..entry(1) }, "no name of a pass"),
            (EditEntry { group: i64::MAX, ..entry(1) }, "group 9223372036854775807 is out of range"),
            (with(vec![label(1, 2), label(1, 3)]), "changes[1]"),
            (with(vec![label(u32::MAX, 2)]), "changes[0]"),
            (with(vec![Change::InPass { pass: "second".into(), answer: Box::new(label(1, 3)) }]), "changes[0]"),
            (with(vec![Change::InPass { pass: "../x".into(), answer: Box::new(label(1, 2)) }]), "changes[0]"),
            (with(vec![Change::Order { story: "1".into(), sentences: vec![SentenceId(0)] }]), "changes[0]"),
        ];
        for (number, (entry, expected)) in cases.into_iter().enumerate() {
            let path = folder.path().join(number.to_string());
            EditJournal::open(&path).unwrap().0.append(&entry).unwrap();
            let error = EditJournal::open(&path).err().unwrap();
            assert!(error.kind == ErrorKind::Data && error.message.contains(expected), "{error}");
        }
    }
}
