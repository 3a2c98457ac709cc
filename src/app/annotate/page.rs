//! What every request may say in its address about the page that sends it.

use super::super::answer::Refusal;
use crate::annotate::{EditRefusal, Project};
use crate::language::Language;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::Deserialize;

/// The page that sends a request.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Page {
    /// Its language, in which it is answered: `lang=it`.
    #[serde(default = "english")]
    pub lang: Language,
    /// The project for which it was opened.
    project: Option<String>,
}

fn english() -> Language {
    Language::English
}

impl<S: Send + Sync> FromRequestParts<S> for Page {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Query(page) = Query::from_request_parts(parts, state).await?;
        Ok(page)
    }
}

impl Page {
    /// # Errors
    /// `OtherProject` if the page was opened for another project.
    pub fn require(&self, project: &Project) -> Result<(), EditRefusal> {
        require_own(self.project.as_deref(), project)
    }
}

/// # Errors
/// `OtherProject` if another project is wanted.
pub(super) fn require_own(wanted: Option<&str>, project: &Project) -> Result<(), EditRefusal> {
    match wanted.is_some_and(|wanted| wanted != project.id()) {
        true => Err(EditRefusal::OtherProject),
        false => Ok(()),
    }
}
