//! `/api/annotate`: an annotation project, for the page (`docs/annotate.md`).

mod edits;
mod left_out;
mod page;
mod reads;
mod runs;
mod state;
mod words;

use super::models::Models;
use crate::annotate::Project;
use axum::Router;
use state::Annotation;

/// The routes of a project; `models` propose labels.
pub fn routes(project: Project, models: Models) -> Router {
    let annotation = Annotation::new(project, models);
    reads::routes().merge(edits::routes()).merge(runs::routes()).with_state(annotation).merge(words::routes())
}
