//! How many of the entities of a list are found, and how many of the found ones are in the list.

use super::name::{head, normalized};
use crate::language::Language;
use crate::metrics::{Share, StoryGroups};
use serde::Serialize;
use std::collections::HashSet;

/// The entities that were found in a story, beside those of its list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundStory {
    /// The split of the story.
    pub split: String,
    /// The story's id in its file.
    pub story: String,
    /// The number of its story group, which no story group of another split has.
    #[serde(skip)]
    pub group: i64,
    /// The language in which it was read.
    pub language: Language,
    /// In the order of their first mention.
    pub found: Vec<String>,
    /// Those of its list; `None` if it has none.
    pub given: Option<Vec<String>>,
    /// Those of its list that were not found, exactly.
    pub missed: Vec<String>,
    /// Those found that are not in its list, exactly.
    pub extra: Vec<String>,
}

/// How well the entities of some stories are found. An entity that occurs in two stories counts twice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntityScores {
    /// How many stories have a list.
    pub stories: usize,
    /// Two names match if they are the same in lower case and without articles.
    pub exact: MatchScores,
    /// Two names match if their head nouns are the same: "red cup" and "cup".
    pub head: MatchScores,
}

/// Recall and precision by one rule of matching.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MatchScores {
    /// Of the entities of the lists, those that match one that was found.
    pub recall: Share,
    /// Of the entities that were found, those that match one of the list.
    pub precision: Share,
}

impl FoundStory {
    /// Compares what was found in a story with its list.
    pub fn new(place: (&str, &str, i64), language: Language, found: Vec<String>, given: Option<Vec<String>>) -> Self {
        let (split, story, group) = place;
        let without = |names: &[String], others: &[String]| {
            let others = keys(others);
            names.iter().filter(|name| !others.contains(&normalized(name))).cloned().collect()
        };
        let missed = given.as_ref().map_or_else(Vec::new, |given| without(given, &found));
        let extra = given.as_ref().map_or_else(Vec::new, |given| without(&found, given));
        let (split, story) = (split.to_owned(), story.to_owned());
        FoundStory { split, story, group, language, found, given, missed, extra }
    }
}

fn keys(names: &[String]) -> HashSet<String> {
    names.iter().map(|name| normalized(name)).collect()
}

impl EntityScores {
    /// Of the stories that have a list; `None` if none has.
    pub fn of(stories: &[FoundStory]) -> Option<Self> {
        let listed: Vec<_> = stories.iter().filter_map(|story| Some((story, story.given.as_ref()?))).collect();
        let groups = StoryGroups::of_numbers(listed.iter().map(|(story, _)| story.group));
        let scores = |key: fn(&str, Language) -> String| {
            let sets: Vec<_> = listed
                .iter()
                .map(|(story, given)| {
                    let [given, found] =
                        [*given, &story.found].map(|names| keys(names).into_iter().collect::<Vec<_>>());
                    let matched = |names: &[String], others: &[String]| {
                        let others: HashSet<_> = others.iter().map(|name| key(name, story.language)).collect();
                        names.iter().filter(|name| others.contains(&key(name, story.language))).count() as u64
                    };
                    let counts = [matched(&given, &found), given.len() as u64];
                    (story.group, counts, [matched(&found, &given), found.len() as u64])
                })
                .collect();
            let recall = groups.share_of_counts(sets.iter().map(|&(group, [count, total], _)| (group, count, total)));
            let precision =
                groups.share_of_counts(sets.iter().map(|&(group, _, [count, total])| (group, count, total)));
            MatchScores { recall, precision }
        };
        let exact = scores(|name, _| name.to_owned());
        let head = scores(|name, language| head(name, language).to_owned());
        (!listed.is_empty()).then_some(EntityScores { stories: listed.len(), exact, head })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(group: i64, found: &[&str], given: Option<&[&str]>) -> FoundStory {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        FoundStory::new(("dev", "1", group), Language::English, owned(found), given.map(owned))
    }

    #[test]
    fn names_match_exactly_or_by_their_heads() {
        let stories = [
            story(1, &["Rosa", "red cup", "shelf"], Some(&["rosa", "the cup", "Jar", "kettle"])),
            story(2, &["Mia"], None),
        ];
        assert_eq!(stories[0].missed, ["the cup", "Jar", "kettle"]);
        assert_eq!(stories[0].extra, ["red cup", "shelf"]);
        let scores = EntityScores::of(&stories).unwrap();
        let counts = |scores: MatchScores| [scores.recall, scores.precision].map(|share| (share.count, share.total));
        assert_eq!((scores.stories, counts(scores.exact)), (1, [(1, 4), (1, 3)]));
        assert_eq!(counts(scores.head), [(2, 4), (2, 3)]);
        assert!(scores.exact.recall.interval.is_some());
        assert_eq!(EntityScores::of(&stories[1..]), None);
    }
}
