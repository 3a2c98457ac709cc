//! `/api/models`, `/api/predict` and `/api/explain`: what the runs say about stories.

use super::answer::{Answered, Refusal, body_text, json, json_text};
use super::explain::Explanation;
use super::models::{Model, Models};
use crate::data::Sentences;
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::TrainedRun;
use crate::language::Language;
use crate::question::{Decoding, Judged, PairQuestion, TextOptions, judge};
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

/// What errors call the text of a request.
const SOURCE: &str = "the text";

/// `project`: whether there is an annotation project, for the page.
pub fn routes(models: Models, project: bool) -> Router {
    Router::new()
        .route("/api/models", get(move |State(models): State<Models>| list(models, project)))
        .route("/api/predict", post(predict))
        .route("/api/explain", post(explain))
        .with_state(models)
}

#[derive(Serialize)]
struct Known<'a> {
    version: &'static str,
    project: bool,
    models: &'a [Model],
}

async fn list(models: Models, project: bool) -> Answered {
    json(&Known { version: env!("CARGO_PKG_VERSION"), project, models: models.known() })
}

/// The arguments of `tiered predict`, in the address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    model: Option<String>,
    lang: Option<Language>,
    #[serde(default)]
    split_sentences: bool,
    decode: Option<Decode>,
    states: Option<StateDecode>,
    #[serde(default)]
    augment: bool,
}

impl Arguments {
    fn text_options(&self) -> TextOptions {
        let sentences = if self.split_sentences { Sentences::Split } else { Sentences::AsGiven };
        TextOptions { sentences, language: self.lang, ..TextOptions::default() }
    }

    fn decoding(&self) -> Decoding {
        Decoding { conflicts: self.decode, states: self.states, augment: self.augment, language: self.lang }
    }
}

/// What `tiered predict --format json` prints about the same text.
async fn predict(
    State(models): State<Models>,
    arguments: Result<Query<Arguments>, QueryRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Answered {
    let asked = asked(&models, arguments, body, |judged, _| judged.answer.to_json());
    Ok(json_text(asked.await?).into_response())
}

/// The same answer, with all states and their probabilities.
async fn explain(
    State(models): State<Models>,
    arguments: Result<Query<Arguments>, QueryRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Answered {
    json(&asked(&models, arguments, body, Explanation::new).await?)
}

/// Asks a run, and makes something of its answer and of what a person should know about the text.
async fn asked<T: Send + 'static>(
    models: &Models,
    arguments: Result<Query<Arguments>, QueryRejection>,
    body: Result<Bytes, BytesRejection>,
    finish: fn(Judged, Vec<String>) -> T,
) -> Result<T, Refusal> {
    let Query(arguments) = arguments?;
    let text = body_text(body)?;
    let model = arguments.model.clone();
    let work = move |run: &TrainedRun| {
        let question = PairQuestion::typed(&text, SOURCE.to_owned(), &arguments.text_options())?;
        let notes = question.left_out.iter().chain(&question.doubts).cloned().collect();
        let refused = || Error::new(ErrorKind::Internal, "a pair was evaluated to no prediction");
        let judged = judge(run, vec![question], arguments.decoding())?.pop().ok_or_else(refused)?;
        Ok(finish(judged, notes))
    };
    Ok(models.with(model.as_deref(), work).await?)
}
