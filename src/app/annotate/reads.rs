//! What is read of a project.

use super::super::answer::{Answered, json};
use super::state::{Annotation, answer, main_pass};
use crate::annotate::StoryFormat;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::routing::get;
use serde::Deserialize;

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

async fn project(State(annotation): State<Annotation>, query: Result<Query<ProjectQuery>, QueryRejection>) -> Answered {
    let Query(ProjectQuery { pass }) = query?;
    answer(annotation.with(move |project| Ok(project.view(&pass))).await)
}

#[derive(Deserialize)]
struct StoryQuery {
    story: String,
    #[serde(default = "main_pass")]
    pass: String,
    #[serde(default)]
    who: String,
}

async fn story(State(annotation): State<Annotation>, query: Result<Query<StoryQuery>, QueryRejection>) -> Answered {
    let Query(StoryQuery { story, pass, who }) = query?;
    answer(annotation.with(move |project| project.story(&story, &pass, &who)).await)
}

#[derive(Deserialize)]
struct EventsQuery {
    since: u64,
    #[serde(default = "main_pass")]
    pass: String,
}

async fn events(State(annotation): State<Annotation>, query: Result<Query<EventsQuery>, QueryRejection>) -> Answered {
    let Query(EventsQuery { since, pass }) = query?;
    answer(annotation.with(move |project| Ok(project.events(since, &pass))).await)
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

async fn export(State(annotation): State<Annotation>, query: Result<Query<ExportQuery>, QueryRejection>) -> Answered {
    let Query(ExportQuery { pass, format, split }) = query?;
    if let Err(refusal) = annotation.save().await {
        return answer::<()>(Err(refusal));
    }
    let stories = match annotation.stories().await {
        Ok(stories) => stories,
        Err(refusal) => return answer::<()>(Err(refusal)),
    };
    json(&Annotation::blocking(move || stories.export(&pass, format, &split)).await?)
}
