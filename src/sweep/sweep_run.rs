//! The runs of a sweep: one config for every combination of values.

use super::file::{AxisValue, SweepFile};
use super::folds;
use crate::config::Config;
use crate::data::Fold;
use crate::durable::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::flat;
use crate::untrusted::shown;
use std::collections::BTreeSet;
use std::path::Path;
use toml::{Table, Value};

/// The length of a folder's name, in characters.
const HASH_LENGTH: usize = 12;

/// Stands for the seed of the run in a text of `set`.
const SEED: &str = "{seed}";

/// Keys that do not change the result: where and how to compute, how often to save. Of the device its kind counts.
const NOT_HASHED: [&str; 4] = ["device", "threads", "checkpoint.every", "checkpoint.keep"];

/// One run of a sweep.
#[derive(Debug, Clone)]
pub struct SweepRun {
    /// From 1. It is also the number of its task.
    pub number: usize,
    /// Axis and value, without the seed.
    pub values: Vec<(String, String)>,
    /// The base with the overrides of the sweep, of the values and of the seed; without its fold.
    pub config: Config,
    /// In cross-validation, the fold that it is evaluated on.
    pub fold: Option<Fold>,
    /// The hash of the config, which names the run folder.
    pub hash: String,
}

impl SweepRun {
    /// All its values, its seed and its fold.
    pub fn name(&self) -> String {
        let values = self.values.iter().map(|(_, value)| value.clone());
        let rest = [Some(format!("seed {}", self.config.seed)), self.fold.map(|fold| format!("fold {fold}"))];
        values.chain(rest.into_iter().flatten()).collect::<Vec<_>>().join(" / ")
    }

    /// Its values without seed and fold. The runs of one table row share them.
    pub fn row_name(&self) -> String {
        self.values.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" / ")
    }

    /// Whether it has this value on this axis.
    pub fn has(&self, axis: &str, value: &str) -> bool {
        self.values.iter().any(|(a, v)| a == axis && v == value)
    }
}

/// `i/n`: the i-th run and every n-th after it, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// i, from 1 to `count`.
    pub index: usize,
    /// n, the number of shards.
    pub count: usize,
}

impl Shard {
    /// Whether the run belongs to the shard.
    pub fn takes(self, run: &SweepRun) -> bool {
        (run.number - 1) % self.count == self.index - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err(format!("{text:?} is no shard; write i/n with i from 1 to n, e.g. 2/4")),
        }
    }
}

/// Every allowed combination of values. The folds vary fastest, then the seeds, then the last axis.
///
/// # Errors
/// `Config` naming the run.
pub fn runs(file: &SweepFile) -> Result<Vec<SweepRun>> {
    let mut combinations: Vec<Vec<(&str, &AxisValue)>> = vec![Vec::new()];
    for axis in &file.axes {
        let longer = |run: Vec<_>| axis.values.iter().map(move |v| [&run[..], &[(axis.name.as_str(), v)]].concat());
        combinations = combinations.into_iter().flat_map(longer).collect();
    }
    combinations.retain(|values| values.iter().all(|(_, value)| goes_with(value, values)));
    let seeds: Vec<Option<u64>> = match file.seeds.as_slice() {
        [] => vec![None],
        seeds => seeds.iter().copied().map(Some).collect(),
    };
    let folds = file.each_fold();
    let with_seeds = combinations.iter().flat_map(|values| seeds.iter().map(move |&seed| (values, seed)));
    let with_folds = with_seeds.flat_map(|(values, seed)| folds.iter().map(move |&fold| (values, seed, fold)));
    let runs = with_folds.enumerate().map(|(i, (values, seed, fold))| run(file, i + 1, values, seed, fold));
    let runs: Vec<SweepRun> = runs.collect::<Result<_>>()?;
    if runs.is_empty() {
        return Err(Error::config("axes: `only` excludes every combination of values; correct `only`"));
    }
    let mut names = BTreeSet::new();
    match runs.iter().find(|run| !names.insert(run.name())) {
        Some(run) => {
            Err(Error::config(format!("axes: two runs are called {:?}; give them different values", run.name())))
        }
        None => Ok(runs),
    }
}

/// Whether a value is allowed in a run with these values.
fn goes_with(value: &AxisValue, values: &[(&str, &AxisValue)]) -> bool {
    let has = |(axis, name): (&String, &String)| values.iter().any(|(a, v)| a == axis && v.name == *name);
    value.only.is_empty() || value.only.iter().any(|needed| needed.iter().all(has))
}

