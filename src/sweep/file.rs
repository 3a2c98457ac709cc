//! The sweep file. Unknown keys are errors. `docs/sweeps.md` describes every key.

use crate::config::explain;
use crate::data::Kind;
use crate::error::{Error, Result};
use crate::report::{PublishedRow, PublishedSet};
use crate::untrusted::{self, MAX_CONFIG, MAX_RUNS, component, shown};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Table;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepFile {
    /// Also the name of its folder.
    pub name: String,
    /// The config that every run starts from. Like all paths, it is relative to the current folder.
    pub base: PathBuf,
    /// Keys of the config that override the base in every run.
    #[serde(default)]
    pub set: Table,
    /// The seeds, over which tables take the mean. Without them, the base's seed.
    #[serde(default)]
    pub seeds: Vec<u64>,
    #[serde(default)]
    pub axes: Vec<Axis>,
    /// The sets on which every run is evaluated after training.
    pub evaluate: Vec<EvaluationSet>,
    /// How tables choose the sentences in conflict.
    #[serde(default = "papers_conflicts")]
    pub decode: Vec<ConflictChoice>,
    /// Which states are predicted, in tables.
    #[serde(default = "papers_states")]
    pub states: Vec<StateChoice>,
    /// Published scores of systems that runs reproduce.
    #[serde(default)]
    pub published: Vec<PublishedEntry>,
}

fn papers_conflicts() -> Vec<ConflictChoice> {
    vec![ConflictChoice::Threshold]
}

fn papers_states() -> Vec<StateChoice> {
    vec![StateChoice::Argmax]
}

/// A named list of values that vary over the runs.
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
    /// The runs that have the value: those with all values of one of these tables (axis -> value). Empty means all.
    #[serde(default)]
    pub only: Vec<BTreeMap<String, String>>,
}

/// A named split of a story file.
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
    /// The published set whose scores are shown below tables.
    #[serde(default, deserialize_with = "published_set")]
    pub published: Option<PublishedSet>,
}

/// Published scores of one system on one set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedEntry {
    /// The system and where its scores are published.
    pub system: String,
    /// The name of an evaluation set.
    pub set: String,
    /// The rows that the scores belong to: axis -> value.
    pub row: BTreeMap<String, String>,
    /// Accuracy, consistency, verifiability, in percent.
    pub scores: [f64; 3],
}

/// How the sentences in conflict are chosen from the conflict probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ConflictChoice {
    /// As in the paper: every sentence of conflict probability 0.5 or more.
    Threshold,
    /// The most likely sentence pair.
    Pair,
    /// The most likely sentence pair among those that the other story does not have.
    Contrast,
    /// The decoding of the run's detector: threshold for the paper's detector, pair for the joint one.
    Own,
}

/// Which states are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum StateChoice {
    /// As in the paper: the most likely class.
    Argmax,
    /// As chosen on the run's dev pairs.
    Calibrated,
}

impl SweepFile {
    /// # Errors
    /// `MissingInput`, `Io`; `Config` naming file, line and key.
    pub fn open(path: &Path) -> Result<Self> {
        Self::parse(path, &untrusted::read(path, MAX_CONFIG).map_err(|error| Error::reading(path, &error))?)
    }

