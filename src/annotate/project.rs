//! A project: a folder with stories, their annotations and the journal of all edits.

use super::group::Group;
use super::history::{Edit, History};
use super::journal::{Entry, Journal};
use super::refusal::Refusal;
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The pass that every project has.
pub const MAIN_PASS: &str = "main";

/// A project that this process works on; no other process can.
pub struct Project {
    pub(super) folder: PathBuf,
    _lock: Lock,
    pub(super) journal: Journal,
    pub(super) groups: BTreeMap<i64, Group>,
    pub(super) history: History,
    pub(super) passes: BTreeSet<String>,
}

impl Project {
    /// Opens the project in a folder, or begins one in a folder that is empty or not there.
    ///
    /// # Errors
    /// `CantCreate` if another process works on it, or the folder has other things in it; `Data` if the journal is
    /// damaged; `Io`.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("journal.jsonl");
        if !path.exists() {
            require_empty(folder)?;
            durable::create_folder(folder)?;
        }
        let lock = Lock::take(&folder.join("lock"))?;
        durable::remove_leftovers(folder)?;
        let (journal, entries) = Journal::open(&path)?;
        let mut project = Project {
            folder: folder.to_owned(),
            _lock: lock,
            journal,
            groups: BTreeMap::new(),
            history: History::default(),
            passes: BTreeSet::from([MAIN_PASS.to_owned()]),
        };
        entries.into_iter().for_each(|entry| project.make(entry));
        Ok(project)
    }

    /// The folder of the project.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The number of edits so far.
    pub fn revision(&self) -> u64 {
        self.history.revision()
    }

    /// Makes an edit of the journal.
    pub(super) fn make(&mut self, entry: Entry) {
        let group = self.groups.entry(entry.group).or_default();
        let before = entry.changes.iter().map(|change| group.apply(&entry.pass, change)).collect();
        self.passes.insert(entry.pass.clone());
        self.history.push(Edit { entry, before });
    }

    /// The group of a story that is there.
    pub(super) fn number_of(&self, story: &str) -> Result<i64, Refusal> {
        let number = story.split('-').next().and_then(|number| number.parse().ok());
        let number = number.filter(|number| self.groups.get(number).is_some_and(|group| group.story(story).is_some()));
        number.ok_or_else(|| Refusal::Gone(format!("there is no story {story:?}; it may have been removed")))
    }

    pub(super) fn free_number(&self) -> i64 {
        self.groups.last_key_value().map_or(1, |(last, _)| last + 1)
    }
}

/// # Errors
/// `CantCreate` if the folder has anything in it.
fn require_empty(folder: &Path) -> Result<()> {
    let mut entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| Error::reading(folder, &error))?,
    };
    let other = entries.find_map(|entry| entry.ok().filter(|entry| entry.file_name() != "lock"));
    match other {
        None => Ok(()),
        Some(other) => {
            let message = format!(
                "{}: is no annotation project (it has {:?} and no journal.jsonl); choose an empty or a new folder",
                folder.display(),
                other.file_name().to_string_lossy()
            );
            Err(Error::new(ErrorKind::CantCreate, message))
        }
    }
}
