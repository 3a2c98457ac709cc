//! `tiered data`: fetches, checks, counts, compares, finds entities, synthesizes and reorders stories.

use super::format::{FormatArgs, TextFormatArgs};
use super::output::print;
use super::{agreement, entities, fetch, reorder, synthesize};
use crate::attribute::Attribute;
use crate::data::{Code, Finding, Kind, Severity, SplitStats, StoryFile, StoryStats, checking, pairs, read_file};
use crate::error::{Error, Result};
use crate::report::{Table, TableFormat};
use crate::say::{aside, counted};
use crate::schema;
use crate::untrusted::{MAX_NAME, shown};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Check story files and print every irregularity by rule; exit with 65 if a story can't be used
    Check(CheckArgs),
    /// Count stories, sentences, entities and labels
    Stats(StatsArgs),
    Agreement(agreement::Args),
    Entities(entities::Args),
    Fetch(fetch::DataArgs),
    Synthesize(synthesize::Args),
    Reorder(reorder::Args),
}

#[derive(Args)]
pub(super) struct CheckArgs {
    /// Story files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    format: TextFormatArgs,
    /// Print every finding, not only the first three of each rule; JSON always has all, one a line
    #[arg(long, short)]
    verbose: bool,
    /// Print only findings of at least this severity; the totals count all
    #[arg(long, value_enum, default_value_t = Severity::Note)]
    severity: Severity,
}

#[derive(Args)]
pub(super) struct StatsArgs {
    /// Story files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    /// Print averages and shares instead of counts, in one table of all splits
    #[arg(long)]
    rates: bool,
}

pub(super) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Check(args) => check(args),
        Command::Stats(args) => stats(args),
        Command::Agreement(args) => agreement::run(args),
        Command::Entities(args) => entities::run(args),
        Command::Fetch(args) => fetch::data(args),
        Command::Synthesize(args) => synthesize::run(args),
        Command::Reorder(args) => reorder::run(args),
    }
}

fn check(args: &CheckArgs) -> Result<()> {
    let (files, unread) = separate(args.files.iter().map(|path| read_file(path)));
    let mut output = String::new();
    let findings = files.iter().flat_map(|file| &file.findings).filter(|finding| finding.severity <= args.severity);
    match (args.format.is_json(), args.verbose) {
        (true, _) => {
            for finding in findings {
                output += &(json(finding)? + "\n");
            }
        }
        (_, true) => output.extend(findings.map(|finding| format!("{finding}\n"))),
        _ => output += &by_rule(findings),
    }
    let count = |severity| files.iter().map(|file| file.count(severity)).sum::<usize>();
    if !args.format.is_json() && !files.is_empty() {
        output.extend(files.iter().flat_map(summary));
        output.push_str(&format!("{}\n", Severity::ALL.map(|s| format!("{s}s: {}", count(s))).join(", ")));
    }
    print(&output)?;
    // A file that can't be read must not hide what is wrong with the others.
    let mut unread = unread.into_iter();
    if let Some(first) = unread.next() {
        unread.for_each(|error| aside!("error: {error}"));
        return Err(first);
    }
    match count(Severity::Error) {
        0 => Ok(()),
        errors => Err(Error::data(format!("some stories can't be used (errors: {errors}); correct or remove them"))),
    }
}

/// How many findings of each rule are shown without `--verbose`.
const FIRST: usize = 3;

/// The broken rules, errors first, each with the number of its findings and the first ones.
fn by_rule<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut rules: BTreeMap<(Severity, Code), Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        rules.entry((finding.severity, finding.code)).or_default().push(finding);
    }
    let mut text = String::new();
    for ((severity, code), found) in rules {
        text += &format!("{severity}[{code}]: {}\n", counted(found.len(), "time"));
        text.extend(found.iter().take(FIRST).map(|finding| format!("  {}: {}\n", finding.place(), finding.message)));
        if found.len() > FIRST {
            text += &format!("  and {} more: --verbose\n", found.len() - FIRST);
        }
        text += "\n";
    }
    text
}

/// How many stories and pairs of a file can be used, one line per split.
fn summary(file: &StoryFile) -> impl Iterator<Item = String> {
    file.splits.iter().map(|(split, stories)| {
        let (stories, pairs) = (counted(stories.len(), "story"), counted(pairs(stories, 0).len(), "pair"));
        format!("{}: {}: {stories} and {pairs} can be used\n", file.path.display(), shown(split, MAX_NAME))
    })
}

fn stats(args: &StatsArgs) -> Result<()> {
    let files = read_files(&args.files)?;
    for file in files.iter().filter(|file| file.count(Severity::Error) > 0) {
        let (path, checking) = (file.path.display(), checking(&file.path));
        aside!("warning: {path}: some stories can't be used and aren't counted; {checking} lists them");
    }
    let stats: Vec<_> = files.iter().map(FileStats::of).collect();
    let output = match (args.format.format.of_tables(), args.rates) {
        (None, _) => json(&AllStats { files: &stats })? + "\n",
        (Some(format), true) => format(&rates(&stats)),
        (Some(format), false) => stats.iter().map(|file| file.tables(format)).collect(),
    };
    print(&output)
}

/// The results that are good, and the errors.
fn separate<T>(results: impl Iterator<Item = Result<T>>) -> (Vec<T>, Vec<Error>) {
    let (mut good, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => good.push(value),
            Err(error) => errors.push(error),
        }
    }
    (good, errors)
}

