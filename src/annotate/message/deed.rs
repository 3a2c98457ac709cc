//! What an edit did: for the journal, for undo, and for those who see it.

use super::{InWords, NamedField};
use crate::annotate::op::Direction;

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::annotate) struct Deed {
    /// If it takes another edit back or makes it again.
    pub direction: Option<Direction>,
    /// What it, or that other edit, made.
    pub made: Made,
}

/// What an edit made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::annotate) enum Made {
    /// It set fields: the first one, if there is any, and how many more.
    Changes { first: Option<NamedField>, more: usize },
    /// It took this story and its versions from a story file.
    Import { story: String },
}

impl InWords for Made {
    fn english(&self) -> String {
        match self {
            Made::Changes { first: None, .. } => "nothing".into(),
            Made::Changes { first: Some(first), more: 0 } => first.english(),
            Made::Changes { first: Some(first), more } => format!("{}, and {more} more", first.english()),
            Made::Import { story } => format!("import of story {story}"),
        }
    }

    fn italian(&self) -> String {
        match self {
            Made::Changes { first: None, .. } => "niente".into(),
            Made::Changes { first: Some(first), more: 0 } => first.italian(),
            Made::Changes { first: Some(first), more: 1 } => format!("{}, e un'altra modifica", first.italian()),
            Made::Changes { first: Some(first), more } => format!("{}, e altre {more} modifiche", first.italian()),
            Made::Import { story } => format!("importazione della storia {story}"),
        }
    }
}

impl InWords for Deed {
    fn english(&self) -> String {
        let made = self.made.english();
        self.direction.map_or(made.clone(), |direction| format!("{}: {made}", direction.name()))
    }

    fn italian(&self) -> String {
        let made = self.made.italian();
        match self.direction {
            None => made,
            Some(Direction::Undo) => format!("annullato: {made}"),
            Some(Direction::Redo) => format!("ripetuto: {made}"),
        }
    }
}
