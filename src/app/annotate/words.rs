//! `/api/annotate/words`: attributes and labels in words.

use super::super::answer::{Answered, json};
use super::page::Page;
use crate::attribute::Attribute;
use crate::report::labels::{attribute_name, meaning};
use axum::Router;
use axum::routing::get;
use serde::Serialize;

pub(super) fn routes() -> Router {
    Router::new().route("/api/annotate/words", get(words))
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

async fn words(Page { lang, .. }: Page) -> Answered {
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
