//! What is kept of each story while a file is read.

use super::check::Notes;
use super::facts::StoryFacts;
use super::given::Ids;
use super::group;
use super::story::{Kind, Story};
use std::ops::Range;

/// Says what is kept of each story.
pub(super) trait Keep {
    type Kept;

    /// Takes a story that was read under `key` from these bytes of the file, without a byte order mark.
    fn keep(&mut self, key: &str, story: Story, bytes: Range<u64>) -> Self::Kept;

    /// Sets the kind that the other stories of the split may have decided.
    fn set_kind(kept: &mut Self::Kept, kind: Option<Kind>);
}

/// Keeps the stories themselves.
pub(super) struct Whole;

impl Keep for Whole {
    type Kept = Story;

    fn keep(&mut self, _: &str, story: Story, _: Range<u64>) -> Story {
        story
    }

    fn set_kind(story: &mut Story, kind: Option<Kind>) {
        story.kind = kind;
    }
}

/// What is kept of a split, while it is read.
pub(super) struct KeptSplit<T> {
    kept: Vec<T>,
    facts: Vec<StoryFacts>,
    ids: Ids,
}

impl<T> KeptSplit<T> {
    pub fn new() -> Self {
        KeptSplit { kept: Vec::new(), facts: Vec::new(), ids: Ids::default() }
    }

    pub fn push<K: Keep<Kept = T>>(&mut self, keep: &mut K, key: &str, story: Story, bytes: Range<u64>) {
        self.facts.push(StoryFacts::of(&story));
        self.ids.push(&story.id);
        self.kept.push(keep.keep(key, story, bytes));
    }

    /// Checks what only the other stories of a split can tell, and leaves out stories that can't be used.
    pub fn settle<K: Keep<Kept = T>>(self, notes: &mut Notes) -> Vec<T> {
        let kinds = group::kinds(&self.facts, &self.ids, notes);
        let mut settled = self.kept;
        let mut each = self.facts.iter().zip(&kinds);
        settled.retain_mut(|kept| {
            let (facts, &kind) = each.next().expect("facts of each story");
            K::set_kind(kept, kind);
            facts.is_implausible == kind.is_some()
        });
        settled
    }
}
