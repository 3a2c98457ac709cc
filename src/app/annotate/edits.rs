//! Edits of a project.

use super::super::answer::Answered;
use super::left_out::LeftOutAnswer;
use super::page::{Page, require_own};
use super::state::{Annotation, answer, main_pass, text_of};
use crate::annotate::{
    AnnotatedStory, Direction, EditProblem, EditRefusal, Edited, FindingLine, Imported, ImportedStory, InWords,
    OnClash, Op, Project, Sender,
};
use crate::data::read_bytes;
use crate::error::Error;
use crate::untrusted::json_error;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::routing::post;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes of a story file that is imported: ten times GITA.
const MAX_IMPORT: usize = 64 << 20;

pub(super) fn routes() -> Router<Annotation> {
    Router::new()
        .route("/api/annotate/edit", post(edit))
        .route("/api/annotate/undo", post(|state, page, body| go(state, page, body, Direction::Undo)))
        .route("/api/annotate/redo", post(|state, page, body| go(state, page, body, Direction::Redo)))
        .route("/api/annotate/import", post(import).layer(DefaultBodyLimit::max(MAX_IMPORT)))
}

/// Who sends a request.
#[derive(Deserialize)]
struct From {
    who: String,
    window: String,
    n: u64,
    #[serde(default = "main_pass")]
    pass: String,
    #[serde(default)]
    on_clash: OnClash,
    /// The revision that the annotator saw when choosing so.
    seen: Option<u64>,
    /// The project for which the page was opened.
    project: Option<String>,
}

impl From {
    /// # Errors
    /// `OtherProject` if it is about another project.
    fn sender_to(&self, project: &Project) -> Result<Sender<'_>, EditRefusal> {
        require_own(self.project.as_deref(), project)?;
        let From { who, window, n, pass, on_clash, seen, .. } = self;
        Ok(Sender { who, window, n: *n, pass, on_clash: *on_clash, seen: *seen })
    }
}

#[derive(Deserialize)]
struct EditRequest {
    #[serde(flatten)]
    from: From,
    base: u64,
    story: Option<String>,
    ops: Vec<Op>,
}

#[derive(Deserialize)]
struct GoRequest {
    #[serde(flatten)]
    from: From,
}

#[derive(Deserialize)]
struct ImportRequest {
    #[serde(flatten)]
    from: From,
    text: String,
    split: Option<String>,
}

/// What became of an edit, and how the story is now.
#[derive(Serialize)]
struct EditAnswer {
    revision: u64,
    story: String,
    repeated: bool,
    /// `None` if the story is not there any more.
    view: Option<AnnotatedStory>,
}

impl EditAnswer {
    fn of(project: &Project, from: &From, edited: Edited, page: &Page) -> Self {
        let Edited { revision, story, repeated } = edited;
        let view = project.story(&story, &from.pass, &from.who, page.lang).ok();
        EditAnswer { revision, story, repeated, view }
    }
}

fn request<T: DeserializeOwned>(text: &str) -> Result<T, EditRefusal> {
    let wrong = |error| Error::data(format!("the request is invalid: {}", json_error(&error)));
    serde_json::from_str(text).map_err(|error| wrong(error).into())
}

async fn edit(State(annotation): State<Annotation>, page: Page, body: Result<Bytes, BytesRejection>) -> Answered {
    let text = text_of(body, &page)?;
    let asking = page.clone();
    let work = move |project: &mut Project| {
        let EditRequest { from, base, story, ops } = request(&text)?;
        asking.require(project)?;
        let edited = project.edit(from.sender_to(project)?, base, story.as_deref(), &ops)?;
        Ok(EditAnswer::of(project, &from, edited, &asking))
    };
    annotation.save_soon();
    answer(annotation.with(work).await, &page)
}

async fn go(
    State(annotation): State<Annotation>,
    page: Page,
    body: Result<Bytes, BytesRejection>,
    direction: Direction,
) -> Answered {
    let text = text_of(body, &page)?;
    let asking = page.clone();
    let work = move |project: &mut Project| {
        let GoRequest { from } = request(&text)?;
        asking.require(project)?;
        let edited = project.go(from.sender_to(project)?, direction)?;
        Ok(EditAnswer::of(project, &from, edited, &asking))
    };
    annotation.save_soon();
    answer(annotation.with(work).await, &page)
}

#[derive(Serialize)]
struct ImportAnswer {
    revision: u64,
    stories: Vec<ImportedStory>,
    left_out: Vec<LeftOutAnswer>,
    /// What was found in the file, one a line, the worst first.
    findings: Vec<String>,
}

async fn import(State(annotation): State<Annotation>, page: Page, body: Result<Bytes, BytesRejection>) -> Answered {
    let text = text_of(body, &page)?;
    let asking = page.clone();
    let work = move |project: &mut Project| {
        let ImportRequest { from, text, split } = request(&text)?;
        asking.require(project)?;
        let no_file = |Error { message, .. }| EditProblem::NoStoryFile { message };
        let file = read_bytes("the story file".as_ref(), text.as_bytes()).map_err(no_file)?;
        let Imported { stories, left_out, mut findings } =
            project.import(from.sender_to(project)?, &file, split.as_deref())?;
        findings.sort_by_key(|finding| finding.severity);
        let findings = findings.iter().map(|finding| FindingLine(finding).words(asking.lang)).collect();
        let left_out = LeftOutAnswer::list(left_out, asking.lang);
        Ok(ImportAnswer { revision: project.revision(), stories, left_out, findings })
    };
    annotation.save_soon();
    answer(annotation.with(work).await, &page)
}
