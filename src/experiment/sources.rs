//! The sources of a run's pairs: splits of story files, in memory or read piece by piece, and stories that are made while
//! training.

use super::soft_labels::read_soft_labels;
use crate::config::{DataSource, Sources, SyntheticStories, expand};
use crate::data::{self, Fold, Kind, Pair, StoryIndex};
use crate::durable::sha256;
use crate::error::{Error, Result};
use crate::synthetic::{Kinds, Order, World, make_group, make_stories};
use crate::train::MixtureComponent;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How many pairs of a stream stand for all of them, where a property of all is needed.
const FIRST: usize = 1000;

/// More special tokens than any tokenizer puts around a text.
const SPECIAL_TOKENS: usize = 8;

/// How many pairs tell whether a version makes the same synthetic stories as another.
const COMPARED: usize = 100;

/// The stories of one source.
pub enum SourceStories {
    /// All pairs of a story file.
    Held(Vec<Pair>),
    /// A story file that is read piece by piece.
    Read(Box<StoryIndex>),
    /// Each epoch has others.
    Made(Box<MadeStories>),
}

/// Stories that are made while training: those of `tiered data synthesize`, of which each epoch has the next ones.
pub struct MadeStories {
    world: World,
    order: Order,
    pairs_per_epoch: usize,
    /// How many of an epoch's pairs are used (`--limit`).
    used: usize,
}

/// Which pairs of each source are used.
#[derive(Clone, Copy)]
pub struct PairSelection {
    /// The run's, which decides which story of a pair comes first.
    pub seed: u64,
    /// Of story files; synthetic stories that are made while training are versions of no other story.
    pub leave_out: Option<Fold>,
    /// The largest number of pairs of each source.
    pub limit: Option<usize>,
}

/// The sources of `data.train` or `data.dev`.
pub struct OpenedSources {
    pub stories: Vec<SourceStories>,
    /// Which pairs belong to which source, and when they are trained on.
    pub parts: Vec<MixtureComponent>,
    /// The number of sentences of the longest story, including pairs that a limit leaves out. So a run on a few pairs
    /// can read the same stories as a run on all.
    pub longest: usize,
    /// The SHA-256 of each source's file, as it was read; of synthetic stories that of the first ones, which another version
    /// might make otherwise. Separated by spaces.
    pub sha256: String,
    /// The SHA-256 of each source's file of soft labels, "-" if it has none; separated by spaces. Empty if no source has one.
    pub soft_sha256: String,
}

/// A source that was opened.
struct OpenedSource {
    stories: SourceStories,
    longest: usize,
    sha256: String,
    /// Of the file of soft labels.
    soft_sha256: Option<String>,
}

impl OpenedSources {
    /// Opens all sources.
    ///
    /// # Errors
    /// Errors of a story file.
    pub fn open(Sources(sources): &Sources, selection: PairSelection) -> Result<Self> {
        let mut opened = OpenedSources {
            stories: Vec::new(),
            parts: Vec::new(),
            longest: 0,
            sha256: String::new(),
            soft_sha256: String::new(),
        };
        let mut first = 0;
        let (mut digests, mut of_soft) = (Vec::new(), Vec::new());
        for source in sources {
            let OpenedSource { stories, longest, sha256, soft_sha256 } = OpenedSource::open(source, selection)?;
            digests.push(sha256);
            of_soft.push(soft_sha256);
            opened.longest = opened.longest.max(longest);
            opened.parts.push(MixtureComponent {
                pairs: first..first + stories.len(),
                weight: source.weight.unwrap_or(1.),
                epochs: source.first_epoch.unwrap_or(1)
                    ..source.last_epoch.map_or(u64::MAX, |last| last.saturating_add(1)),
            });
            first += stories.len();
            opened.stories.push(stories);
        }
        opened.sha256 = digests.join(" ");
        if of_soft.iter().any(Option::is_some) {
            let digests = of_soft.into_iter().map(|sha256| sha256.unwrap_or_else(|| "-".to_owned()));
            opened.soft_sha256 = digests.collect::<Vec<_>>().join(" ");
        }
        Ok(opened)
    }

    /// All pairs in memory, and of each stream the first ones. Groups of different sources stay separate. Unless `keep`
    /// is set, the pairs are taken out.
    ///
    /// # Errors
    /// Those of making pairs.
    pub fn pairs(&mut self, seed: u64, keep: bool) -> Result<Vec<Pair>> {
        let mut all = Vec::new();
        for stories in &mut self.stories {
            let first = match stories {
                SourceStories::Held(pairs) if !keep => std::mem::take(pairs),
                stories => stories.first(seed)?,
            };
            append(&mut all, first);
        }
        Ok(all)
    }
}

