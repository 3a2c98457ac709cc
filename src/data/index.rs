//! A split of a story file that is not in memory: where its stories are, and which of them are pairs.

use super::check::Notes;
use super::given::Ids;
use super::group::first_by_group;
use super::keep::Keep;
use super::pair::pair;
use super::parse;
use super::read::{self, KeptFile, no_split, read_keeping, require_clean};
use super::story::{Kind, Pair, Story};
use crate::error::{Error, Result};
use crate::untrusted::{BYTE_ORDER_MARK, MAX_STREAMED_FILE};
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The pairs of a split, each read from the file when it is asked for. A pair takes about 100 bytes of memory.
///
/// The pairs and their order are those of [`read_file`](super::read_file) and [`pairs`](super::pairs).
pub struct StoryIndex {
    path: PathBuf,
    split: String,
    file: File,
    /// The bytes before the text: a byte order mark.
    text_starts: u64,
    opened: Metadata,
    /// Of the bytes that were read.
    sha256: String,
    stories: Vec<IndexedStory>,
    names: StoryNames,
    pairs: Vec<IndexedPair>,
}

/// A story in the file.
#[derive(Debug, Clone, Copy)]
struct IndexedStory {
    /// Of its JSON, after a byte order mark.
    start: u64,
    bytes: u32,
    /// Its number in [`StoryNames`].
    number: u32,
    group: i64,
    kind: Option<Kind>,
    is_implausible: bool,
    has_states: bool,
    sentences: u16,
    /// Bytes of all sentences and of the longest name, with blanks between.
    text: u32,
}

/// Two stories by their places in the list of all stories.
#[derive(Debug, Clone, Copy)]
struct IndexedPair {
    plausible: u32,
    implausible: u32,
}

/// The ids of all stories.
#[derive(Default)]
struct StoryNames {
    ids: Ids,
    /// The keys of those with another id, because the key is repeated.
    keys: HashMap<u32, String>,
}

impl Keep for StoryNames {
    type Kept = IndexedStory;

    fn keep(&mut self, key: &str, story: Story, bytes: Range<u64>) -> IndexedStory {
        let number = self.ids.len() as u32;
        self.ids.push(&story.id);
        if story.id != key {
            self.keys.insert(number, key.to_owned());
        }
        let sentences = story.sentences.iter().map(|sentence| sentence.len() + 1);
        let name = story.entities.iter().map(|entity| entity.name.len() + 1).max().unwrap_or(0);
        IndexedStory {
            start: bytes.start,
            bytes: (bytes.end - bytes.start) as u32, // no story is larger than MAX_STORY
            number,
            group: story.group,
            kind: story.kind,
            is_implausible: story.conflict.is_some(),
            has_states: story.has_states,
            sentences: story.sentences.len() as u16, // at most MAX_SENTENCES
            text: (sentences.sum::<usize>() + name) as u32,
        }
    }

    fn set_kind(story: &mut IndexedStory, kind: Option<Kind>) {
        story.kind = kind;
    }
}

impl StoryIndex {
    /// Reads a file once, with all its checks, and keeps where the stories of a split are.
    ///
    /// # Errors
    /// Those of [`read_file`](super::read_file); `Data` if the file has an error finding, or no such split.
    pub fn open(path: &Path, split: &str) -> Result<Self> {
        let file = read::open(path)?;
        let opened = file.metadata().map_err(|error| Error::reading(path, &error))?;
        if !opened.is_file() {
            let problem = "is not a regular file, so it can't be read piece by piece; leave out streaming";
            return Err(Error::data(problem).about(path.display()));
        }
        let KeptFile { sha256, splits, findings, keep, .. } =
            read_keeping(path, &file, MAX_STREAMED_FILE, StoryNames::default())?;
        require_clean(path, &findings)?;
        let Some(found) = splits.iter().position(|(name, _)| name == split) else {
            return Err(no_split(path, split, &splits));
        };
        let (_, stories) = splits.into_iter().nth(found).expect("it was found");
        let mut start = [0; BYTE_ORDER_MARK.len()];
        let has_mark = file.read_exact_at(&mut start, 0).is_ok() && start == BYTE_ORDER_MARK;
        let (path, split) = (path.to_owned(), split.to_owned());
        let text_starts = if has_mark { start.len() as u64 } else { 0 };
        let pairs = paired(&stories);
        Ok(StoryIndex { path, split, file, text_starts, opened, sha256, stories, names: keep, pairs })
    }

