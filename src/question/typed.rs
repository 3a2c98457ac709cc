//! Stories that a person typed.

use super::TextOptions;
use crate::data::{Typed, read_plain};
use crate::entities;
use crate::error::Result;
use crate::language::Language;

/// The stories of a text. Where nobody names the entities of a story, they are found in its sentences.
///
/// # Errors
/// `Data`, as [`read_plain`] does.
pub fn typed_stories(text: &str, source: &str, reading: &TextOptions) -> Result<Typed> {
    let language = |sentences: &[String]| reading.language.unwrap_or_else(|| Language::of(sentences));
    let find = |sentences: &[String]| entities::find(sentences, language(sentences));
    read_plain(text, source, &reading.entities, reading.sentences, &find)
}
