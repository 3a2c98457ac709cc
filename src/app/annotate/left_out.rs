//! Stories that are left out of a story file.

use crate::annotate::{InWords, LeftOutStory};
use crate::language::Language;
use serde::Serialize;

/// A story that is left out.
#[derive(Serialize)]
pub(super) struct LeftOutAnswer {
    story: String,
    /// What it lacks, and what to do.
    why: String,
}

impl LeftOutAnswer {
    /// Each story, with what it lacks in a language.
    pub fn list(stories: Vec<LeftOutStory>, language: Language) -> Vec<Self> {
        let told = |LeftOutStory { story, why }| LeftOutAnswer { story, why: why.words(language) };
        stories.into_iter().map(told).collect()
    }
}