fn run(
    file: &SweepFile,
    number: usize,
    values: &[(&str, &AxisValue)],
    seed: Option<u64>,
    fold: Option<Fold>,
) -> Result<SweepRun> {
    let mut overrides = Vec::new();
    for table in std::iter::once(&file.set).chain(values.iter().map(|(_, value)| &value.set)) {
        flatten("", table, &mut overrides);
    }
    if seed.is_none() && overrides.iter().any(|key| key.contains(SEED)) {
        return Err(Error::config(format!("set: {SEED} stands for one of `seeds`, and there are none; add `seeds`")));
    }
    if let Some(seed) = seed {
        overrides.iter_mut().for_each(|key| *key = key.replace(SEED, &seed.to_string()));
        overrides.push(format!("seed={seed}"));
    }
    let values = values.iter().map(|(axis, value)| (axis.to_string(), value.name.clone())).collect();
    let config = Config::open(&file.base, &overrides).and_then(|config| match fold {
        Some(fold) => folds::without(fold, config, &file.evaluate).map_err(Error::config),
        None if config.data.leave_out.is_some() => Err(Error::config(folds::LEAVES_OUT)),
        None => Ok(config),
    });
    let mut run = match config {
        Ok(config) => SweepRun { number, values, config, fold, hash: String::new() },
        // A missing base is not an error of this run.
        Err(error) if error.kind != ErrorKind::Config => return Err(error.about("base")),
        Err(error) => {
            let values: Vec<String> = values.iter().map(|(axis, value)| format!("{axis} {value}")).collect();
            return Err(error.about(format!("run {number} ({})", shown(&values.join(", "), 300))));
        }
    };
    run.hash = hash(&run.config)?;
    Ok(run)
}

/// The keys of a table in the form of `--set`. Nested tables are flattened, so that they add to the tables that they
/// override.
fn flatten(prefix: &str, table: &Table, overrides: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            Value::Table(inner) => flatten(&format!("{prefix}{key}."), inner, overrides),
            value => overrides.push(format!("{prefix}{key}={value}")),
        }
    }
}

/// A hash that is the same on every machine. Of an absolute path only the last name counts, and variables in a path are
/// not replaced. Keys at their defaults do not count, so that a key added by a later version changes no hash. A GPU rounds
/// otherwise and draws other dropout masks than the CPU, so that a run on one has another hash. `device = "auto"` is what it
/// chooses on this machine.
fn hash(config: &Config) -> Result<String> {
    let mut lines = hashed(config)?;
    if config.device.is_gpu() {
        lines += "device = cuda\n";
    }
    Ok(sha256(lines.as_bytes())[..HASH_LENGTH].to_owned())
}

/// What of a config counts on every device.
fn hashed(config: &Config) -> Result<String> {
    let defaults = flat(&least_config()?)?;
    let counts = |key: &str, value: &Value| !NOT_HASHED.contains(&key) && defaults.get(key) != Some(value);
    let keys = flat(config)?.into_iter().filter(|(key, value)| counts(key, value));
    Ok(keys.map(|(key, value)| format!("{key} = {}\n", movable(value))).collect())
}

/// A digest of the configs of runs, in their order. It is the same on every machine, whatever its device.
pub fn digest(runs: &[SweepRun]) -> Result<String> {
    let configs = runs.iter().map(|run| hashed(&run.config)).collect::<Result<Vec<_>>>()?;
    Ok(sha256(configs.join("\n").as_bytes())[..HASH_LENGTH].to_owned())
}

/// A config in which every optional key has its default.
fn least_config() -> Result<Config> {
    toml::from_str("encoder.path = ''\ndata.train = { file = '', split = '' }")
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the default config can't be read: {error}")))
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
    const SWEEP: &str = "
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

    fn of(base: &str, sweep: &str) -> Result<Vec<SweepRun>> {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("base.toml"), base).unwrap();
        let path = folder.path().join("sweep.toml");
        std::fs::write(&path, format!("base = '{}'\n{sweep}", folder.path().join("base.toml").display())).unwrap();
        runs(&SweepFile::open(&path)?)
    }

    #[test]
    fn each_seed_may_have_a_first_stage_of_its_own() {
        let runs = of(BASE, &SWEEP.replace("set = {", "set = { init_from = 'runs/first-seed{seed}',")).unwrap();
        let first_stages: Vec<_> = runs.iter().map(|run| (run.config.seed, run.config.init_from.as_deref())).collect();
        let of_seed =
            |seed: u64| [Path::new("runs/first-seed0"), Path::new("runs/first-seed1")].get(seed as usize).copied();
        assert!(first_stages.iter().all(|&(seed, first)| first == of_seed(seed)), "{first_stages:?}");
        let without = SWEEP.replace("set = {", "set = { init_from = 'first-{seed}',").replace("seeds = [0, 1]", "");
        assert!(of(BASE, &without).unwrap_err().message.contains("add `seeds`"));
    }

    #[test]
    fn runs_are_the_combinations_of_what_goes_together() {
        let runs = of(BASE, SWEEP).unwrap();
        let names: Vec<String> = runs.iter().map(SweepRun::name).collect();
        let rows = ["paper / sentence", "joint / sentence", "joint / story"];
        assert_eq!(names, rows.map(|row| [0, 1].map(|seed| format!("{row} / seed {seed}"))).concat());
        assert!(runs.iter().all(|run| run.config.train.epochs == 2));
        assert_eq!((runs[5].config.seed, runs[5].number), (1, 6));
        let second: Shard = "2/4".parse().unwrap();
        let taken: Vec<usize> = runs.iter().filter(|run| second.takes(run)).map(|run| run.number).collect();
        assert_eq!(taken, [2, 6]);
        assert!(["0/2", "3/2", "1", "a/b"].iter().all(|text| text.parse::<Shard>().is_err()));
    }

    /// Cross-validation over the split that is trained on, and dev.
    const FOLDS: &str = "
