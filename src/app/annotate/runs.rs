//! What runs say about the stories of a project.

use super::super::answer::{Answered, json};
use super::super::models::Models;
use super::page::Page;
use super::state::{Annotation, answer, main_pass, text_of, told};
use crate::annotate::{By, Predictions, Priority, Proposal, Stories};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::TrainedRun;
use crate::untrusted::json_error;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// How long stories are predicted for one request of the order.
const MOST_TIME: Duration = Duration::from_millis(800);

pub(super) fn routes() -> Router<Annotation> {
    Router::new().route("/api/annotate/propose", post(propose)).route("/api/annotate/order", get(order))
}

impl Annotation {
    /// Does something with a run and its predictions, on the thread of the runs.
    async fn with_run<T: Send + 'static>(
        &self,
        run: Option<String>,
        work: impl FnOnce(&TrainedRun, &mut Predictions) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let predictions = self.predictions.clone();
        let name = run.clone().or_else(|| first(&self.models)).unwrap_or_default();
        let work = move |run: &TrainedRun| {
            let mut predictions = predictions.lock().unwrap_or_else(PoisonError::into_inner);
            work(run, predictions.entry(name).or_default())
        };
        self.models.with(run.as_deref(), work).await
    }
}

fn first(models: &Models) -> Option<String> {
    models.known().first().map(|model| model.name.clone())
}

#[derive(Deserialize)]
struct ProposeRequest {
    story: String,
    run: Option<String>,
}

#[derive(Serialize)]
struct ProposeAnswer {
    run: Option<String>,
    #[serde(flatten)]
    proposal: Proposal,
}

async fn propose(State(annotation): State<Annotation>, page: Page, body: Result<Bytes, BytesRejection>) -> Answered {
    let text = text_of(body, &page)?;
    let wrong = |error| Error::data(format!("the request is invalid: {}", json_error(&error)));
    let ProposeRequest { story, run } = serde_json::from_str(&text).map_err(wrong)?;
    let question = match annotation.stories_for(&page).await.and_then(|stories| stories.question(&story)) {
        Ok(question) => question,
        Err(refusal) => return answer::<()>(Err(refusal), &page),
    };
    let name = run.clone().or_else(|| first(&annotation.models));
    let propose = move |run: &TrainedRun, predictions: &mut Predictions| {
        predictions.predict(run, &[&question])?;
        let missing = || Error::new(ErrorKind::Internal, "a story was evaluated to no prediction");
        Ok(Proposal::of(&question, predictions.get(&question).ok_or_else(missing)?))
    };
    let proposal = annotation.with_run(run, propose).await.map_err(|error| told(error, page.lang))?;
    json(&ProposeAnswer { run: name, proposal })
}

#[derive(Deserialize)]
struct OrderQuery {
    #[serde(default = "main_pass")]
    pass: String,
    by: By,
    run: Option<String>,
}

#[derive(Serialize)]
struct OrderAnswer {
    /// Stories that are predicted so far, and all that can be.
    ready: usize,
    total: usize,
    stories: Vec<Priority>,
}

async fn order(
    State(annotation): State<Annotation>,
    page: Page,
    query: Result<Query<OrderQuery>, QueryRejection>,
) -> Answered {
    let Query(OrderQuery { pass, by, run }) = query?;
    let stories = match annotation.stories_for(&page).await {
        Ok(stories) => stories,
        Err(refusal) => return answer::<()>(Err(refusal), &page),
    };
    let order = move |run: &TrainedRun, predictions: &mut Predictions| ordered(run, predictions, &stories, &pass, by);
    json(&annotation.with_run(run, order).await.map_err(|error| told(error, page.lang))?)
}

/// Predicts some more stories, and orders those that are predicted.
fn ordered(
    run: &TrainedRun,
    predictions: &mut Predictions,
    stories: &Stories,
    pass: &str,
    by: By,
) -> Result<OrderAnswer> {
    let mut questions = stories.questions();
    predictions.predict_until(run, &mut questions, Instant::now() + MOST_TIME)?;
    let ready: Vec<_> = questions.iter().filter_map(|question| Some((question, predictions.get(question)?))).collect();
    let (known, total) = (ready.len(), questions.len());
    Ok(OrderAnswer { ready: known, total, stories: stories.order(pass, by, ready) })
}
