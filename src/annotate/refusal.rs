//! Why an edit is not made.

use super::change::{Change, EntityId, SentenceId};
use crate::attribute::Attribute;
use crate::error::{Error, ErrorKind};
use serde::Serialize;
use std::fmt;

/// Why an edit is not made. Then nothing of it is made.
#[derive(Debug)]
pub enum EditRefusal {
    /// Somebody else changed the same since the annotator last saw it.
    Clash(Vec<Clash>),
    /// What the edit is about is not there, or not any more.
    Gone(String),
    /// The page was opened for another project.
    OtherProject,
    /// The edit is wrong, or the journal can't be written.
    Failed(Error),
}

/// A field that two edits set to different values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Clash {
    /// The field in words.
    pub what: String,
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
    pub(super) fn data(message: impl Into<String>) -> Self {
        EditRefusal::Failed(Error::data(message))
    }

    /// What went wrong, in a word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            EditRefusal::Clash(_) => "clash",
            EditRefusal::Gone(_) => "gone",
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

impl fmt::Display for EditRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditRefusal::Clash(clashes) => {
                let first = clashes.first();
                let (what, who) = first.map_or(("this", "somebody"), |clash| (&clash.what, &clash.who));
                let more = if clashes.len() > 1 { format!(" (and {} more)", clashes.len() - 1) } else { String::new() };
                write!(f, "{who} changed {what} meanwhile{more}; choose one of the two values")
            }
            EditRefusal::Gone(message) => f.write_str(message),
            EditRefusal::OtherProject => {
                f.write_str("this server has another project; start one for the project of this page")
            }
            EditRefusal::Failed(error) => f.write_str(&error.message),
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
