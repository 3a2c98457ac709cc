//! Which sentences name an entity.

use super::change::EntityId;
use super::group::{Draft, Group};
use crate::entities::{head, normalized};
use crate::language::{Language, composed};

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
    let lower = composed(&text.to_lowercase());
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::change::{Change, EntityText, SentenceId};

    #[test]
    fn names_their_nouns_and_the_actor_are_mentions() {
        let mut group = Group::default();
        let texts = ["Rosa filled the old kettle.", "She put the kettle on Red's shelf.", "A kettledrum rang."];
        let sentences: Vec<_> = (1..).map(SentenceId).take(texts.len()).collect();
        for (&sentence, text) in sentences.iter().zip(texts) {
            group.apply("main", &Change::Text { sentence, text: Some(text.into()) });
        }
        for (number, name) in (1..).zip(["Rosa", "old kettle", "red", "the shelf"]) {
            let is = Some(EntityText { name: name.into(), person: number == 1 });
            group.apply("main", &Change::Entity { entity: EntityId(number), is });
        }
        group.apply("main", &Change::Actor { entity: Some(EntityId(1)) });
        let mentions = Mentions::of(&group, &Draft { sentences, ..Draft::default() });
        let named = |entity| [0, 1, 2].map(|n| mentions.contains(n, EntityId(entity)));
        assert_eq!(named(1), [true; 3], "the actor");
        assert_eq!(named(2), [true, true, false]);
        assert_eq!(named(3), [false, true, false]);
        assert_eq!((named(4), named(9)), ([false, true, false], [false; 3]));
    }
}
