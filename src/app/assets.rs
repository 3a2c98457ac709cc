//! The page, which is part of the program.

use axum::Router;
use axum::http::header;
use axum::routing::get;

/// A module of JavaScript of the page.
macro_rules! module {
    ($name:literal) => {
        (concat!("/", $name), JS, include_str!(concat!("../../templates/app/", $name)))
    };
}

/// Path, type and text of each file.
const FILES: [(&str, &str, &str); 21] = [
    ("/", "text/html; charset=utf-8", include_str!("../../templates/app/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../../templates/app/style.css")),
    module!("annotate-words.js"),
    module!("annotate.js"),
    module!("answer.js"),
    module!("api.js"),
    module!("changes.js"),
    module!("conflict.js"),
    module!("dom.js"),
    module!("edits.js"),
    module!("examples.js"),
    module!("forms.js"),
    module!("grid.js"),
    module!("keys.js"),
    module!("main.js"),
    module!("others.js"),
    module!("stories.js"),
    module!("story.js"),
    module!("timeline.js"),
    module!("try.js"),
    module!("words.js"),
];

const JS: &str = "text/javascript; charset=utf-8";

pub fn routes() -> Router {
    FILES.iter().fold(Router::new(), |router, &(path, kind, text)| {
        router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }))
    })
}