fn read_files(paths: &[PathBuf]) -> Result<Vec<StoryFile>> {
    paths.iter().map(|path| read_file(path)).collect()
}

fn json(value: &impl Serialize) -> Result<String> {
    schema::to_string(value).map_err(|error| Error::new(crate::error::ErrorKind::Internal, error.to_string()))
}

/// The output as JSON.
#[derive(Serialize)]
struct AllStats<'a> {
    files: &'a [FileStats],
}

/// The statistics of one file.
#[derive(Serialize)]
struct FileStats {
    #[serde(serialize_with = "schema::path")]
    file: PathBuf,
    sha256: String,
    /// Findings that leave stories out.
    errors: usize,
    splits: Vec<SplitStats>,
}

impl FileStats {
    fn of(file: &StoryFile) -> Self {
        let splits = file.splits.iter().map(|(name, stories)| SplitStats::of(name, stories)).collect();
        let errors = file.count(Severity::Error);
        FileStats { file: file.path.clone(), sha256: file.sha256.clone(), errors, splits }
    }

    /// The file's name without its folder.
    fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn tables(&self, format: TableFormat) -> String {
        let split = |stats: &SplitStats| {
            let title = format!("{}, {}", self.file.display(), shown(&stats.split, MAX_NAME));
            format!("{}\n", format(&table(&title, stats)))
        };
        self.splits.iter().map(split).collect()
    }
}

/// Measures down, kinds of story across.
fn table(title: &str, stats: &SplitStats) -> Table {
    let columns = [&stats.plausible, &stats.cloze, &stats.order, &stats.all];
    let mut table = Table::new([title, "plausible", "cloze", "order", "all"]);
    let mut row = |name: &str, cell: &dyn Fn(&StoryStats) -> String| {
        let [plausible, cloze, order, all] = columns.map(cell);
        table.push([name.to_owned(), plausible, cloze, order, all]);
    };
    row("stories", &|s| s.stories.to_string());
    row("sentences", &|s| s.sentences.to_string());
    row("sentences a story", &|s| decimal(s.sentences_per_story));
    row("words a sentence", &|s| decimal(s.words_per_sentence));
    row("entities", &|s| s.entities.to_string());
    row("labels, as the papers seem to count them", &|s| s.reported_labels.to_string());
    row("nontrivial labels", &|s| s.nontrivial_labels.to_string());
    for attribute in stats.all.nontrivial_by_attribute.keys() {
        row(&format!("  {attribute}"), &|s| s.nontrivial_by_attribute[attribute].to_string());
    }
    table
}

/// Rows for each measure of conflicts; the last row is for all greater numbers.
const COUNTED: usize = 4;

/// Measures down, splits of files across.
fn rates(files: &[FileStats]) -> Table {
    let is_other = |a: &FileStats, b: &FileStats| a.name() == b.name() && a.file != b.file;
    let name = |file: &FileStats| match files.iter().any(|other| is_other(file, other)) {
        true => file.file.display().to_string(),
        false => file.name(),
    };
    let splits: Vec<_> = files.iter().flat_map(|f| std::iter::repeat(name(f)).zip(&f.splits)).collect();
    let titles = splits.iter().map(|(file, p)| format!("{file}, {}", shown(&p.split, MAX_NAME)));
    let mut table = Table::new(std::iter::once(String::new()).chain(titles));
    let mut row = |name: String, cell: &dyn Fn(&SplitStats) -> String| {
        table.push(std::iter::once(name).chain(splits.iter().map(|(_, split)| cell(split))));
    };
    let ratio = |part: usize, whole: usize| decimal((whole > 0).then(|| part as f64 / whole as f64));
    row("stories".into(), &|p| p.all.stories.to_string());
    row("sentences a story".into(), &|p| decimal(p.all.sentences_per_story));
    row("words a sentence".into(), &|p| decimal(p.all.words_per_sentence));
    row("entities a story".into(), &|p| ratio(p.all.entities, p.all.stories));
    row("nontrivial labels per 100 sentences".into(), &|p| ratio(100 * p.all.nontrivial_labels, p.all.sentences));
    for attribute in Attribute::ALL {
        row(format!("- {attribute}"), &|p| ratio(100 * p.all.nontrivial_by_attribute[&attribute], p.all.sentences));
    }
    for kind in Kind::ALL {
        let mut rows = |name: &str, first: usize, counts: &dyn Fn(&StoryStats) -> &BTreeMap<usize, usize>| {
            for number in first..first + COUNTED {
                let is_last = number + 1 == first + COUNTED;
                let or_more = if is_last { " or more" } else { "" };
                row(format!("{kind}: {name} {number}{or_more}, % of conflicts"), &|p| {
                    let counts = counts(match kind {
                        Kind::Cloze => &p.cloze,
                        Kind::Order => &p.order,
                    });
                    let is_it = |&(&n, _): &(&usize, &usize)| n == number || (is_last && n > number);
                    ratio(100 * counts.iter().filter(is_it).map(|(_, n)| n).sum::<usize>(), counts.values().sum())
                });
            }
        };
        rows("distance", 1, &|stats| &stats.conflict_distances);
        rows("sentences before", 0, &|stats| &stats.before_conflict);
        rows("sentences after", 0, &|stats| &stats.after_conflict);
    }
    table
}

fn decimal(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.1}"))
}
