//! Answers of the API: JSON, or why there is none.

use crate::error::{Error, ErrorKind};
use crate::schema;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::http::StatusCode;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An answer of the API.
pub type Answered = Result<Response, Refusal>;

/// Why a request has no answer: `{"error": {"kind": "data", "message": "..."}}` with a status of HTTP.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal { status, message: message.into() }
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The kind of error, for programs.
    fn kind(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND => "missing",
            StatusCode::UNPROCESSABLE_ENTITY => "data",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable",
            status if status.is_server_error() => "internal",
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST => "refused",
            _ => "request",
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = match error.kind {
            ErrorKind::Usage | ErrorKind::Config => StatusCode::BAD_REQUEST,
            ErrorKind::Data | ErrorKind::Refused => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::MissingInput => StatusCode::NOT_FOUND,
            ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal { status, message: error.message }
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        let message = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => "the request is too large; send less text".to_owned(),
            _ => rejection.body_text(),
        };
        Refusal { status: rejection.status(), message }
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        Refusal { status: rejection.status(), message: rejection.body_text() }
    }
}

#[derive(Serialize)]
struct RefusalBody<'a> {
    error: RefusalReason<'a>,
}

#[derive(Serialize)]
struct RefusalReason<'a> {
    kind: &'static str,
    message: &'a str,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = RefusalBody { error: RefusalReason { kind: self.kind(), message: &self.message } };
        let text = schema::to_string(&body).expect("it has string keys only");
        (self.status(), json_text(text)).into_response()
    }
}

/// A document as JSON on one line, with the version of our formats.
pub fn json(document: &impl Serialize) -> Answered {
    let text = schema::to_string(document).map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
    Ok(json_text(text).into_response())
}

/// Text that is JSON already.
pub fn json_text(text: String) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], text)
}

/// The body of a request as text.
///
/// # Errors
/// 413 if it is too large; 422 if it is not UTF-8.
pub fn body_text(body: Result<Bytes, BytesRejection>) -> Result<String, Refusal> {
    let body = body?;
    let text = crate::untrusted::text(&body).map_err(|problem| Error::data(format!("the request {problem}")))?;
    Ok(text.to_owned())
}
