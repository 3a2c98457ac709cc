//! Questions about one or two stories that a person typed, and the answers of a run.
//!
//! `tiered predict` and the page of `tiered app` ask and answer alike through this module.

mod answer;
mod doubts;
mod typed;

pub use answer::{Decoding, Judged, judge};
pub use typed::typed_stories;

use crate::data::{Pair, Sentences};
use crate::error::{Error, Result};
use crate::language::Language;
use doubts::{doubts, require_judgeable};

/// The stories to judge.
pub struct PairQuestion {
    /// The two stories; a single story stands twice.
    pub pair: Pair,
    /// Whether the pair is a single story, twice. The judgement of a single story does not depend on the other story.
    pub single_story: bool,
    /// For each story, whether its entities were found in its sentences.
    pub found: Vec<bool>,
    /// What errors call the input.
    pub source: String,
    /// Which lines were not read as sentences, in words.
    pub left_out: Option<String>,
    /// Likely slips, in words.
    pub doubts: Vec<String>,
}

/// How a text is read.
#[derive(Debug, Clone)]
pub struct TextOptions {
    /// The entities of every story; none: those that the stories name, else those found in their sentences.
    pub entities: Vec<String>,
    /// Where sentences end.
    pub sentences: Sentences,
    /// The language in which entities are found; `None`: the one of the function words.
    pub language: Option<Language>,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { entities: Vec::new(), sentences: Sentences::AsGiven, language: None }
    }
}

impl PairQuestion {
    /// A question about a pair of a story file.
    pub fn of_pair(pair: Pair, source: String) -> Self {
        PairQuestion { pair, single_story: false, found: Vec::new(), source, left_out: None, doubts: Vec::new() }
    }

    /// A question from text or JSON that a person typed ([`crate::data::read_plain`]).
    ///
    /// # Errors
    /// `Data`, with the place and the remedy, if there are no or too many stories, or if they can't be judged.
    pub fn typed(text: &str, source: String, reading: &TextOptions) -> Result<Self> {
        let typed = typed_stories(text, &source, reading)?;
        let stories = match typed.stories.as_slice() {
            [story] => [story.clone(), story.clone()],
            [first, second] => [first.clone(), second.clone()],
            many => {
                let count = many.len();
                return Err(Error::data(format!(
                    "{source}: contains {count} stories, and at most two can be compared; a blank line begins a new \
                     story (begin the line of a title with # to leave it out)"
                )));
            }
        };
        require_judgeable(&typed.stories, &source)?;
        Ok(PairQuestion {
            pair: Pair::unlabelled(stories),
            single_story: typed.stories.len() == 1,
            found: typed.found,
            source,
            left_out: typed.left_out.words(),
            doubts: doubts(&typed.stories),
        })
    }
}
