//! The cells of a study: every combination of values, as a config.

use super::file::{AxisValue, StudyFile};
use crate::config::Config;
use crate::durable::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::flat;
use crate::outside::shown;
use std::collections::BTreeSet;
use std::path::Path;
use toml::{Table, Value};

/// Characters of a folder's name.
const HASH_LENGTH: usize = 12;

/// Keys that say where and how to compute or how often to save, and not what comes out.
const NOT_HASHED: [&str; 4] = ["device", "threads", "checkpoint.every", "checkpoint.keep"];

/// One experiment of a study.
#[derive(Debug, Clone)]
pub struct Cell {
    /// From 1, also the number of its task.
    pub number: usize,
    /// Axis and value, without the seed.
    pub values: Vec<(String, String)>,
    pub config: Config,
    /// Of the config; names the run folder.
    pub hash: String,
}

impl Cell {
    /// All its values and its seed.
    pub fn name(&self) -> String {
        match self.row_name().as_str() {
            "" => format!("seed {}", self.config.seed),
            values => format!("{values} / seed {}", self.config.seed),
        }
    }

    /// Its values without the seed, which cells of one row of a table share.
    pub fn row_name(&self) -> String {
        self.values.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" / ")
    }

    pub fn has(&self, axis: &str, value: &str) -> bool {
        self.values.iter().any(|(a, v)| a == axis && v == value)
    }
}

/// The first of the cells that a machine takes, and every n-th after it: `i/n`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    pub index: usize,
    pub count: usize,
}

impl Shard {
    pub fn takes(self, cell: &Cell) -> bool {
        (cell.number - 1) % self.count == self.index - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err(format!("{text:?}: must be i/n with i from 1 to n, e.g. 2/4")),
        }
    }
}

/// Every combination of values that goes together, the last axis and then the seeds fastest.
///
/// # Errors
/// `Config` naming the cell.
pub fn cells(file: &StudyFile) -> Result<Vec<Cell>> {
    let mut combinations: Vec<Vec<(&str, &AxisValue)>> = vec![Vec::new()];
    for axis in &file.axes {
        let longer = |cell: Vec<_>| axis.values.iter().map(move |v| [&cell[..], &[(axis.name.as_str(), v)]].concat());
        combinations = combinations.into_iter().flat_map(longer).collect();
    }
    combinations.retain(|values| values.iter().all(|(_, value)| goes_with(value, values)));
    let seeds: Vec<Option<u64>> = match file.seeds.as_slice() {
        [] => vec![None],
        seeds => seeds.iter().copied().map(Some).collect(),
    };
    let with_seeds = combinations.iter().flat_map(|values| seeds.iter().map(move |&seed| (values, seed)));
    let cells = with_seeds.enumerate().map(|(i, (values, seed))| cell(file, i + 1, values, seed));
    let cells: Vec<Cell> = cells.collect::<Result<_>>()?;
    if cells.is_empty() {
        return Err(Error::config("axes: no combination of values goes together; look at `only`"));
    }
    let mut names = BTreeSet::new();
    match cells.iter().find(|cell| !names.insert(cell.name())) {
        Some(cell) => Err(Error::config(format!("axes: two cells are called {:?}; look at `only`", cell.name()))),
        None => Ok(cells),
    }
}

/// Whether a cell of these values may have this one.
fn goes_with(value: &AxisValue, values: &[(&str, &AxisValue)]) -> bool {
    let has = |(axis, name): (&String, &String)| values.iter().any(|(a, v)| a == axis && v.name == *name);
    value.only.is_empty() || value.only.iter().any(|needed| needed.iter().all(has))
}

fn cell(file: &StudyFile, number: usize, values: &[(&str, &AxisValue)], seed: Option<u64>) -> Result<Cell> {
    let mut overrides = Vec::new();
    for table in std::iter::once(&file.set).chain(values.iter().map(|(_, value)| &value.set)) {
        flatten("", table, &mut overrides);
    }
    overrides.extend(seed.map(|seed| format!("seed={seed}")));
    let values = values.iter().map(|(axis, value)| (axis.to_string(), value.name.clone())).collect();
    let config = Config::open(&file.base, &overrides);
    let mut cell = match config {
        Ok(config) => Cell { number, values, config, hash: String::new() },
        // A base that is missing is not a matter of this cell.
        Err(error) if error.kind != ErrorKind::Config => return Err(error.about("base")),
        Err(error) => return Err(error.about(format!("cell {number} ({})", shown(&format!("{values:?}"), 300)))),
    };
    cell.hash = hash(&cell.config)?;
    Ok(cell)
}

/// As `--set` takes them. Only what is no table is set, so that a table adds to the one beneath it.
fn flatten(prefix: &str, table: &Table, overrides: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            Value::Table(inner) => flatten(&format!("{prefix}{key}."), inner, overrides),
            value => overrides.push(format!("{prefix}{key}={value}")),
        }
    }
}

