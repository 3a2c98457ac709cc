//! Stories that a person typed.

use super::TextOptions;
use crate::data::{Typed, read_plain};
use crate::entities;
use crate::error::Result;
use crate::language::Language;

/// The stories of a text. Where nobody names the entities of a story, they are found in its sentences, in the
/// language of the whole text.
///
/// # Errors
/// `Data`, as [`read_plain`] does.
pub fn typed_stories(text: &str, source: &str, reading: &TextOptions) -> Result<Typed> {
    let language = reading.language.unwrap_or_else(|| Language::of([text]));
    let find = |sentences: &[String]| entities::find(sentences, language);
    read_plain(text, source, &reading.entities, reading.sentences, &find)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_story_tells_the_language_of_the_other() {
        let text = "Ho messo i piatti in cucina.\nI piatti sono sporchi.\n\nUgo beve latte caldo.\nUgo dorme.";
        let typed = typed_stories(text, "input", &TextOptions::default()).unwrap();
        let [first, second] = [0, 1].map(|i| typed.stories[i].entities.iter().map(|entity| &entity.name));
        assert!(first.eq(["piatti", "cucina"]) && second.eq(["Ugo", "latte"]), "{:?}", typed.stories);
    }
}