impl OpenedSource {
    fn open(source: &DataSource, selection: PairSelection) -> Result<Self> {
        if let Some(synthetic) = &source.synthetic {
            let made = MadeStories::new(synthetic, source.kind, selection.limit)?;
            let (longest, sha256) = (made.world.longest_story(), made.digest()?);
            return Ok(OpenedSource {
                stories: SourceStories::Made(Box::new(made)),
                longest,
                sha256,
                soft_sha256: None,
            });
        }
        if source.streaming {
            let mut pairs = index(source, selection.leave_out)?;
            let (longest, sha256) = (pairs.longest(), pairs.sha256().to_owned());
            pairs.truncate(selection.limit.unwrap_or(usize::MAX));
            return Ok(OpenedSource {
                stories: SourceStories::Read(Box::new(pairs)),
                longest,
                sha256,
                soft_sha256: None,
            });
        }
        read(source, selection)
    }
}

impl SourceStories {
    /// The number of pairs; of those that are made, in each epoch.
    pub fn len(&self) -> usize {
        match self {
            SourceStories::Held(pairs) => pairs.len(),
            SourceStories::Read(pairs) => pairs.len(),
            SourceStories::Made(made) => made.used,
        }
    }

    /// The story group of a pair.
    pub fn group(&self, epoch: u64, pair: usize) -> i64 {
        match self {
            SourceStories::Held(pairs) => pairs[pair].group,
            SourceStories::Read(pairs) => pairs.group(pair),
            SourceStories::Made(made) => made.place(epoch, pair).0 as i64,
        }
    }

    /// Pairs of an epoch, in this order. The coins that decide which story comes first depend on `seed`.
    ///
    /// # Errors
    /// `Data`, `Io` or `Internal` if they can't be read or made.
    pub fn pairs(&self, epoch: u64, pairs: &[usize], seed: u64) -> Result<Vec<Pair>> {
        match self {
            SourceStories::Held(held) => Ok(pairs.iter().map(|&pair| held[pair].clone()).collect()),
            SourceStories::Read(index) => pairs.iter().map(|&pair| index.pair(pair, seed)).collect(),
            SourceStories::Made(made) => made.pairs(epoch, pairs, seed),
        }
    }

    /// Numbers of pairs that may be too long for an encoder with this many positions: a tokenizer seldom makes more tokens
    /// than the text has bytes.
    pub fn perhaps_too_long(&self, max_tokens: usize) -> Vec<usize> {
        match self {
            SourceStories::Read(pairs) => pairs.longer_than(max_tokens.saturating_sub(SPECIAL_TOKENS)).collect(),
            SourceStories::Held(_) | SourceStories::Made(_) => Vec::new(),
        }
    }

    /// All pairs in memory; of a stream the first ones.
    pub fn first(&self, seed: u64) -> Result<Vec<Pair>> {
        match self {
            SourceStories::Held(pairs) => Ok(pairs.clone()),
            _ => self.pairs(1, &(0..self.len().min(FIRST)).collect::<Vec<_>>(), seed),
        }
    }
}

impl MadeStories {
    fn new(synthetic: &SyntheticStories, kind: Option<Kind>, limit: Option<usize>) -> Result<Self> {
        let pairs_per_epoch = synthetic.pairs_per_epoch;
        Ok(MadeStories {
            world: World::load()?,
            order: order(synthetic, kind, usize::MAX),
            pairs_per_epoch,
            used: pairs_per_epoch.min(limit.unwrap_or(usize::MAX)),
        })
    }

    /// The SHA-256 of the first stories as a file.
    fn digest(&self) -> Result<String> {
        let mut bytes = Vec::new();
        make_stories(&self.world, &Order { pairs: COMPARED, ..self.order.clone() }, &mut bytes)?;
        Ok(sha256(&bytes))
    }

    /// The group of a pair, and the pair's number in its group.
    fn place(&self, epoch: u64, pair: usize) -> (u64, usize) {
        let number = (epoch - 1) * self.pairs_per_epoch as u64 + pair as u64;
        let of_group = self.order.kinds.pairs_a_group() as u64;
        (number / of_group, (number % of_group) as usize)
    }

    fn pairs(&self, epoch: u64, pairs: &[usize], seed: u64) -> Result<Vec<Pair>> {
        let mut made: Vec<Pair> = Vec::with_capacity(pairs.len());
        let mut last: Option<(u64, Vec<Pair>)> = None; // the pairs of a group usually follow each other
        for &pair in pairs {
            let (number, in_group) = self.place(epoch, pair);
            let group = match last.take() {
                Some(group) if group.0 == number => group,
                _ => (number, self.group(number, seed)?),
            };
            made.extend(group.1.get(in_group).cloned());
            last = Some(group);
        }
        Ok(made)
    }

