//! Expressions of several words.

use std::collections::HashMap;

/// Expressions of several words, by their first one.
#[derive(Default)]
pub(super) struct Expressions(HashMap<String, Vec<Vec<String>>>);

impl Expressions {
    pub fn add(&mut self, words: Vec<String>) {
        if let Some(first) = words.first() {
            self.0.entry(first.clone()).or_default().push(words);
        }
    }

    /// How many words the longest expression has with which these words begin; 0 if there is none.
    pub fn longest<'a>(&self, words: impl Iterator<Item = &'a str> + Clone) -> usize {
        let known = words.clone().next().and_then(|first| self.0.get(first)).into_iter().flatten();
        let fits = |known: &&Vec<String>| {
            let mut here = words.clone();
            known.iter().all(|word| here.next() == Some(word))
        };
        known.filter(fits).map(Vec::len).max().unwrap_or(0)
    }
}
