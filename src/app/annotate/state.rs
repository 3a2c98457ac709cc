//! What the routes of a project share.

use super::super::answer::{Answered, Refusal, body_text, json, json_text};
use super::super::models::Models;
use super::page::Page;
use crate::annotate::{Clash, EditProblem, EditRefusal, InWords, MAIN_PASS, Predictions, Project, Stories};
use crate::error::{Error, ErrorKind, Result};
use crate::language::Language;
use crate::say::aside;
use crate::schema;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long after an edit the story files are written. The journal has the edit at once.
const SAVE_AFTER: Duration = Duration::from_secs(30);

/// The project of the server.
#[derive(Clone)]
pub(super) struct Annotation {
    project: Arc<Mutex<Project>>,
    folder: PathBuf,
    /// Held while the story files are written.
    saving: Arc<tokio::sync::Mutex<()>>,
    /// Whether the story files are about to be written.
    is_saving: Arc<AtomicBool>,
    pub models: Models,
    /// By the name of the run.
    pub predictions: Arc<Mutex<HashMap<String, Predictions>>>,
}

impl Annotation {
    pub fn new(project: Project, models: Models) -> Self {
        let folder = project.folder().to_owned();
        let (project, predictions) = (Arc::new(Mutex::new(project)), Arc::default());
        Annotation { project, folder, saving: Arc::default(), is_saving: Arc::default(), models, predictions }
    }

    fn lock(&self) -> MutexGuard<'_, Project> {
        // An edit is made when it is in the journal: a thread that panicked before left the project as it was.
        self.project.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the project, on a thread that may wait for the disk.
    pub async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Project) -> Result<T, EditRefusal> + Send + 'static,
    ) -> Result<T, EditRefusal> {
        let annotation = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&mut annotation.lock())).await;
        done.unwrap_or_else(|_| Err(failed().into()))
    }

    /// The stories as they are now.
    pub async fn stories(&self) -> Result<Stories, EditRefusal> {
        self.with(|project| Ok(project.stories().clone())).await
    }

    /// The stories as they are now, for a page of this project.
    ///
    /// # Errors
    /// `OtherProject` if the page was opened for another one.
    pub async fn stories_for(&self, page: &Page) -> Result<Stories, EditRefusal> {
        let page = page.clone();
        self.with(move |project| page.require(project).map(|()| project.stories().clone())).await
    }

    /// Does something that takes long, on a thread of its own.
    pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(failed()))
    }

    /// Writes the story files some time after an edit.
    pub fn save_soon(&self) {
        if self.is_saving.swap(true, Ordering::SeqCst) {
            return;
        }
        let annotation = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(SAVE_AFTER).await;
            annotation.is_saving.store(false, Ordering::SeqCst);
            annotation.save().await;
        });
    }

    /// Writes the story files, or warns: all that is in them is in the journal.
    pub async fn save(&self) {
        let _only = self.saving.lock().await; // an older state does not replace a newer one
        if let Err(error) = self.try_to_save().await {
            aside!("warning: the story files could not be written: {error}; the journal has everything");
        }
    }

    async fn try_to_save(&self) -> Result<(), EditRefusal> {
        let (stories, folder) = (self.stories().await?, self.folder.clone());
        Ok(Self::blocking(move || stories.save(&folder)).await?)
    }
}

/// The pass of a request that names none.
pub(super) fn main_pass() -> String {
    MAIN_PASS.to_owned()
}

fn failed() -> Error {
    Error::new(ErrorKind::Internal, "the request failed; the terminal of tiered app says why")
}

#[derive(Serialize)]
struct Problem<'a> {
    error: Reason<'a>,
}

#[derive(Serialize)]
struct Reason<'a> {
    kind: &'static str,
    message: String,
    #[serde(flatten)]
    clashes: Option<ToldClashes<'a>>,
}

/// What somebody else changed, up to a revision. The ids are those of the story's group.
#[derive(Serialize)]
struct ToldClashes<'a> {
    clash: Vec<ToldClash<'a>>,
    story: &'a str,
    revision: u64,
}

/// A clash in the language of the page.
#[derive(Serialize)]
struct ToldClash<'a> {
    what: String,
    #[serde(flatten)]
    clash: &'a Clash,
}

/// An error of a run, in the language of the page.
pub(super) fn told(error: Error, language: Language) -> Refusal {
    tell_terminal(&error);
    let message = match error.kind {
        ErrorKind::Data => EditProblem::TooLongForRun { message: error.message.clone() }.words(language),
        _ => error.words(language),
    };
    Error { message, ..error }.into()
}

/// The body of a request as text.
pub(super) fn text_of(body: Result<Bytes, BytesRejection>, page: &Page) -> Result<String, Refusal> {
    match body {
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, EditProblem::RequestTooLarge.words(page.lang)))
        }
        body => body_text(body),
    }
}

/// The document as an answer, or why there is none, in the language of the page.
pub(super) fn answer<T: Serialize>(done: Result<T, EditRefusal>, page: &Page) -> Answered {
    let refusal = match done {
        Ok(document) => return json(&document),
        Err(refusal) => refusal,
    };
    if let EditRefusal::Failed(error) = &refusal {
        tell_terminal(error);
    }
    let status = match refusal.kind() {
        "clash" | "other_project" => StatusCode::CONFLICT,
        "gone" => StatusCode::NOT_FOUND,
        "data" => StatusCode::UNPROCESSABLE_ENTITY,
        "io" => StatusCode::INSUFFICIENT_STORAGE,
        "unavailable" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let clashes = match &refusal {
        EditRefusal::Clash { clashes, story, revision } => {
            let told = clashes.iter().map(|clash| ToldClash { what: clash.what.words(page.lang), clash });
            Some(ToldClashes { clash: told.collect(), story, revision: *revision })
        }
        _ => None,
    };
    let error = Reason { kind: refusal.kind(), message: refusal.words(page.lang), clashes };
    let text =
        schema::to_string(&Problem { error }).map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
    Ok((status, json_text(text)).into_response())
}

/// Says on the terminal what went wrong here, with paths and causes; the page tries again, but it is said once.
fn tell_terminal(error: &Error) {
    static LAST: Mutex<String> = Mutex::new(String::new());
    if matches!(error.kind, ErrorKind::Data | ErrorKind::Usage) {
        return;
    }
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if *last != error.message {
        aside!("warning: {error}");
        last.clone_from(&error.message);
    }
}