    /// Parses the bytes of a sweep file. `path` is its name in errors.
    ///
    /// # Errors
    /// `Config`, as [`SweepFile::open`].
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let wrong = |problem: String| Error::config(format!("{}: {problem}", path.display()));
        let text = untrusted::text(bytes).map_err(wrong)?;
        let file: SweepFile =
            toml::from_str(text).map_err(|error| Error::config(explain(&path.display().to_string(), &error)))?;
        file.problem().map_or(Ok(file), |problem| Err(wrong(shown(&problem, 500))))
    }

    /// What is wrong with the file although its types are right.
    fn problem(&self) -> Option<String> {
        let names = std::iter::once(&self.name).chain(self.evaluate.iter().map(|set| &set.name));
        if let Some(error) = names.map(|name| component(name)).find_map(Result::err) {
            return Some(format!("name: {error}"));
        }
        if self.evaluate.is_empty() || self.decode.is_empty() || self.states.is_empty() {
            return Some("evaluate, decode and states must not be empty; give each at least one value".to_owned());
        }
        repeated("evaluate", self.evaluate.iter().map(|set| &set.name))
            .or_else(|| repeated("axes", self.axes.iter().map(|axis| &axis.name)))
            .or_else(|| repeated("seeds", &self.seeds))
            .or_else(|| self.axes.iter().find_map(Axis::problem))
            .or_else(|| self.too_many())
            .or_else(|| self.evaluate.iter().find_map(EvaluationSet::problem))
            .or_else(|| self.unknown_value())
    }

    /// An error if there are too many combinations. All are built before `only` removes some.
    fn too_many(&self) -> Option<String> {
        let lengths = self.axes.iter().map(|axis| axis.values.len()).chain([self.seeds.len().max(1)]);
        let runs = lengths.fold(1, usize::saturating_mul);
        (runs > MAX_RUNS).then(|| format!("axes: {runs} combinations are too many; give at most {MAX_RUNS}"))
    }

    /// A value or a set that `only` or `published` names and that does not exist.
    fn unknown_value(&self) -> Option<String> {
        let exists = |axis: &str, value: &str| {
            self.axes.iter().any(|a| a.name == axis && a.values.iter().any(|v| v.name == value))
        };
        let only = self.axes.iter().flat_map(|axis| &axis.values).flat_map(|value| &value.only);
        let rows = only.chain(self.published.iter().map(|published| &published.row));
        let unknown = rows.flatten().find(|(axis, value)| !exists(axis, value));
        if let Some((axis, value)) = unknown {
            return Some(format!("no axis {axis:?} has a value {value:?}, which `only` or `published` names"));
        }
        let sets: BTreeSet<&String> = self.evaluate.iter().map(|set| &set.name).collect();
        let unknown = self.published.iter().find(|published| !sets.contains(&published.set));
        unknown.map(|published| format!("published: there is no set {:?} in evaluate", published.set))
    }
}

impl Axis {
    fn problem(&self) -> Option<String> {
        if self.name == "seed" {
            return Some("axes: \"seed\" can't be an axis; list seeds as seeds = [0, 1, 2]".to_owned());
        }
        self.values.is_empty().then(|| format!("axes: {:?} has no values; give it at least one", self.name))
    }
}

impl EvaluationSet {
    /// The name of the kind, or "all" without one.
    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("all", Kind::name)
    }

    fn problem(&self) -> Option<String> {
        (self.published == Some(PublishedSet::GitaStories))
            .then(|| format!("evaluate {:?}: gita-stories is of single stories, and tables are of pairs", self.name))
    }
}

impl PublishedEntry {
    pub fn as_row(&self) -> PublishedRow {
        PublishedRow::from_percent(&self.system, self.scores)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_name_leads_to_the_new_one() {
        let file = |set: &str, states: &str| {
            format!(
                "name = 'a'\nbase = 'a.toml'\nstates = ['{states}']\n[[evaluate]]\nname = 'b'\nfile = 'b'\nsplit = 'dev'\n{set}"
            )
        };
        for (text, new) in [
            (file("beside = 'trip-dev'", "argmax"), "`beside` is `published` now"),
            (file("", "tuned"), "`tuned` is `calibrated` now"),
        ] {
            let error = SweepFile::parse(Path::new("sweep.toml"), text.as_bytes()).unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Config);
            assert!(error.message.starts_with("sweep.toml: ") && error.message.contains(new), "{}", error.message);
        }
        assert!(SweepFile::parse(Path::new("sweep.toml"), file("", "argmax").as_bytes()).is_ok());
    }
}
