//! The entities of an answer that were found in the sentences, because nobody named them.

use super::Answer;

impl Answer {
    /// Says of each story whether its entities were found in its sentences.
    #[must_use]
    pub fn with_found(mut self, found: &[bool]) -> Self {
        self.stories.iter_mut().zip(found).for_each(|(story, &found)| story.entities_found = found);
        self
    }

    /// A line for each story whose entities were found.
    pub(super) fn found_text(&self) -> String {
        let place = |s: usize| if self.stories.len() > 1 { format!(" in story {}", s + 1) } else { String::new() };
        let found = self.stories.iter().enumerate().filter(|(_, story)| story.entities_found);
        let lines: String =
            found.map(|(s, story)| format!("Entities found{}: {}\n", place(s), story.entities.join(", "))).collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Decode;
    use crate::language::Language;
    use crate::report::StoryAnswer;

    #[test]
    fn found_entities_are_named() {
        let story = |entities: &[&str]| StoryAnswer {
            id: "1".into(),
            entities: entities.iter().map(|name| (*name).to_owned()).collect(),
            entities_found: false,
            sentences: Vec::new(),
        };
        let answer = |stories: &[StoryAnswer], found: &[bool]| {
            let nothing = Answer {
                stories: stories.to_vec(),
                plausible: None,
                single_story: None,
                decode: Decode::Pair,
                conflict_detected: false,
                conflict: Vec::new(),
                subject: None,
                states: Vec::new(),
                language: Language::English,
            };
            nothing.with_found(found).found_text()
        };
        let stories = [story(&["Mia", "cup"]), story(&["Mia"])];
        assert_eq!(answer(&stories, &[]), "");
        assert_eq!(answer(&stories, &[false, true]), "\nEntities found in story 2: Mia\n");
        let both = "\nEntities found in story 1: Mia, cup\nEntities found in story 2: Mia\n";
        assert_eq!(answer(&stories, &[true, true]), both);
        assert_eq!(answer(&stories[..1], &[true]), "\nEntities found: Mia, cup\n");
    }
}
