//! A small physics of the household that tells stories: which thing can do what, what an action needs and changes,
//! how one says it in English and Italian, and what an annotator would note about it.
//!
//! The tables of `data/world/` are the physics and the language; the code here knows neither a thing nor a verb.
//!
//! - [`World`]: the tables, read and checked.
//! - A story knows only what its sentences said or presupposed. An action's preconditions, if unknown, become known
//!   like its effects; one that contradicts what is known is a *conflict*, whose evidence is the last sentence that
//!   said otherwise (`state`).
//! - `plot` plans stories without a conflict, and breaks them: by another sentence in the place of one (cloze), or by
//!   swapping two (order). A broken story is kept only if exactly one pair of sentences conflicts.
//! - `language` says it; `label` writes down the states; [`make_stories`] makes a file of it.

mod action;
mod claim;
mod file;
mod form;
mod label;
mod language;
mod make;
mod noun;
mod plot;
mod random;
mod reorder;
mod state;
mod style;
mod table;
mod thing;

pub use make::{Kinds, Order, make_stories};
pub use reorder::reorder_stories;
pub use style::Style;
pub use table::{Size, World};
