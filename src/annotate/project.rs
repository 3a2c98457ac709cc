//! A project: a folder with stories, their annotations and the journal of all edits.

use super::describe::deed;
use super::history::{Edit, History};
use super::journal::{EditEntry, EditJournal};
use super::stories::Stories;
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of hints of each story of a group in a pass, and the revision of the group in which they were counted.
pub(super) type HintCounts = HashMap<(i64, String), (u64, Vec<usize>)>;

/// A project that this process works on; no other process can.
pub struct Project {
    id: String,
    pub(super) folder: PathBuf,
    _lock: Lock,
    pub(super) journal: EditJournal,
    pub(super) stories: Stories,
    pub(super) history: History,
    pub(super) counted: RefCell<HintCounts>,
}

impl Project {
    /// Opens the project in a folder, or begins one in a folder that is empty or not there.
    ///
    /// # Errors
    /// `CantCreate` if another process works on it, or it is no folder of a project; `Data` if the journal is
    /// damaged; `Io`.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("journal.jsonl");
        if !path.exists() {
            require_empty(folder)?;
            durable::create_folder(folder)?;
        }
        let lock = Lock::try_take(&folder.join("lock"))?.ok_or_else(|| {
            let remedy = "open the address that it printed, or end it with Ctrl-C";
            let message = format!("{}: another tiered app works on this project; {remedy}", folder.display());
            Error::new(ErrorKind::CantCreate, message)
        })?;
        durable::remove_leftovers(folder)?;
        let (journal, entries) = EditJournal::open(&path)?;
        let file = path.metadata().map_err(|error| Error::reading(&path, &error))?;
        let mut project = Project {
            id: id(folder, &file),
            folder: folder.to_owned(),
            _lock: lock,
            journal,
            stories: Stories::default(),
            history: History::default(),
            counted: RefCell::default(),
        };
        entries.into_iter().for_each(|entry| project.make(entry));
        Ok(project)
    }

    /// Tells it from other projects, also from one that was in the same folder before: a page that was opened for one may
    /// reach the server of another.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder of the project.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The stories as they are now.
    pub fn stories(&self) -> &Stories {
        &self.stories
    }

    /// The number of edits so far.
    pub fn revision(&self) -> u64 {
        self.history.revision()
    }

    /// Writes the story files: a program that was killed may not have come to it.
    ///
    /// # Errors
    /// `Io`.
    pub fn refresh_story_files(&self) -> Result<()> {
        self.stories.save(&self.folder)
    }

    /// Makes an edit of the journal.
    pub(super) fn make(&mut self, entry: EditEntry) {
        let group = Arc::make_mut(self.stories.groups.entry(entry.group).or_default());
        let before = entry.changes.iter().map(|change| group.apply(&entry.pass, change)).collect();
        let deed = deed(&entry, group, &self.history);
        self.stories.passes.insert(entry.pass.clone());
        self.history.push(Edit { entry, before, deed });
    }
}

/// By the folder and the file of its journal; the number of a file that was removed may be used again.
fn id(folder: &Path, journal: &Metadata) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let file = format!("\n{} {:?}", journal.ino(), journal.created().ok());
    durable::sha256(&[folder.as_os_str().as_encoded_bytes(), file.as_bytes()].concat())[..16].to_owned()
}

/// # Errors
/// `CantCreate` if the folder has anything in it.
fn require_empty(folder: &Path) -> Result<()> {
    let mut entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            let message = format!("{}: is not a folder; choose an empty or a new folder", folder.display());
            return Err(Error::new(ErrorKind::CantCreate, message));
        }
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
