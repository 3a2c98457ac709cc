//! The stories that two files have in common, such as those that two annotators labelled.

use super::read::StoryFile;
use super::story::Story;
use crate::error::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;

/// What two files have in common, and what they don't.
pub struct SharedStories<'a> {
    /// In the order of the first file.
    pub stories: Vec<SharedStory<'a>>,
    /// The others.
    pub left_out: Vec<Unshared>,
}

/// A story that both files have, with the same sentences.
pub struct SharedStory<'a> {
    /// The name of its split.
    pub split: &'a str,
    /// The number of its story group, which no story group of another split has.
    pub group: i64,
    /// The story in the first file and in the second.
    pub passes: [&'a Story; 2],
}

/// A story that is not shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unshared {
    /// The name of its split.
    pub split: String,
    /// Its id.
    pub story: String,
    /// Why it is not shared.
    pub why: WhyUnshared,
}

/// Why a story of two files is not shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyUnshared {
    /// Only the first file has a story of this id in this split.
    OnlyFirst,
    /// Only the second file has one.
    OnlySecond,
    /// Both files have one, with different sentences.
    OtherSentences,
}

impl<'a> SharedStories<'a> {
    /// Matches the stories of all splits, or of one split, by split and id.
    ///
    /// # Errors
    /// `Data` if a file does not have the split, or if no story is shared.
    pub fn of(files: [&'a StoryFile; 2], split: Option<&str>) -> Result<Self> {
        if let Some(split) = split {
            files.iter().try_for_each(|file| file.split(split).map(drop))?;
        }
        let in_scope = |name: &str| split.is_none_or(|split| split == name);
        let of_file = |file: &'a StoryFile| {
            let splits = file.splits.iter().filter(move |(name, _)| in_scope(name));
            splits.flat_map(|(name, stories)| stories.iter().map(move |story| (name.as_str(), story)))
        };
        let mut others: BTreeMap<_, _> = of_file(files[1]).map(|(split, story)| (place(split, story), story)).collect();
        let (mut stories, mut left_out, mut groups) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut leave_out = |split: &str, story: &Story, why| {
            left_out.push(Unshared { split: split.to_owned(), story: story.id.clone(), why });
        };
        for (split, story) in of_file(files[0]) {
            match others.remove(&place(split, story)) {
                None => leave_out(split, story, WhyUnshared::OnlyFirst),
                Some(other) if other.sentences != story.sentences => {
                    leave_out(split, story, WhyUnshared::OtherSentences);
                }
                Some(other) => {
                    let next = groups.len() as i64;
                    let group = *groups.entry((split, story.group)).or_insert(next);
                    stories.push(SharedStory { split, group, passes: [story, other] });
                }
            }
        }
        for (split, story) in of_file(files[1]).filter(|(split, story)| others.contains_key(&place(split, story))) {
            leave_out(split, story, WhyUnshared::OnlySecond);
        }
        if stories.is_empty() {
            let [first, second] = files.map(|file| file.path.display());
            let problem =
                "have no story in common (the same split, id and sentences); name two files of the same stories";
            return Err(Error::data(format!("{first} and {second} {problem}")));
        }
        Ok(SharedStories { stories, left_out })
    }
}

/// What names a story in a file.
fn place<'a>(split: &'a str, story: &'a Story) -> (&'a str, &'a str) {
    (split, &story.id)
}
