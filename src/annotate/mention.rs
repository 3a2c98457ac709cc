//! Which sentences name an entity.

use super::change::EntityId;
use super::group::{Draft, Group};
use crate::entities::{head, normalized};
use crate::language::Language;

/// A story whose entities are looked for in its sentences.
pub(super) struct Mentions<'g> {
    group: &'g Group,
    language: Language,
    /// The words of each sentence, in lower case.
    sentences: Vec<Vec<String>>,
}

impl<'g> Mentions<'g> {
    pub fn of(group: &'g Group, draft: &Draft) -> Self {
        let sentences = group.sentences_of(draft);
        let language = Language::of(&sentences);
        Mentions { group, language, sentences: sentences.iter().map(|sentence| words(sentence)).collect() }
    }

    /// Whether the sentence at this position names the entity, or its noun alone. The actor counts as named everywhere:
    /// pronouns, and in Italian verbs alone, mean the actor.
    pub fn contains(&self, position: usize, entity: EntityId) -> bool {
        let Some(is) = self.group.entity(entity) else { return false };
        let name = normalized(&is.name);
        let (name, noun) = (words(&name), words(head(&name, self.language)));
        let sentence = &self.sentences[position];
        let names = |words: &[String]| !words.is_empty() && sentence.windows(words.len()).any(|part| part == words);
        self.group.actor == Some(entity) || names(&name) || names(&noun)
    }
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
