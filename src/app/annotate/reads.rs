//! What is read of a project.

use super::super::answer::Answered;
use super::left_out::LeftOutAnswer;
use super::page::Page;
use super::state::{Annotation, answer, main_pass};
use crate::annotate::{EditRefusal, Export, Project, StoryFormat};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::routing::get;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) fn routes() -> Router<Annotation> {
    Router::new()
        .route("/api/annotate/project", get(project))
        .route("/api/annotate/story", get(story))
        .route("/api/annotate/events", get(events))
        .route("/api/annotate/export", get(export))
}

#[derive(Deserialize)]
struct ProjectQuery {
    #[serde(default = "main_pass")]
    pass: String,
}

async fn project(
    State(annotation): State<Annotation>,
    page: Page,
    query: Result<Query<ProjectQuery>, QueryRejection>,
) -> Answered {
    let Query(ProjectQuery { pass }) = query?;
    answer(annotation.with(move |project| Ok(project.view(&pass))).await, &page)
}

#[derive(Deserialize)]
struct StoryQuery {
    story: String,
    #[serde(default = "main_pass")]
    pass: String,
    #[serde(default)]
    who: String,
}

async fn story(
    State(annotation): State<Annotation>,
    page: Page,
    query: Result<Query<StoryQuery>, QueryRejection>,
) -> Answered {
    let Query(StoryQuery { story, pass, who }) = query?;
    let asking = page.clone();
    let read = move |project: &mut Project| {
        asking.require(project)?;
        project.story(&story, &pass, &who, asking.lang)
    };
    answer(annotation.with(read).await, &page)
}

#[derive(Deserialize)]
struct EventsQuery {
    since: u64,
    #[serde(default = "main_pass")]
    pass: String,
}

async fn events(
    State(annotation): State<Annotation>,
    page: Page,
    query: Result<Query<EventsQuery>, QueryRejection>,
) -> Answered {
    let Query(EventsQuery { since, pass }) = query?;
    answer(annotation.with(move |project| Ok(project.events(since, &pass, page.lang))).await, &page)
}

#[derive(Deserialize)]
struct ExportQuery {
    #[serde(default = "main_pass")]
    pass: String,
    #[serde(default)]
    format: StoryFormat,
    #[serde(default = "test_split")]
    split: String,
}

fn test_split() -> String {
    "test".to_owned()
}

#[derive(Serialize)]
struct ExportAnswer {
    /// The story file.
    file: Value,
    left_out: Vec<LeftOutAnswer>,
}

async fn export(
    State(annotation): State<Annotation>,
    page: Page,
    query: Result<Query<ExportQuery>, QueryRejection>,
) -> Answered {
    let Query(ExportQuery { pass, format, split }) = query?;
    answer(exported(&annotation, &page, pass, format, split).await, &page)
}

async fn exported(
    annotation: &Annotation,
    page: &Page,
    pass: String,
    format: StoryFormat,
    split: String,
) -> Result<ExportAnswer, EditRefusal> {
    let stories = annotation.stories_for(page).await?;
    annotation.save().await;
    let Export { file, left_out } = Annotation::blocking(move || stories.export(&pass, format, &split)).await?;
    Ok(ExportAnswer { file, left_out: LeftOutAnswer::list(left_out, page.lang) })
}
