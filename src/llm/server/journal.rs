//! The journal: one JSON line an answer, appended as soon as it is there, so that a killed run loses nothing.
//!
//! A key is the SHA-256 of all that the answer depends on. A run that is started again asks only for keys that are
//! missing, and the first answer stays. What the server refused to be told stands before the answers to questions without
//! it. A last line without a line end was torn by a kill; it is dropped.

use super::scored::Scored;
use crate::durable::{self, LineFile};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{self, SchemaVersion};
use crate::untrusted::json_line_error;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The limit for a journal, in bytes: a line has about 200, and a run some thousands of lines.
const MAX_JOURNAL: u64 = 1 << 30;

/// An answer of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    Scored(Scored),
    /// What the model said.
    Said {
        text: String,
    },
    /// A parameter that the server refused; questions were asked without it. No answer.
    LeftOut {
        left_out: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(default)]
    schema_version: SchemaVersion,
    key: String,
    #[serde(flatten)]
    entry: Entry,
}

/// The answers so far, in memory and in a file. Without a file they are in memory only.
pub struct Journal {
    path: PathBuf,
    held: Mutex<Held>,
}

struct Held {
    entries: HashMap<String, Entry>,
    file: Option<LineFile>,
}

/// The key of an answer: SHA-256 of the parts, each with its length.
pub fn key(parts: &[&str]) -> String {
    let text: Vec<String> = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    durable::sha256(text.concat().as_bytes())
}

impl Journal {
    /// One that is gone when the program ends.
    pub fn in_memory() -> Self {
        Journal { path: PathBuf::new(), held: Mutex::new(Held { entries: HashMap::new(), file: None }) }
    }

    /// Reads the file, or creates it. A torn last line is removed from it.
    ///
    /// # Errors
    /// `Data` if another line is not an answer; `CantCreate`, `Io`.
    pub fn open(path: &Path) -> Result<Self> {
        let text = durable::whole_lines(path, MAX_JOURNAL)?;
        let entries = entries(path, &text)?;
        let file = LineFile::open(path, text.len() as u64)?;
        Ok(Journal { path: path.to_owned(), held: Mutex::new(Held { entries, file: Some(file) }) })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // A thread that panicked left whole entries behind.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many answers it has.
    pub fn len(&self) -> usize {
        self.held().entries.values().filter(|entry| !matches!(entry, Entry::LeftOut { .. })).count()
    }

    /// Whether it has no answers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The answer kept under this key, if there is one.
    pub fn get(&self, key: &str) -> Option<Entry> {
        self.held().entries.get(key).cloned()
    }

    /// Keeps an answer, unless there is one; returns the one that is kept.
    ///
    /// # Errors
    /// `Io` if the line can't be written.
    pub fn keep(&self, key: &str, entry: Entry) -> Result<Entry> {
        let mut held = self.held();
        if let Some(first) = held.entries.get(key) {
            return Ok(first.clone());
        }
        let line = Line { schema_version: SchemaVersion, key: key.to_owned(), entry: entry.clone() };
        let line = serde_json::to_string(&line)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("{}: {error}", self.path.display())))?;
        if let Some(file) = &mut held.file {
            file.append(format!("{line}\n").as_bytes())?;
        }
        held.entries.insert(key.to_owned(), entry.clone());
        Ok(entry)
    }

    /// Keeps that the server refused a parameter.
    ///
    /// # Errors
    /// As [`Journal::keep`].
    pub fn keep_left_out(&self, name: &str) -> Result<()> {
        self.keep(&key(&["left out", name]), Entry::LeftOut { left_out: name.to_owned() }).map(drop)
    }

    /// The parameters that the server refused, in order.
    pub fn left_out(&self) -> Vec<String> {
        let name = |entry: &Entry| match entry {
            Entry::LeftOut { left_out } => Some(left_out.clone()),
            _ => None,
        };
        let mut names: Vec<String> = self.held().entries.values().filter_map(name).collect();
        names.sort();
        names
    }

    /// Syncs the file to the disk.
    ///
    /// # Errors
    /// `Io`.
    pub fn sync(&self) -> Result<()> {
        self.held().file.as_ref().map_or(Ok(()), LineFile::sync)
    }
}