    /// The SHA-256 of the file, as it was read.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Leaves out pairs whose kind and group `keep` refuses.
    pub fn retain(&mut self, keep: impl Fn(Option<Kind>, i64) -> bool) {
        let implausible = |pair: &IndexedPair| self.stories[pair.implausible as usize];
        self.pairs.retain(|pair| keep(implausible(pair).kind, implausible(pair).group));
    }

    /// Leaves out all but the first pairs.
    pub fn truncate(&mut self, pairs: usize) {
        self.pairs.truncate(pairs);
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The id of the first pair that has no state labels.
    pub fn without_states(&self) -> Option<&str> {
        let lacks = |pair: &&IndexedPair| self.stories_of(**pair).iter().any(|story| !story.has_states);
        let pair = self.pairs.iter().find(lacks)?;
        Some(self.names.ids.get(self.stories[pair.implausible as usize].number as usize))
    }

    /// The number of sentences of the longest story of a pair.
    pub fn longest(&self) -> usize {
        let sentences = self.pairs.iter().flat_map(|&pair| self.stories_of(pair)).map(|story| story.sentences);
        sentences.max().unwrap_or(0).into()
    }

    /// The pairs with a story whose sentences and longest name have more bytes than this.
    pub fn longer_than(&self, bytes: usize) -> impl Iterator<Item = usize> {
        let is_longer = move |pair: IndexedPair| self.stories_of(pair).iter().any(|story| story.text as usize > bytes);
        (0..self.pairs.len()).filter(move |&number| is_longer(self.pairs[number]))
    }

    /// The story group of a pair.
    pub fn group(&self, pair: usize) -> i64 {
        self.stories[self.pairs[pair].implausible as usize].group
    }

    /// Reads a pair. `seed` decides which story comes first, as in [`pairs`](super::pairs).
    ///
    /// # Errors
    /// `Io`; `Data` if the file has changed since it was opened.
    pub fn pair(&self, number: usize, seed: u64) -> Result<Pair> {
        let IndexedPair { plausible, implausible } = self.pairs[number];
        let stories = self.story(plausible)?.zip(self.story(implausible)?);
        // After the reading: it may change at any time.
        let now = self.file.metadata().map_err(|error| Error::reading(&self.path, &error))?;
        let is_same = now.len() == self.opened.len() && now.modified().ok() == self.opened.modified().ok();
        let stories = stories.filter(|_| is_same);
        stories.and_then(|(plausible, implausible)| pair(plausible, implausible, seed)).ok_or_else(|| {
            let problem = "has changed while it was read; restore it, and resume the run";
            Error::data(problem).about(self.path.display())
        })
    }

    /// `None` if there is no such story any more.
    fn story(&self, number: u32) -> Result<Option<Story>> {
        let indexed = self.stories[number as usize];
        let mut json = vec![0; indexed.bytes as usize];
        match self.file.read_exact_at(&mut json, self.text_starts + indexed.start) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read.map_err(|error| Error::reading(&self.path, &error))?,
        }
        let id = self.names.ids.get(indexed.number as usize);
        let key = self.names.keys.get(&indexed.number).map_or(id, String::as_str);
        let mut notes = Notes::new(&self.path);
        notes.split.clone_from(&self.split);
        notes.story = id.to_owned();
        notes.make_room(json.len());
        let Ok(node) = serde_json::from_slice(&json) else { return Ok(None) };
        let story = parse::story(key, &node, &mut notes);
        Ok(story.map(|story| Story { kind: indexed.kind, ..story }))
    }

    fn stories_of(&self, pair: IndexedPair) -> [&IndexedStory; 2] {
        [pair.plausible, pair.implausible].map(|story| &self.stories[story as usize])
    }
}

/// Every implausible story with the first plausible story of its group, in the order of the implausible stories.
fn paired(stories: &[IndexedStory]) -> Vec<IndexedPair> {
    let plausible = (0..).zip(stories).filter(|(_, story)| !story.is_implausible);
    let plausible = first_by_group(plausible.map(|(number, story)| (story.group, number)));
    let pair = |(implausible, story): (u32, &IndexedStory)| {
        Some(IndexedPair { plausible: *plausible.get(&story.group)?, implausible })
    };
    (0..).zip(stories).filter(|(_, story)| story.is_implausible).filter_map(pair).collect()
}
