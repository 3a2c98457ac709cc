//! What others did since an annotator last looked.

use super::change::Change;
use super::history::Edit;
use super::journal::EditEntry;
use super::message::InWords;
use super::project::Project;
use crate::language::Language;
use serde::Serialize;

/// How many events are told at once.
const MOST: usize = 1000;

/// Edits since a revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditEvents {
    /// [`Project::id`].
    pub project: String,
    /// Up to which edit they go.
    pub revision: u64,
    /// The edits that can be seen in the pass.
    pub events: Vec<EditEvent>,
    /// Whether there are more.
    pub more: bool,
}

/// An edit, without its changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // as in the journal, but `what` is in the language that was asked for
pub struct EditEvent {
    pub revision: u64,
    pub at: String,
    pub who: String,
    pub window: String,
    pub story: String,
    pub group: i64,
    pub what: String,
}

impl Project {
    /// The edits after revision `since` that can be seen in a pass: those of the text, and those of its answers.
    pub fn events(&self, since: u64, pass: &str, language: Language) -> EditEvents {
        let start = usize::try_from(since).unwrap_or(usize::MAX).min(self.history.edits.len());
        let later = &self.history.edits[start..];
        let is_seen = |edit: &&Edit| edit.entry.pass == pass || !edit.entry.changes.iter().all(Change::is_answer);
        let seen = later.iter().take(MOST).filter(is_seen);
        EditEvents {
            project: self.id().to_owned(),
            revision: (start + later.len().min(MOST)) as u64,
            events: seen.map(|edit| event(edit, language)).collect(),
            more: later.len() > MOST,
        }
    }
}

fn event(Edit { entry, deed, .. }: &Edit, language: Language) -> EditEvent {
    let EditEntry { revision, at, who, window, story, group, .. } = entry.clone();
    EditEvent { revision, at, who, window, story, group, what: deed.words(language) }
}