    /// The pairs of a group, read from the bytes that `tiered data synthesize` writes.
    fn group(&self, number: u64, seed: u64) -> Result<Vec<Pair>> {
        let mut bytes = Vec::new();
        make_group(&self.world, &self.order, number, &mut bytes)?;
        let file = data::read_bytes(Path::new("synthetic stories"), &bytes)?;
        file.require_clean()?;
        Ok(data::pairs(file.split(&self.order.split)?, seed))
    }
}

/// The order of which each epoch makes a part.
fn order(synthetic: &SyntheticStories, kind: Option<Kind>, pairs: usize) -> Order {
    let kinds = match kind {
        Some(Kind::Cloze) => Kinds::Cloze,
        Some(Kind::Order) => Kinds::Order,
        None => Kinds::Both,
    };
    let (language, style, seed) = (synthetic.lang, synthetic.style(), synthetic.seed);
    Order { language, style, pairs, seed, kinds, split: "train".to_owned() }
}

/// Reads the pairs of a split of a story file.
fn read(source: &DataSource, selection: PairSelection) -> Result<OpenedSource> {
    let PairSelection { seed, leave_out, limit } = selection;
    let (path, split) = story_file(source)?;
    let file = data::read_file(&path)?;
    file.require_clean()?;
    let mut pairs = data::pairs(file.split(split)?, seed);
    if let Some(kind) = source.kind {
        pairs = data::of_kind(pairs, kind);
    }
    pairs.truncate(source.pairs.unwrap_or(usize::MAX));
    pairs.retain(|pair| leave_out.is_none_or(|fold| !fold.contains(pair.group)));
    let soft_sha256 = read_soft_labels(source, &mut pairs)?;
    let without_states =
        pairs.iter().find(|pair| pair.soft.is_none() && !pair.has_states()).map(|pair| pair.id.as_str());
    check_pairs(source, leave_out, pairs.len(), without_states)?;
    let stories = pairs.iter().flat_map(|pair| &pair.stories);
    let longest = stories.map(|story| story.sentences.len()).max().unwrap_or(0);
    pairs.truncate(limit.unwrap_or(usize::MAX));
    Ok(OpenedSource { stories: SourceStories::Held(pairs), longest, sha256: file.sha256, soft_sha256 })
}

/// The pairs of a split of a story file, to read them piece by piece.
fn index(source: &DataSource, leave_out: Option<Fold>) -> Result<StoryIndex> {
    let (path, split) = story_file(source)?;
    let mut pairs = StoryIndex::open(&path, split)?;
    if let Some(wanted) = source.kind {
        pairs.retain(|kind, _| kind == Some(wanted));
    }
    pairs.truncate(source.pairs.unwrap_or(usize::MAX));
    pairs.retain(|_, group| leave_out.is_none_or(|fold| !fold.contains(group)));
    check_pairs(source, leave_out, pairs.len(), pairs.without_states())?;
    Ok(pairs)
}

/// # Errors
/// `Data` if a pair has no state labels, or if there are no pairs.
fn check_pairs(source: &DataSource, leave_out: Option<Fold>, pairs: usize, without_states: Option<&str>) -> Result<()> {
    let (path, split) = story_file(source)?;
    let path = path.display();
    if let Some(id) = without_states {
        return Err(Error::data(format!(
            "{path}: pair {id} of split {split:?} has no state labels, but training and calibration need them; label them, \
             leave it out (`tiered eval` can use it without labels), or train with soft_labels",
        )));
    }
    if pairs == 0 {
        let besides = leave_out.map_or(String::new(), |fold| format!(" besides fold {fold}"));
        return Err(Error::data(format!("{path}: split {split:?} has no pairs of stories{besides}")));
    }
    Ok(())
}

/// The path of a source's story file, and its split.
fn story_file(source: &DataSource) -> Result<(PathBuf, &str)> {
    let (file, split) =
        source.story_file().expect("a source that is not synthetic has a file: the config was validated");
    Ok((expand(file)?, split))
}

/// Appends the pairs of another source, with groups of their own in the same order; their stories keep those of the file.
/// Ids of stories may be any numbers.
fn append(all: &mut Vec<Pair>, mut pairs: Vec<Pair>) {
    if let Some(last) = all.iter().map(|pair| pair.group).max() {
        let groups: BTreeSet<i64> = pairs.iter().map(|pair| pair.group).collect();
        let number: BTreeMap<i64, i64> = groups.into_iter().zip(1..).collect();
        pairs.iter_mut().for_each(|pair| pair.group = last.wrapping_add(number[&pair.group]));
    }
    all.extend(pairs);
}
