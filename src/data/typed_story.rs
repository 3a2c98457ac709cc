//! A story that a person typed, before it is checked.

use super::sentences::split;
use super::story::Story;
use crate::language::composed;
use crate::untrusted::{MAX_ENTITIES, MAX_NAME, MAX_SENTENCES, shown};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with sentences")]
pub(super) struct TypedStory {
    #[serde(default)]
    pub sentences: Vec<String>,
    #[serde(default)]
    pub entities: Vec<String>,
}

impl TypedStory {
    /// Splits its lines into sentences; returns how many numbers before sentences were removed.
    pub fn split(&mut self) -> usize {
        let (sentences, numbers): (Vec<_>, Vec<usize>) = self.sentences.iter().map(|line| split(line)).unzip();
        self.sentences = sentences.concat();
        numbers.iter().sum()
    }

    /// The caller's entities win over the story's own, and these over those of the first story.
    pub fn name_entities(&mut self, callers: &[String], first: &[String]) {
        if !callers.is_empty() {
            self.entities = callers.to_vec();
        } else if self.entities.is_empty() {
            self.entities = first.to_vec();
        }
    }

    /// Returns the story, or what is wrong with it; that text follows "story 1".
    pub fn finish(self, number: usize, find: &dyn Fn(&[String]) -> Vec<String>) -> Result<Story, String> {
        let sentences: Vec<String> = self.sentences.iter().map(|sentence| composed(sentence.trim())).collect();
        if sentences.is_empty() {
            return Err(" has no sentences".into());
        }
        if let Some(blank) = sentences.iter().position(String::is_empty) {
            return Err(format!(": sentence {} is blank; remove it or fill it in", blank + 1));
        }
        let entities = if self.entities.is_empty() { find(&sentences) } else { self.entities };
        if entities.is_empty() {
            let remedy = "give them with --entities \"a, b\", or with a line `entities: a, b` (in JSON a list \
                          \"entities\") in the story";
            return Err(format!(" names no entities, and none were found in its sentences; {remedy}"));
        }
        for (what, count, most) in
            [("sentences", sentences.len(), MAX_SENTENCES), ("entities", entities.len(), MAX_ENTITIES)]
        {
            if count > most {
                return Err(format!(" has {count} {what}; shorten it to at most {most}"));
            }
        }
        if let Some(long) = entities.iter().find(|name| name.chars().count() > MAX_NAME) {
            return Err(format!(": the name {} has more than {MAX_NAME} characters; shorten it", shown(long, 20)));
        }
        Ok(Story::unlabelled(number.to_string(), sentences, entities))
    }
}
