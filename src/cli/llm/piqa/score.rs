//! `tiered llm piqa score`: scores submissions, and writes the benchmark's tables of results.

use super::tables;
use crate::cli::format::{Format, FormatArgs};
use crate::cli::out_file::output_folder;
use crate::cli::output::print;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::llm::piqa::{
    PiqaProtocol, PiqaSet, ResultRow, SET_ITEMS, SETS, ScoredSubmission, Submission, read_results, replace_rows,
    results_json, score, set_table,
};
use crate::say::aside;
use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Score submissions to the South Slavic PIQA benchmark
///
/// Accuracy is the share of predictions equal to the label. A prediction that is neither 0 nor 1 is wrong, and counted
/// as unanswered. As in the benchmark, only the first entry of `predictions` is read, and the file's name must hold
/// "submission-".
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// Submissions, or folders with submissions
    #[arg(required = true, value_name = "FILE")]
    submissions: Vec<PathBuf>,
    /// The folder with the data sets: SET.jsonl, and SET-labels.lst if the labels are in a file of their own
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Write results.json and results-SET.md into this folder; a system's row takes the place of an earlier one. Scores
    /// by likelihood go into files of their own
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    output: Option<PathBuf>,
    /// Print the published scores of this benchmark below
    #[arg(long, value_name = "SET")]
    published: Option<Published>,
    #[command(flatten)]
    format: FormatArgs,
}

/// Whose scores are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Published {
    /// The systems of the South Slavic PIQA benchmark, February 2026
    SouthSlavicPiqa,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let submissions = submissions(&args.submissions)?;
    let scores = scores(&submissions, &args.data)?;
    if args.published.is_some() {
        require_benchmark(&submissions, &scores)?;
    }
    if let Some(folder) = &args.output {
        write_results(&scores, folder)?;
    }
    let with_published = args.published.is_some();
    print(&match args.format.format.of_tables() {
        None => tables::json(&scores, with_published),
        Some(format) => tables::shown(&scores, with_published, format, args.format.format == Format::Text),
    })
}

/// The submissions named, and those in the folders named, each with its path.
fn submissions(paths: &[PathBuf]) -> Result<Vec<(PathBuf, Submission)>> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(submissions_in(path)?),
            false => files.push(path.clone()),
        }
    }
    files.into_iter().map(|path| Submission::read(&path).map(|submission| (path, submission))).collect()
}

/// The files of a folder whose names are those of submissions, sorted.
fn submissions_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Error::reading(folder, &error))? {
        let path = entry.map_err(|error| Error::reading(folder, &error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains("submission-") && name.ends_with(".json") {
            files.push(path);
        }
    }
    if files.is_empty() {
        let message = format!("{}: holds no submission (submission-....json)", folder.display());
        return Err(Error::new(ErrorKind::MissingInput, message));
    }
    files.sort();
    Ok(files)
}

/// What each submission scores. Each data set is read once.
fn scores(submissions: &[(PathBuf, Submission)], data: &Path) -> Result<Vec<ScoredSubmission>> {
    let mut sets: BTreeMap<&str, PiqaSet> = BTreeMap::new();
    let mut of: BTreeMap<(String, String), &Path> = BTreeMap::new();
    let mut scores = Vec::new();
    for (path, submission) in submissions {
        let about = |error: Error| error.about(path.display());
        let set = submission.first().test.as_str();
        if !sets.contains_key(set) {
            let file = data.join(format!("{set}.jsonl"));
            sets.insert(set, PiqaSet::read(&file, None).map_err(about)?);
        }
        let scored = score(submission, &sets[set]).map_err(about)?;
        if scored.ignored_sets > 0 {
            let more = scored.ignored_sets;
            aside!(
                "warning: {}: only its first set is scored, as in the benchmark; {more} more ignored",
                path.display()
            );
        }
        if let Some(first) = of.insert((scored.system.clone(), set.to_owned()), path) {
            let (path, first, system) = (path.display(), first.display(), &scored.system);
            return Err(Error::data(format!("{path}: {first} is a submission of {system} for {set} too; name one")));
        }
        scores.push(scored);
    }
    Ok(scores)
}

/// Refuses a set that has a name of the benchmark's and another number of items: its score would stand in the benchmark's
/// column.
fn require_benchmark(submissions: &[(PathBuf, Submission)], scores: &[ScoredSubmission]) -> Result<()> {
    let is_other = |scored: &ScoredSubmission| {
        let is_named = scored.protocol == PiqaProtocol::Answer && SETS.contains(&scored.set.as_str());
        is_named && scored.accuracy.total != SET_ITEMS
    };
    let Some(((path, _), scored)) = submissions.iter().zip(scores).find(|&(_, scored)| is_other(scored)) else {
        return Ok(());
    };
    let (set, items) = (&scored.set, scored.accuracy.total);
    let problem = format!("{set} has {items} items, the benchmark's has {SET_ITEMS}; leave --published out");
    Err(Error::data(format!("--published south-slavic-piqa: {problem}")).about(path.display()))
}

/// Merges the scores into the files of results. Protocols that are not the benchmark's have files of their own.
fn write_results(scores: &[ScoredSubmission], folder: &Path) -> Result<()> {
    let files = [("results", true), ("results-likelihood", false)].map(|(name, is_benchmarks)| {
        let of = scores.iter().filter(|scored| (scored.protocol == PiqaProtocol::Answer) == is_benchmarks);
        (name, of.map(ResultRow::from).collect::<Vec<_>>())
    });
    // Everything is read before anything is written.
    let mut merged = Vec::new();
    for (name, new) in files.into_iter().filter(|(_, new)| !new.is_empty()) {
        let path = folder.join(format!("{name}.json"));
        let rows = replace_rows(read_results(&path)?, &new);
        for row in &rows {
            let remedy = "correct the row, or choose another --output";
            let wrong = |error| Error::data(format!("{}: \"Test Dataset\": {error}; {remedy}", path.display()));
            crate::untrusted::component(&row.set).map_err(wrong)?;
        }
        merged.push((name, path, rows));
    }
    durable::create_folder(folder)?;
    for (name, path, rows) in merged {
        durable::replace(&path, results_json(&rows).as_bytes())?;
        for set in rows.iter().map(|row| row.set.as_str()).collect::<BTreeSet<_>>() {
            durable::replace(&folder.join(format!("{name}-{set}.md")), set_table(&rows, set).as_bytes())?;
        }
    }
    Ok(())
}
