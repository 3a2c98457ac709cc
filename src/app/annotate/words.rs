//! `/api/annotate/words`: attributes and labels in words.

use super::super::answer::{Answered, json};
use crate::attribute::Attribute;
use crate::language::Language;
use crate::report::labels::{attribute_name, meaning};
use axum::Router;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::routing::get;
use serde::{Deserialize, Serialize};

pub(super) fn routes() -> Router {
    Router::new().route("/api/annotate/words", get(words))
}

#[derive(Deserialize)]
struct WordsQuery {
    lang: Language,
}

#[derive(Serialize)]
struct Words {
    attributes: [AttributeWords; 20],
}

#[derive(Serialize)]
struct AttributeWords {
    name: Attribute,
    words: &'static str,
    /// Whether it is an attribute of people.
    person: bool,
    default: u8,
    labels: Vec<LabelWords>,
}

#[derive(Serialize)]
struct LabelWords {
    label: u8,
    words: String,
}

async fn words(query: Result<Query<WordsQuery>, QueryRejection>) -> Answered {
    let Query(WordsQuery { lang }) = query?;
    let labels = |attribute: Attribute| {
        (0..=attribute.max_label()).map(|label| LabelWords { label, words: meaning(attribute, label, lang) }).collect()
    };
    let attributes = Attribute::ALL.map(|attribute| AttributeWords {
        name: attribute,
        words: attribute_name(attribute, lang),
        person: attribute.is_human(),
        default: attribute.default_label(),
        labels: labels(attribute),
    });
    json(&Words { attributes })
}
