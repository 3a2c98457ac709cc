//! The page, which is part of the program.

use axum::Router;
use axum::http::header;
use axum::routing::get;

/// Path, type and text of each file.
const FILES: [(&str, &str, &str); 3] = [
    ("/", "text/html; charset=utf-8", include_str!("../../templates/app/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../../templates/app/style.css")),
    ("/main.js", JS, include_str!("../../templates/app/main.js")),
];

const JS: &str = "text/javascript; charset=utf-8";

pub fn routes() -> Router {
    FILES.iter().fold(Router::new(), |router, &(path, kind, text)| {
        router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }))
    })
}
