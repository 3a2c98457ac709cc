//! The flags that select the pairs of a story file.

use crate::data::{self, Kind, Pair, Severity, StoryFile};
use crate::error::{Error, Result};
use crate::experiment::{CheckpointKind, ScoredSplit, evaluation_name};
use crate::report::DataDescription;
use crate::say::aside;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(super) struct PairArgs {
    /// The story file
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// The split [default: test, or the file's only split]
    #[arg(long)]
    split: Option<String>,
    /// The kind of pairs
    #[arg(long, value_enum, default_value_t = PairKind::All)]
    kind: PairKind,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PairKind {
    Cloze,
    Order,
    All,
}

impl PairKind {
    const fn name(self) -> &'static str {
        match self {
            PairKind::Cloze => "cloze",
            PairKind::Order => "order",
            PairKind::All => "all",
        }
    }

    /// The kind, unless it is all.
    const fn only(self) -> Option<Kind> {
        match self {
            PairKind::Cloze => Some(Kind::Cloze),
            PairKind::Order => Some(Kind::Order),
            PairKind::All => None,
        }
    }

    fn of(self, pairs: Vec<Pair>) -> Vec<Pair> {
        match self.only() {
            Some(kind) => data::of_kind(pairs, kind),
            None => pairs,
        }
    }
}

/// The selected split of a story file.
pub(super) struct LoadedPairs<'a> {
    args: &'a PairArgs,
    file: StoryFile,
    pub split: String,
}

impl PairArgs {
    /// Reads the file, and warns of stories that can't be used.
    pub fn read(&self) -> Result<LoadedPairs<'_>> {
        let file = data::read_file(&self.data)?;
        let split = split_name(&file, self.split.as_deref())?;
        if file.count(Severity::Error) > 0 {
            let (path, checking) = (self.data.display(), data::checking(&self.data));
            aside!("warning: {path}: some stories can't be used and are left out; {checking} lists them");
        }
        Ok(LoadedPairs { args: self, file, split })
    }
}

impl LoadedPairs<'_> {
    /// The name of the set's evaluation in a run folder.
    pub fn evaluation_name(&self, which: CheckpointKind) -> Result<String> {
        evaluation_name(&self.args.data, &self.split, self.args.kind.name(), which)
    }

    /// The pairs, in the order in which a run with this seed reads them.
    ///
    /// # Errors
    /// `Data` if there are none.
    pub fn pairs(&self, seed: u64) -> Result<Vec<Pair>> {
        let pairs = self.args.kind.of(data::pairs(self.file.split(&self.split)?, seed));
        if pairs.is_empty() {
            let (path, kind) = (self.args.data.display(), self.args.kind.name());
            return Err(Error::data(format!("{path}: split {:?} has no pairs of kind {kind}", self.split)));
        }
        Ok(pairs)
    }

    /// The split, to find out what a run has seen of these pairs.
    pub fn scored(&self) -> Result<ScoredSplit<'_>> {
        ScoredSplit::new(&self.file, &self.split, self.args.kind.only())
    }

    /// The kind that was asked for, unless it is all.
    pub fn kind(&self) -> Option<Kind> {
        self.args.kind.only()
    }

    pub fn path(&self) -> &Path {
        &self.args.data
    }

    pub fn description(&self, pairs: usize) -> DataDescription {
        DataDescription {
            file: Some(self.args.data.display().to_string()),
            sha256: Some(self.file.sha256.clone()),
            split: Some(self.split.clone()),
            kind: self.args.kind.name().to_owned(),
            pairs: pairs as u64,
            ..DataDescription::default()
        }
    }
}

/// The named split, else "test", else the file's only split.
pub(super) fn split_name(file: &StoryFile, named: Option<&str>) -> Result<String> {
    let names: Vec<&str> = file.splits.iter().map(|(name, _)| name.as_str()).collect();
    match (named, names.as_slice()) {
        (Some(named), _) => Ok(named.to_owned()),
        (None, names) if names.contains(&"test") => Ok("test".to_owned()),
        (None, [only]) => Ok((*only).to_owned()),
        (None, []) => Err(Error::data(format!(
            "{}: has no split that can be read; `tiered data check` shows why",
            file.path.display()
        ))),
        (None, names) => Err(Error::data(format!(
            "{}: has no split \"test\"; name one of {names:?} with --split",
            file.path.display()
        ))),
    }
}
