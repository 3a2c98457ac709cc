//! The study file: what the user wrote, read strictly. `docs/studies.md` describes every key.

use crate::data::Kind;
use crate::error::{Error, Result};
use crate::outside::{self, MAX_CELLS, MAX_CONFIG, component, shown, toml_error};
use crate::report::{PublishedRow, PublishedSet};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Table;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// Also the name of its folder.
    pub name: String,
    /// The config that every cell begins from; relative to where the command is run, as all paths.
    pub base: PathBuf,
    /// Laid over the base in every cell: keys of the config.
    #[serde(default)]
    pub set: Table,
    /// The axis that tables take the mean over; the base's seed where absent.
    #[serde(default)]
    pub seeds: Vec<u64>,
    #[serde(default)]
    pub axes: Vec<Axis>,
    /// What every cell is evaluated on after training.
    pub evaluate: Vec<EvaluationSet>,
    /// How tables read conflicts off the beliefs.
    #[serde(default = "papers_conflicts")]
    pub decode: Vec<ConflictChoice>,
    /// Which states tables take as asserted.
    #[serde(default = "papers_states")]
    pub states: Vec<StateChoice>,
    /// Published scores of cells.
    #[serde(default)]
    pub published: Vec<PublishedCell>,
}

fn papers_conflicts() -> Vec<ConflictChoice> {
    vec![ConflictChoice::Threshold]
}

fn papers_states() -> Vec<StateChoice> {
    vec![StateChoice::Argmax]
}

/// Something that is varied.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    pub name: String,
    pub values: Vec<AxisValue>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisValue {
    pub name: String,
    /// Keys of the config.
    #[serde(default)]
    pub set: Table,
    /// The cells that have the value: those with all the values of one of these tables (axis -> value); all where empty.
    #[serde(default)]
    pub only: Vec<BTreeMap<String, String>>,
}

/// One partition of a story file, by a name.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSet {
    /// Also the name of its folder in a run's `eval/`.
    pub name: String,
    /// `${NAME}` stands for the environment variable.
    pub file: PathBuf,
    pub split: String,
    #[serde(default)]
    pub kind: Option<Kind>,
    /// The published set whose systems stand beneath tables.
    #[serde(default, deserialize_with = "published_set")]
    pub beside: Option<PublishedSet>,
}

/// What is published of one cell on one set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCell {
    /// The system and where its scores are published.
    pub system: String,
    /// The name of an evaluation set.
    pub set: String,
    /// Which rows: axis -> value.
    pub row: BTreeMap<String, String>,
    /// Accuracy, consistency, verifiability, in percent.
    pub scores: [f64; 3],
}

/// How the sentences in conflict are read off the beliefs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ConflictChoice {
    /// As the paper does.
    Threshold,
    /// The best supported pair of sentences.
    Pair,
    /// The same, among those that the other story doesn't tell too.
    Contrast,
    /// The one that the cell's detector was made for: threshold for the paper's, pair for the joint one.
    Own,
}

/// Which states are asserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum StateChoice {
    /// The most likely ones, as the paper does.
    Argmax,
    /// Those that were chosen on the cell's dev pairs.
    Tuned,
}

impl StudyFile {
    /// # Errors
    /// `MissingInput`, `Io`; `Config` naming file, line and key.
    pub fn open(path: &Path) -> Result<Self> {
        Self::parse(path, &outside::read(path, MAX_CONFIG).map_err(|error| Error::reading(path, &error))?)
    }

