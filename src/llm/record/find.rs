//! Finds the files of recorded answers, and puts those of one model together.

use super::read::{SampleRecord, read_samples};
use super::results::{RunFacts, read_facts};
use crate::error::{Error, ErrorKind, Result};
use crate::llm::tier::Tier;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How deep folders are searched: `results/MODEL/ORG__MODEL/`.
const DEPTH: usize = 3;

/// One model's recorded answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    /// The model's name in its `results` file, else the folder's.
    pub model: String,
    /// The folder that holds the files; empty for files named without one.
    pub folder: PathBuf,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// What the first `results` file says; empty if there is none.
    pub facts: RunFacts,
    /// What must stand beside the figures, such as too few shots; of all `results` files.
    pub remarks: Vec<String>,
    /// For each tier that has a file, its answers in the order of the file.
    pub tiers: BTreeMap<Tier, Vec<SampleRecord>>,
}

/// Reads files of samples, and all of them in folders. The files of one folder are one model's.
///
/// # Errors
/// `MissingInput` if there are none; `Data` if a folder has several files of a tier, or a file has not as many lines as
/// the `results` file beside it says; and those of reading.
pub fn find_records(paths: &[PathBuf]) -> Result<Vec<Records>> {
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut order = Vec::new();
    for path in paths {
        let files = if path.is_dir() { samples_in(path, DEPTH)? } else { vec![path.clone()] };
        if files.is_empty() {
            return Err(no_samples(path));
        }
        for file in files {
            let folder = file.parent().unwrap_or(Path::new("")).to_owned();
            if !order.contains(&folder) {
                order.push(folder.clone());
            }
            let of_folder = folders.entry(folder).or_default();
            if !of_folder.contains(&file) {
                of_folder.push(file);
            }
        }
    }
    order.into_iter().map(|folder| records(&folders[&folder], folder.clone())).collect()
}

/// Reads the records in a folder, but not those in folders below.
///
/// # Errors
/// Like [`find_records`].
pub fn records_in(folder: &Path) -> Result<Records> {
    let files = samples_in(folder, 0)?;
    match files.is_empty() {
        true => Err(no_samples(folder)),
        false => records(&files, folder.to_owned()),
    }
}

fn no_samples(path: &Path) -> Error {
    let problem = match path.join("questions.jsonl").is_file() {
        true => "is a run by protocol har; `tiered score` scores its predictions.jsonl",
        false => "has no samples_*.jsonl; name such files, or the folder that has them",
    };
    Error::new(ErrorKind::MissingInput, format!("{}: {problem}", path.display()))
}

/// The files of samples in a folder and those below it, sorted.
fn samples_in(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for path in entries(folder)? {
        if path.is_dir() {
            folders.push(path);
        } else if is_named(&path, "samples_", "jsonl") {
            files.push(path);
        }
    }
    for folder in folders.into_iter().filter(|_| depth > 0) {
        files.extend(samples_in(&folder, depth - 1)?);
    }
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| Error::reading(folder, &error);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

fn is_named(path: &Path, beginning: &str, extension: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(beginning) && path.extension().is_some_and(|other| other == extension)
}

fn records(files: &[PathBuf], folder: PathBuf) -> Result<Records> {
    let mut tiers = BTreeMap::new();
    let mut named: BTreeMap<Tier, &Path> = BTreeMap::new();
    for file in files {
        let (tier, samples) = read_samples(file)?;
        if let Some(other) = named.insert(tier, file) {
            let problem = format!("is of {tier}, as is {}; name one file of each tier", other.display());
            return Err(Error::data(problem).about(file.display()));
        }
        tiers.insert(tier, samples);
    }
    let beside = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
    let results: Vec<PathBuf> =
        entries(beside)?.into_iter().filter(|path| is_named(path, "results_", "json")).collect();
    let all: Vec<RunFacts> = results.iter().map(|path| read_facts(path)).collect::<Result<_>>()?;
    for (&tier, &file) in &named {
        let of_tier = |(path, facts): (_, &RunFacts)| Some((path, *facts.asked.get(&tier)?));
        let told: Vec<(&PathBuf, u64)> = results.iter().zip(&all).filter_map(of_tier).collect();
        require_whole(file, tiers.get(&tier).map_or(0, Vec::len), &told)?;
    }
    let mut remarks: Vec<String> = Vec::new();
    for remark in all.iter().flat_map(RunFacts::remarks) {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    let facts = all.into_iter().next().unwrap_or_default();
    let of_folder =
        || folder.file_name().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned());
    let model = if facts.model.is_empty() { of_folder() } else { facts.model.clone() };
    let files = files.iter().cloned().chain(results).collect();
    Ok(Records { model, folder, files, facts, remarks, tiers })
}

/// Refuses a file that has more or fewer lines than its run asked about stories, as the `results` files that name its tier
/// tell: it is cut off, or doubled. If a folder has several runs, the file of the same date tells.
fn require_whole(file: &Path, lines: usize, told: &[(&PathBuf, u64)]) -> Result<()> {
    let of_run: Vec<_> = told.iter().filter(|(results, _)| date(results) == date(file)).collect();
    let of_run = if of_run.is_empty() { told.iter().collect() } else { of_run };
    match of_run.first() {
        Some((results, count)) if of_run.iter().all(|(_, count)| *count != lines as u64) => {
            let results = results.file_name().unwrap_or_default().display();
            let problem = format!("has {lines} lines, and {results} says {count}; name the whole file");
            Err(Error::data(problem).about(file.display()))
        }
        _ => Ok(()),
    }
}

/// What stands at the end of the names of a run's files.
fn date(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.rsplit('_').next()
}