name = 's'
seeds = [0, 1]
folds = 3
evaluate = [{ name = 'all', file = 'f', split = ['train', 'dev'] }]
";

    const PUBLISHED_OF_ALL: &str =
        "name = 's'\npublished = [{ system = 'P', set = 'all', row = {}, scores = [1, 2, 3] }]";

    #[test]
    fn folds_are_runs_that_train_on_the_rest_of_train_and_dev() {
        let base = format!("{BASE}dev = {{ file = 'f', split = 'dev' }}\n");
        let runs = of(&base, FOLDS).unwrap();
        assert_eq!(runs.len(), 6);
        assert_eq!((runs[1].name().as_str(), runs[1].row_name().as_str()), ("seed 0 / fold 2 of 3", ""));
        assert!(runs.iter().all(|run| run.config.data.leave_out == run.fold && run.config.data.dev.is_none()));
        let splits = |run: &SweepRun| run.config.data.train.splits();
        assert!(runs.iter().all(|run| splits(run) == "train, dev"));
        for (from, to, said) in [
            ("folds = 3", "folds = 1", "folds must be from 2 to 100"),
            ("folds = 3", "folds = 3\nstates = ['calibrated']", "no dev to choose a threshold on"),
            ("['train', 'dev']", "'test'", "\"test\" of f is in neither data.train nor data.dev"),
            ("file = 'f'", "file = 'g'", "can't be held out of training"),
            ("['train', 'dev']", "[]", "split is empty"),
            ("'dev'] }", "'dev'], published = 'trip-dev' }", "published scores are of whole sets"),
            ("name = 's'", PUBLISHED_OF_ALL, "published scores are of whole sets"),
            ("folds = 3", "folds = 3\nset = { train.patience = 1 }", "train.patience needs dev pairs"),
            ("folds = 3", "folds = 3\nset = { data.leave_out = { fold = 1, of = 2 } }", "write `folds`"),
            ("folds = 3", "set = { data.leave_out = { fold = 1, of = 2 } }", "write `folds`"),
        ] {
            let error = of(&base, &FOLDS.replace(from, to)).unwrap_err();
            assert!(error.kind == ErrorKind::Config && error.message.contains(said), "{}", error.message);
        }
        let error = of(&format!("{base}leave_out = {{ fold = 3, of = 2 }}\n"), SWEEP).unwrap_err().message;
        assert!(error.contains("data.leave_out"), "{error}");
    }

    #[test]
    fn the_hash_is_of_what_comes_out_and_not_of_where() {
        let hashes = |base: &str| of(base, SWEEP).unwrap().into_iter().map(|run| run.hash).collect::<Vec<_>>();
        let here = hashes(BASE);
        assert_eq!(here[0], "76a6bfb8d0a0", "the hash is the same in later versions");
        let distinct: std::collections::BTreeSet<&String> = here.iter().collect();
        assert_eq!(distinct.len(), here.len());
        let elsewhere =
            |files: &str| BASE.replace("'f'", &format!("'{files}/f'")).replace("'e'", &format!("'{files}/e'"));
        assert_eq!(hashes(&elsewhere("/home/a")), hashes(&elsewhere("/mnt/b")));
        assert_eq!(hashes(&format!("device = 'cpu'\nthreads = 2\n{BASE}")), here);
        let on_gpu = hashes(&format!("device = 'cuda'\n{BASE}"));
        assert!(on_gpu != here && on_gpu == hashes(&format!("device = 'cuda:1'\n{BASE}")));
        assert_ne!(hashes(&format!("{BASE}[train]\nlearning_rate = 1e-3\n")), here);
    }

    #[test]
    fn a_wrong_key_is_named_with_its_run() {
        let error = of(BASE, &SWEEP.replace("train.epochs", "train.epoch")).unwrap_err().message;
        assert!(error.contains("run 1") && error.contains("did you mean `epochs`?"), "{error}");
        for (from, to, said) in [
            ("detector = 'joint' }]", "detector = 'joined' }]", "no axis \"detector\" has a value \"joined\""),
            ("seeds = [0, 1]", "seeds = [1, 1]", "seeds: 1 occurs twice"),
            ("name = 'story', set", "name = 'sentence', set", "two runs are called \"joint / sentence / seed 0\""),
            ("name = 's'", "name = '../s'", "can't be used as a path"),
            ("split = 'dev' }", "split = 'dev', published = 'trip' }", "must be one of trip-dev"),
        ] {
            let error = of(BASE, &SWEEP.replace(from, to)).unwrap_err();
            assert!(error.kind == ErrorKind::Config && error.message.contains(said), "{}", error.message);
        }
    }
}
