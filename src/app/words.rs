//! `/api/words`: the attributes and their classes in words, for the page.

use super::answer::json;
use crate::attribute::{Attribute, Side};
use crate::language::Language;
use crate::report::labels::label;
use axum::Router;
use axum::routing::get;
use serde::Serialize;

pub fn routes() -> Router {
    Router::new().route("/api/words", get(|| async { json(&Words { attributes: Attribute::ALL.map(Described::of) }) }))
}

#[derive(Serialize)]
struct Words {
    attributes: [Described; 20],
}

/// An attribute, and the label of each class by language; class 0 has none.
#[derive(Serialize)]
struct Described {
    name: Attribute,
    precondition: Labels,
    effect: Labels,
}

#[derive(Serialize)]
struct Labels {
    en: Vec<Option<&'static str>>,
    it: Vec<Option<&'static str>>,
}

impl Described {
    fn of(attribute: Attribute) -> Self {
        let labels = |side| {
            let of = |language| {
                (0..attribute.classes() as u8).map(|class| label(attribute, side, class, language)).collect()
            };
            Labels { en: of(Language::English), it: of(Language::Italian) }
        };
        Described { name: attribute, precondition: labels(Side::Precondition), effect: labels(Side::Effect) }
    }
}
