//! The answers of a model as it gave them, one JSON line each: to read, and to go on with after a stop.

use super::answer::{UNANSWERED, read_answer};
use crate::durable;
use crate::error::{Error, Result};
use crate::schema::{self, SchemaVersion};
use crate::untrusted;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A line of the log.
#[derive(Serialize, Deserialize)]
struct Record {
    system: String,
    /// Number of the item, from 0.
    item: usize,
    prompt_sha256: String,
    /// What was read from the text; 2 if nothing.
    answer: u8,
    text: String,
}

/// Answers that were written down, and the file to which new ones are appended.
pub struct AnswerLog {
    path: PathBuf,
    system: String,
    /// SHA-256 of the prompt -> what the model answered.
    known: HashMap<String, String>,
    file: Mutex<File>,
}

impl AnswerLog {
    /// Opens the log of a system, or creates it. A last line that a stop cut off is dropped.
    ///
    /// # Errors
    /// `Data` if a line is no answer, or one of another system; `CantCreate`, `Io`.
    pub fn open(path: &Path, system: &str) -> Result<Self> {
        let bytes =
            untrusted::read_if_there(path, untrusted::MAX_BATCH).map_err(|error| Error::reading(path, &error))?;
        let bytes = bytes.unwrap_or_default();
        let whole = &bytes[..bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)];
        if whole.len() < bytes.len() {
            durable::replace(path, whole)?;
        }
        let known = known(whole, system).map_err(|message| Error::data(message).about(path.display()))?;
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = Mutex::new(file.map_err(|error| Error::writing(path, &error))?);
        Ok(AnswerLog { path: path.to_owned(), system: system.to_owned(), known, file })
    }

    /// How many answers were there when the log was opened.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The answer to a prompt with this hash, if the log had one when it was opened.
    pub(super) fn known(&self, prompt_sha256: &str) -> Option<&str> {
        self.known.get(prompt_sha256).map(String::as_str)
    }

    /// Appends an answer.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn append(&self, item: usize, prompt_sha256: &str, text: &str) -> Result<()> {
        let record = Record {
            system: self.system.clone(),
            item,
            prompt_sha256: prompt_sha256.to_owned(),
            answer: read_answer(text).unwrap_or(UNANSWERED),
            text: text.to_owned(),
        };
        let line = schema::to_string(&record).expect("text can be written as JSON") + "\n";
        let mut file = self.file.lock().expect("no thread panicked");
        file.write_all(line.as_bytes()).map_err(|error| Error::writing(&self.path, &error))
    }
}

fn known(bytes: &[u8], system: &str) -> Result<HashMap<String, String>, String> {
    let mut known = HashMap::new();
    for (number, line) in untrusted::text(bytes)?.lines().enumerate() {
        let wrong = |message: String| format!("line {}: {message}; remove the file to ask again", number + 1);
        let record: Record = schema::from_str(line).map_err(|error| wrong(untrusted::json_error(&error)))?;
        if record.system != system {
            return Err(wrong(format!("it is an answer of {}, not of {system}", untrusted::shown(&record.system, 80))));
        }
        // The first answer stays.
        known.entry(record.prompt_sha256).or_insert(record.text);
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_answered_is_known_after_a_stop_in_the_middle_of_a_line() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("answers.jsonl");
        let log = AnswerLog::open(&path, "a:1b").unwrap();
        assert!(log.is_empty());
        log.append(0, "aa", "{\"answer\": 1}").unwrap();
        log.append(1, "bb", "I\ndon't know").unwrap();
        log.append(2, "bb", "{\"answer\": 0}").unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"{\"schema_version\": 1, \"syst"].concat()).unwrap();
        let log = AnswerLog::open(&path, "a:1b").unwrap();
        assert_eq!((log.len(), log.known("aa"), log.known("cc")), (2, Some("{\"answer\": 1}"), None));
        assert_eq!(log.known("bb"), Some("I\ndon't know"), "the first answer stays");
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    #[test]
    fn another_systems_answers_are_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("answers.jsonl");
        AnswerLog::open(&path, "a").unwrap().append(0, "aa", "1").unwrap();
        let said = AnswerLog::open(&path, "b").err().unwrap().message;
        assert!(said.ends_with("line 1: it is an answer of a, not of b; remove the file to ask again"), "{said}");
        std::fs::write(&path, "no JSON\n").unwrap();
        assert!(AnswerLog::open(&path, "a").err().unwrap().message.contains("line 1: expected"));
    }
}