    /// The study in the bytes of a file; `path` is what the file is called.
    ///
    /// # Errors
    /// `Config`, as [`StudyFile::open`].
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let wrong = |problem: String| Error::config(format!("{}: {problem}", path.display()));
        let text = outside::text(bytes).map_err(wrong)?;
        let file: StudyFile = toml::from_str(text).map_err(|error| wrong(toml_error(&error)))?;
        file.problem().map_or(Ok(file), |problem| Err(wrong(shown(&problem, 500))))
    }

    /// What does not go together, though the types are right.
    fn problem(&self) -> Option<String> {
        let names = std::iter::once(&self.name).chain(self.evaluate.iter().map(|set| &set.name));
        if let Some(error) = names.map(|name| component(name)).find_map(Result::err) {
            return Some(format!("name: {error}"));
        }
        if self.evaluate.is_empty() || self.decode.is_empty() || self.states.is_empty() {
            return Some("evaluate, decode and states must not be empty: there would be no table".to_owned());
        }
        repeated("evaluate", self.evaluate.iter().map(|set| &set.name))
            .or_else(|| repeated("axes", self.axes.iter().map(|axis| &axis.name)))
            .or_else(|| repeated("seeds", &self.seeds))
            .or_else(|| self.axes.iter().find_map(Axis::problem))
            .or_else(|| self.too_many())
            .or_else(|| self.evaluate.iter().find_map(EvaluationSet::problem))
            .or_else(|| self.unknown_value())
    }

    /// Combinations without end: all are made before `only` leaves some out.
    fn too_many(&self) -> Option<String> {
        let lengths = self.axes.iter().map(|axis| axis.values.len()).chain([self.seeds.len().max(1)]);
        let cells = lengths.fold(1, usize::saturating_mul);
        (cells > MAX_CELLS).then(|| format!("axes: {cells} combinations; at most {MAX_CELLS} are read"))
    }

    /// A value that `only` or `published` speaks of, and no axis has.
    fn unknown_value(&self) -> Option<String> {
        let exists = |axis: &str, value: &str| {
            self.axes.iter().any(|a| a.name == axis && a.values.iter().any(|v| v.name == value))
        };
        let only = self.axes.iter().flat_map(|axis| &axis.values).flat_map(|value| &value.only);
        let rows = only.chain(self.published.iter().map(|published| &published.row));
        let unknown = rows.flatten().find(|(axis, value)| !exists(axis, value));
        if let Some((axis, value)) = unknown {
            return Some(format!("no axis {axis:?} has a value {value:?}, which `only` or `published` speaks of"));
        }
        let sets: BTreeSet<&String> = self.evaluate.iter().map(|set| &set.name).collect();
        let unknown = self.published.iter().find(|published| !sets.contains(&published.set));
        unknown.map(|published| format!("published: there is no set {:?} in evaluate", published.set))
    }
}

impl Axis {
    fn problem(&self) -> Option<String> {
        if self.name == "seed" {
            return Some("axes: seeds are not an axis of this kind; list them as seeds = [0, 1, 2]".to_owned());
        }
        self.values.is_empty().then(|| format!("axes: {:?} has no values", self.name))
    }
}

impl EvaluationSet {
    /// All kinds where none is asked for.
    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("all", Kind::name)
    }

    fn problem(&self) -> Option<String> {
        (self.beside == Some(PublishedSet::GitaStories))
            .then(|| format!("evaluate {:?}: gita-stories is of single stories, and tables are of pairs", self.name))
    }
}

impl PublishedCell {
    pub fn as_row(&self) -> PublishedRow {
        let [accuracy, consistency, verifiability] = self.scores;
        PublishedRow { system: self.system.clone(), accuracy, consistency, verifiability }
    }
}

fn repeated<T: Ord + std::fmt::Debug>(what: &str, names: impl IntoIterator<Item = T>) -> Option<String> {
    let mut seen = BTreeSet::new();
    let twice = names.into_iter().find_map(|name| (!seen.insert(format!("{name:?}"))).then_some(name));
    twice.map(|name| format!("{what}: {name:?} occurs twice"))
}

fn published_set<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<PublishedSet>, D::Error> {
    let name = String::deserialize(deserializer)?;
    PublishedSet::from_str(&name, false).map(Some).map_err(|_| {
        let names: Vec<String> = PublishedSet::value_variants()
            .iter()
            .filter_map(|set| Some(set.to_possible_value()?.get_name().to_owned()))
            .collect();
        serde::de::Error::custom(format!("{name:?}: must be one of {}", names.join(", ")))
    })
}