/// The answers in whole lines; of two with one key the first.
fn entries(path: &Path, text: &[u8]) -> Result<HashMap<String, Entry>> {
    let mut entries = HashMap::new();
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        // No line depends on another one.
        let remedy = "remove this line, and run the command again";
        let wrong =
            |problem: &str| Error::data(format!("{}: line {}: {problem}; {remedy}", path.display(), number + 1));
        let line: Line = schema::from_slice(line).map_err(|error| wrong(&json_line_error(&error)).caused_by(error))?;
        if let Entry::Scored(scored) = &line.entry {
            scored.check().map_err(|problem| wrong(&problem))?;
        }
        entries.entry(line.key).or_insert(line.entry);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn scored(sum: f64) -> Entry {
        Entry::Scored(Scored { logprobs: vec![sum], is_greedy: true, is_bound: false, is_unaligned: false })
    }

    #[test]
    fn what_was_kept_is_read_again_and_the_first_answer_stays() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("journal.jsonl");
        let journal = Journal::open(&path).unwrap();
        let said = Entry::Said { text: "però\n".into() };
        journal.keep("a", scored(-0.1)).unwrap();
        journal.keep("b", said.clone()).unwrap();
        assert_eq!(journal.keep("a", scored(-0.2)).unwrap(), scored(-0.1));
        journal.sync().unwrap();
        let again = Journal::open(&path).unwrap();
        assert_eq!((again.get("a"), again.get("b"), again.get("c")), (Some(scored(-0.1)), Some(said), None));
        let text = fs::read_to_string(&path).unwrap();
        let line = r#"{"schema_version":1,"key":"a","logprobs":[-0.1],"is_greedy":true}"#;
        assert_eq!(text.lines().next().unwrap(), line);
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn a_torn_last_line_is_dropped_at_every_byte_and_a_wrong_one_is_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("journal.jsonl");
        let journal = Journal::open(&path).unwrap();
        (0..3).for_each(|i| drop(journal.keep(&i.to_string(), scored(-1.)).unwrap()));
        let bytes = fs::read(&path).unwrap();
        let second = bytes.len() / 3 * 2;
        for length in second..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            assert_eq!(Journal::open(&path).unwrap().len(), 2);
            assert_eq!(fs::read(&path).unwrap(), bytes[..second], "cut at {length}");
        }
        fs::write(&path, [&bytes[..second], b"{}\n", &bytes[second..]].concat()).unwrap();
        let error = Journal::open(&path).err().unwrap();
        assert!(error.kind == ErrorKind::Data && error.message.contains("line 3"), "{error}");
        assert!(error.message.ends_with("remove this line, and run the command again"), "{error}");
        fs::write(&path, bytes).unwrap();
        assert_eq!(Journal::open(&path).unwrap().len(), 3, "without this line those after it are kept");
    }

    #[test]
    fn what_is_no_log_probability_is_refused_with_its_line() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("journal.jsonl");
        let first = r#"{"schema_version": 1, "key": "a", "logprobs": [-0.5, 0], "is_greedy": true}"#;
        for (logprobs, problem) in [("[]", "is empty"), ("[-1.0, 0.5]", "0.5 is no log-probability")] {
            let second = first.replace("[-0.5, 0]", logprobs).replace("\"a\"", "\"b\"");
            fs::write(&path, format!("{first}\n{second}\n")).unwrap();
            let error = Journal::open(&path).err().unwrap();
            assert!(error.kind == ErrorKind::Data && error.message.contains("journal.jsonl: line 2: "), "{error}");
            assert!(error.message.contains(problem), "{error}");
        }
    }

    #[test]
    fn what_was_left_out_is_known_again_and_is_no_answer() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("journal.jsonl");
        let journal = Journal::open(&path).unwrap();
        for name in ["temperature", "chat_template_kwargs", "temperature"] {
            journal.keep_left_out(name).unwrap();
        }
        journal.keep("a", scored(-0.1)).unwrap();
        let again = Journal::open(&path).unwrap();
        assert_eq!((again.len(), again.left_out().join(" ")), (1, "chat_template_kwargs temperature".to_owned()));
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
    }

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["1:a"]), key(&["", "a"]));
    }
}
