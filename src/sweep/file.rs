//! The sweep file. Unknown keys are errors. `docs/sweeps.md` describes every key.

use crate::config::explain;
use crate::data::Kind;
use crate::error::{Error, Result};
use crate::experiment::CheckpointKind;
use crate::report::{PublishedRow, PublishedSet};
use crate::untrusted::{self, MAX_CONFIG, MAX_RUNS, component, shown};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Table;

/// What a sweep file says.
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
    /// Cross-validation over so many folds of the story groups, instead of one run with dev.
    #[serde(default)]
    pub folds: Option<u32>,
    /// What varies: the allowed combinations of values are the runs, each with every seed.
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

/// A named split of a story file, or several together.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSet {
    /// Also the name of its folder in a run's `eval/`.
    pub name: String,
    /// `${NAME}` stands for the environment variable.
    pub file: PathBuf,
    /// The names of the splits in the file.
    #[serde(rename = "split", deserialize_with = "one_or_several")]
    pub splits: Vec<String>,
    /// Only pairs of this kind; `None`: all.
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
        file.validate().map_err(|problem| wrong(shown(&problem, 500)))?;
        Ok(file)
    }

    /// # Errors
    /// The first value that has the right type but is invalid.
    fn validate(&self) -> Result<(), String> {
        for name in std::iter::once(&self.name).chain(self.evaluate.iter().map(|set| &set.name)) {
            component(name).map_err(|error| format!("name: {error}"))?;
        }
        let last = CheckpointKind::Last.suffix();
        if let Some(set) = self.evaluate.iter().find(|set| set.name.ends_with(last)) {
            return Err(format!("evaluate {:?}: names that end with {last} are those of the last weights", set.name));
        }
        if self.evaluate.is_empty() || self.decode.is_empty() || self.states.is_empty() {
            return Err("evaluate, decode and states must not be empty; give each at least one value".to_owned());
        }
        distinct("evaluate", self.evaluate.iter().map(|set| &set.name))?;
        distinct("axes", self.axes.iter().map(|axis| &axis.name))?;
        distinct("seeds", &self.seeds)?;
        self.axes.iter().try_for_each(Axis::validate)?;
        self.validate_folds()?;
        self.validate_size()?;
        self.evaluate.iter().try_for_each(EvaluationSet::validate)?;
        self.validate_names()
    }

    /// There must not be too many combinations. All are built before `only` removes some.
    fn validate_size(&self) -> Result<(), String> {
        let lengths =
            self.axes.iter().map(|axis| axis.values.len()).chain([self.seeds.len().max(1), self.each_fold().len()]);
        let runs = lengths.fold(1, usize::saturating_mul);
        if runs > MAX_RUNS {
            return Err(format!("axes: {runs} combinations are too many; give at most {MAX_RUNS}"));
        }
        Ok(())
    }

    /// The values and sets that `only` and `published` name must exist.
    fn validate_names(&self) -> Result<(), String> {
        let exists = |axis: &str, value: &str| {
            self.axes.iter().any(|a| a.name == axis && a.values.iter().any(|v| v.name == value))
        };
        let only = self.axes.iter().flat_map(|axis| &axis.values).flat_map(|value| &value.only);
        let rows = only.chain(self.published.iter().map(|published| &published.row));
        let unknown = rows.flatten().find(|(axis, value)| !exists(axis, value));
        if let Some((axis, value)) = unknown {
            return Err(format!("no axis {axis:?} has a value {value:?}, which `only` or `published` names"));
        }
        let sets: BTreeSet<&String> = self.evaluate.iter().map(|set| &set.name).collect();
        let mut places = BTreeSet::new();
        for PublishedEntry { system, set, row, scores } in &self.published {
            if !sets.contains(set) {
                return Err(format!("published: there is no set {set:?} in evaluate"));
            }
            if !places.insert((set, row)) {
                return Err(format!(
                    "published: two entries are of set {set:?} and the same row; a row shows one only"
                ));
            }
            if !scores.iter().all(|score| (0. ..=100.).contains(score)) {
                return Err(format!("published: the scores of {system:?} must be percentages, from 0 to 100"));
            }
        }
        Ok(())
    }
}

impl Axis {
    fn validate(&self) -> Result<(), String> {
        if self.name == "seed" {
            return Err("axes: \"seed\" can't be an axis; list seeds as seeds = [0, 1, 2]".to_owned());
        }
        if self.values.is_empty() {
            return Err(format!("axes: {:?} has no values; give it at least one", self.name));
        }
        Ok(())
    }
}

impl EvaluationSet {
    /// The name of the kind, or "all" without one.
    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("all", Kind::name)
    }

    /// The names of its splits: "train", "train+dev".
    pub fn split_name(&self) -> String {
        self.splits.join("+")
    }

    fn validate(&self) -> Result<(), String> {
        if self.splits.is_empty() {
            return Err(format!("evaluate {:?}: split is empty; name at least one", self.name));
        }
        distinct(&format!("evaluate {:?}: split", self.name), &self.splits)?;
        if self.published == Some(PublishedSet::GitaStories) {
            let problem = "gita-stories is of single stories, and tables are of pairs";
            return Err(format!("evaluate {:?}: {problem}", self.name));
        }
        Ok(())
    }
}

impl PublishedEntry {
    pub fn as_row(&self) -> PublishedRow {
        PublishedRow::from_percent(&self.system, self.scores)
    }
}

/// No item may occur twice.
fn distinct<T: Ord + std::fmt::Debug>(what: &str, items: impl IntoIterator<Item = T>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for item in items {
        let name = format!("{item:?}");
        if !seen.insert(item) {
            return Err(format!("{what}: {name} occurs twice"));
        }
    }
    Ok(())
}

fn one_or_several<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected the name of a split, or a list of names")]
    enum Names {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Names::deserialize(deserializer)? {
        Names::One(name) => vec![name],
        Names::Several(names) => names,
    })
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
    fn an_unknown_key_is_named_with_its_file_and_a_suggestion() {
        let parse = |key: &str| {
            let set = "[[evaluate]]\nname = 'b'\nfile = 'b'\nsplit = 'dev'\n";
            let text = format!("name = 'a'\nbase = 'a.toml'\n{key} = ['argmax']\n{set}");
            SweepFile::parse(Path::new("sweep.toml"), text.as_bytes())
        };
        let error = parse("state").unwrap_err();
        assert_eq!(error.kind, crate::error::ErrorKind::Config);
        let said = ["sweep.toml: ", "line 3", "did you mean `states`?"];
        assert!(said.iter().all(|words| error.message.contains(words)), "{error}");
        assert!(parse("states").is_ok());
    }

    #[test]
    fn two_published_scores_of_one_row_are_refused() {
        let published = "[[published]]\nset = 'b'\nsystem = 'S'\nrow = {}\nscores = [3, 2, 1]\n";
        let file = |published: &str| {
            let text = format!(
                "name = 'a'\nbase = 'a.toml'\n[[evaluate]]\nname = 'b'\nfile = 'b'\nsplit = 'dev'\n{published}"
            );
            SweepFile::parse(Path::new("sweep.toml"), text.as_bytes())
        };
        assert!(file(published).is_ok());
        let error = file(&published.repeat(2)).unwrap_err();
        assert!(error.message.contains("two entries are of set \"b\" and the same row"), "{error}");
    }
}
