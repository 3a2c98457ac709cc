//! Writes stories from a small physics of the household: what each thing can do, what an action needs and changes, how
//! to say it in English and Italian, and how an annotator would label it.
//!
//! The tables of `data/world/` contain the physics and the words; the code contains no thing and no verb.
//!
//! - [`World`]: the tables, read and checked.
//! - In a story, only what its sentences said or presupposed is known. An action's preconditions become known like its
//!   effects. A precondition that contradicts what is known is a *conflict*; its evidence is the last sentence that said
//!   otherwise (`state`).
//! - `plot` plans stories without a conflict, and breaks them: it replaces a sentence (cloze) or swaps two (order). A
//!   broken story is kept only if exactly one pair of sentences conflicts.
//! - `language` puts the story into words, `label` reads the tables' labels, and [`make_stories`] writes the file.

mod action;
mod adjective;
mod adjunct;
mod claim;
mod failed;
mod file;
mod form;
mod label;
mod language;
mod make;
mod nature;
mod noun;
mod number;
mod plot;
mod random;
mod rates;
mod reorder;
mod state;
mod step;
mod style;
mod table;
mod text;
mod thing;
mod violation;

pub use make::{Kinds, Order, make_group, make_stories};
pub use reorder::reorder_stories;
pub use style::Style;
pub use table::World;