/// The same on every machine: of a path that begins at the root only the last name counts, and variables in a path are
/// not replaced. Keys at their defaults don't count, so that a key that later versions add changes no name.
fn hash(config: &Config) -> Result<String> {
    let defaults = flat(&least_config()?)?;
    let counts = |key: &str, value: &Value| !NOT_HASHED.contains(&key) && defaults.get(key) != Some(value);
    let keys = flat(config)?.into_iter().filter(|(key, value)| counts(key, value));
    let lines: String = keys.map(|(key, value)| format!("{key} = {}\n", movable(value))).collect();
    Ok(sha256(lines.as_bytes())[..HASH_LENGTH].to_owned())
}

/// A config in which everything that can be is at its default.
fn least_config() -> Result<Config> {
    toml::from_str("encoder.path = ''\ndata.train = { file = '', split = '' }")
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the least config is none: {error}")))
}

fn movable(value: Value) -> Value {
    match value {
        Value::String(text) if Path::new(&text).is_absolute() => {
            let name = Path::new(&text).file_name().unwrap_or_default();
            Value::String(name.to_string_lossy().into_owned())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(movable).collect()),
        Value::Table(table) => Value::Table(table.into_iter().map(|(key, value)| (key, movable(value))).collect()),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "[encoder]\npath = 'e'\n[data]\ntrain = { file = 'f', split = 'train' }\n";
    const STUDY: &str = "
name = 's'
seeds = [0, 1]
set = { train.epochs = 2 }
evaluate = [{ name = 'dev', file = 'f', split = 'dev' }]
[[axes]]
name = 'detector'
values = [{ name = 'paper' }, { name = 'joint', set = { model.detector.kind = 'joint' } }]
[[axes]]
name = 'context'
values = [
  { name = 'sentence' },
  { name = 'story', set = { model.detector.context = 'story' }, only = [{ detector = 'joint' }] },
]
";

    fn of(base: &str, study: &str) -> Result<Vec<Cell>> {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("base.toml"), base).unwrap();
        let path = folder.path().join("study.toml");
        std::fs::write(&path, format!("base = '{}'\n{study}", folder.path().join("base.toml").display())).unwrap();
        cells(&StudyFile::open(&path)?)
    }

    #[test]
    fn cells_are_the_product_of_what_goes_together() {
        let cells = of(BASE, STUDY).unwrap();
        let names: Vec<String> = cells.iter().map(Cell::name).collect();
        let rows = ["paper / sentence", "joint / sentence", "joint / story"];
        assert_eq!(names, rows.map(|row| [0, 1].map(|seed| format!("{row} / seed {seed}"))).concat());
        assert!(cells.iter().all(|cell| cell.config.train.epochs == 2));
        assert_eq!((cells[5].config.seed, cells[5].number), (1, 6));
        let second: Shard = "2/4".parse().unwrap();
        let taken: Vec<usize> = cells.iter().filter(|cell| second.takes(cell)).map(|cell| cell.number).collect();
        assert_eq!(taken, [2, 6]);
        assert!(["0/2", "3/2", "1", "a/b"].iter().all(|text| text.parse::<Shard>().is_err()));
    }

    #[test]
    fn the_hash_is_of_what_comes_out_and_not_of_where() {
        let hashes = |base: &str| of(base, STUDY).unwrap().into_iter().map(|cell| cell.hash).collect::<Vec<_>>();
        let here = hashes(BASE);
        assert_eq!(here[0], "76a6bfb8d0a0", "the folders of earlier studies are found again");
        let distinct: std::collections::BTreeSet<&String> = here.iter().collect();
        assert_eq!(distinct.len(), here.len());
        let elsewhere =
            |place: &str| BASE.replace("'f'", &format!("'{place}/f'")).replace("'e'", &format!("'{place}/e'"));
        assert_eq!(hashes(&elsewhere("/home/a")), hashes(&elsewhere("/mnt/b")));
        assert_eq!(hashes(&format!("device = 'cpu'\nthreads = 2\n{BASE}")), here);
        assert_ne!(hashes(&format!("{BASE}[train]\nlearning_rate = 1e-3\n")), here);
    }

    #[test]
    fn a_wrong_key_is_named_with_its_cell() {
        let error = of(BASE, &STUDY.replace("train.epochs", "train.epoch")).unwrap_err().message;
        assert!(error.contains("cell 1") && error.contains("did you mean `epochs`?"), "{error}");
        for (from, to, said) in [
            ("detector = 'joint' }]", "detector = 'joined' }]", "no axis \"detector\" has a value \"joined\""),
            ("seeds = [0, 1]", "seeds = [1, 1]", "seeds: 1 occurs twice"),
            ("name = 'story', set", "name = 'sentence', set", "two cells are called \"joint / sentence / seed 0\""),
            ("name = 's'", "name = '../s'", "can't be used as a path"),
            ("split = 'dev' }", "split = 'dev', beside = 'trip' }", "must be one of trip-dev"),
        ] {
            let error = of(BASE, &STUDY.replace(from, to)).unwrap_err();
            assert!(error.kind == ErrorKind::Config && error.message.contains(said), "{}", error.message);
        }
    }
}
