//! Stories that a person typed.

use super::TextOptions;
use crate::data::{Typed, read_plain};
use crate::entities;
use crate::error::Result;
use crate::language::Language;

/// The stories of a text. Where nobody names the entities of a story, they are found in its sentences, in the
/// language of the sentences of all stories.
///
/// # Errors
/// `Data`, as [`read_plain`] does.
pub fn typed_stories(text: &str, source: &str, reading: &TextOptions) -> Result<Typed> {
    let read =
        |find: &dyn Fn(&[String]) -> Vec<String>| read_plain(text, source, &reading.entities, reading.sentences, find);
    let language = match reading.language {
        Some(language) => language,
        None => {
            // Only the sentences count here, and a story needs an entity.
            let typed = read(&|_: &[String]| vec!["any".to_owned()])?;
            Language::of(typed.stories.iter().flat_map(|story| &story.sentences))
        }
    };
    read(&|sentences: &[String]| entities::find(sentences, language))
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

    #[test]
    fn neither_comments_nor_escapes_tell_the_language() {
        let stories = |text| typed_stories(text, "input", &TextOptions::default()).unwrap().stories;
        let plain = stories("Zoé poured hot tea.");
        assert_eq!(stories("# il tè di Zoé\nZoé poured hot tea."), plain);
        assert_eq!(stories(r#"{"sentences": ["Zo\u00e9 poured hot tea."]}"#), plain);
    }
}
