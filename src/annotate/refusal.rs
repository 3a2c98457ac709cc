//! Why an edit is not made.

use super::change::{Change, EntityId, SentenceId};
use super::message::{EditProblem, InWords, NamedField};
use crate::attribute::Attribute;
use crate::error::{Error, ErrorKind};
use serde::Serialize;
use std::fmt;

/// Why an edit is not made. Then nothing of it is made.
#[derive(Debug)]
pub enum EditRefusal {
    /// Somebody else changed the same since the annotator last saw it.
    Clash {
        /// Field by field.
        clashes: Vec<Clash>,
        /// The story that the edit is about.
        story: String,
        /// The revision of what is told here.
        revision: u64,
    },
    /// The edit can't be made; what it is about may not be there any more.
    Problem(EditProblem),
    /// The page was opened for another project.
    OtherProject,
    /// A program sent a wrong edit, or the journal can't be written.
    Failed(Error),
}

/// A field that two edits set to different values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Clash {
    /// The field, which the annotator is told in words.
    #[serde(skip)]
    pub what: NamedField,
    /// Whose label it is, if it is a label.
    pub entity: Option<EntityId>,
    /// In which sentence, if the field is of a sentence.
    pub sentence: Option<SentenceId>,
    /// Of which attribute, if it is a label.
    pub attribute: Option<Attribute>,
    /// The value that the refused edit would have set.
    pub yours: serde_json::Value,
    /// The value that is there.
    pub theirs: serde_json::Value,
    /// Who set it.
    pub who: String,
    /// When, in RFC 3339.
    pub at: String,
}

impl EditRefusal {
    /// What no annotator can do on the page, only a program.
    pub(super) fn data(message: impl Into<String>) -> Self {
        EditRefusal::Failed(Error::data(message))
    }

    /// What went wrong, in a word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            EditRefusal::Clash { .. } => "clash",
            EditRefusal::Problem(problem) => problem.kind(),
            EditRefusal::OtherProject => "other_project",
            EditRefusal::Failed(error) => match error.kind {
                ErrorKind::Data => "data",
                ErrorKind::Io | ErrorKind::CantCreate => "io",
                ErrorKind::Unavailable => "unavailable",
                _ => "internal",
            },
        }
    }
}

impl From<Error> for EditRefusal {
    fn from(error: Error) -> Self {
        EditRefusal::Failed(error)
    }
}

impl From<EditProblem> for EditRefusal {
    fn from(problem: EditProblem) -> Self {
        EditRefusal::Problem(problem)
    }
}

impl fmt::Display for EditRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.english())
    }
}

impl InWords for EditRefusal {
    fn english(&self) -> String {
        match self {
            EditRefusal::Clash { clashes, .. } => {
                let what = clashes.first().map_or("this".into(), |clash| clash.what.english());
                let who = clashes.first().map_or("somebody", |clash| &clash.who);
                let more = if clashes.len() > 1 { format!(" (and {} more)", clashes.len() - 1) } else { String::new() };
                format!("{who} changed {what} meanwhile{more}; choose one of the two values")
            }
            EditRefusal::Problem(problem) => problem.english(),
            EditRefusal::OtherProject => {
                "this server has another project; start one for the project of this page".into()
            }
            EditRefusal::Failed(error) => error.english(),
        }
    }

    fn italian(&self) -> String {
        match self {
            EditRefusal::Clash { clashes, .. } => {
                let what = clashes.first().map_or("questo".into(), |clash| clash.what.italian());
                let who = clashes.first().map_or("qualcuno", |clash| &clash.who);
                let more = if clashes.len() > 1 { format!(" (e altro: {})", clashes.len() - 1) } else { String::new() };
                format!("intanto {who} ha cambiato {what}{more}; scegli uno dei due valori")
            }
            EditRefusal::Problem(problem) => problem.italian(),
            EditRefusal::OtherProject => {
                "a questo indirizzo ora c'è un altro progetto; ricarica la pagina per vederlo".into()
            }
            EditRefusal::Failed(error) => error.italian(),
        }
    }
}

/// The value that a change sets, without the field.
pub(super) fn value(change: &Change) -> serde_json::Value {
    use serde_json::json;
    match change {
        Change::Story { exists, .. } => json!(exists),
        Change::Order { sentences, .. } => json!(sentences),
        Change::Member { is, .. } => json!(is),
        Change::Text { text, .. } => json!(text),
        Change::Entity { is, .. } => json!(is),
        Change::Actor { entity } => json!(entity),
        Change::Location { text } => json!(text),
        Change::Label { label, .. } => json!(label),
        Change::Conflict { conflict, .. } => json!(conflict),
        Change::Done { done, .. } => json!(done),
        // A pass shows nothing of another one.
        Change::InPass { .. } => json!(null),
    }
}
