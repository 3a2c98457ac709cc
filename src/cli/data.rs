//! `tiered data`: story files: where they come from, what is in them, and what is wrong with them.

use super::output::print;
use super::{fetch, reorder, synthesize};
use crate::attribute::Attribute;
use crate::data::{Code, Finding, Kind, PartitionStats, Severity, StoryFile, StoryStats, pairs, read_file};
use crate::error::{Error, Result};
use crate::report::Table;
use crate::say::counted;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Say what is irregular in story files, rule by rule; exit with 65 if a story can't be used
    Check(CheckArgs),
    /// Count stories, sentences, entities and labels
    Stats(StatsArgs),
    Fetch(fetch::DataArgs),
    /// Write labelled synthetic stories to train on, as many as wanted
    Synthesize(synthesize::Args),
    Reorder(reorder::Args),
}

#[derive(Args)]
pub(super) struct CheckArgs {
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print every finding as a line of JSON, without the summary
    #[arg(long)]
    json: bool,
    /// Print every finding, not only the first ones of each rule
    #[arg(long, short, conflicts_with = "json")]
    verbose: bool,
    /// Print only findings that are at least so severe; all are counted
    #[arg(long, value_enum, default_value_t = Severity::Note)]
    severity: Severity,
}

#[derive(Args)]
pub(super) struct StatsArgs {
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print one table of all partitions, with averages and shares instead of counts, as Markdown
    #[arg(long, conflicts_with = "json")]
    rates: bool,
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Check(args) => Ok(check(args)?),
        Command::Stats(args) => Ok(stats(args)?),
        Command::Fetch(args) => Ok(fetch::data(args)?),
        Command::Synthesize(args) => synthesize::run(args),
        Command::Reorder(args) => reorder::run(args),
    }
}

fn check(args: &CheckArgs) -> Result<()> {
    let files = read_files(&args.files)?;
    let mut output = String::new();
    let findings = files.iter().flat_map(|file| &file.findings).filter(|finding| finding.severity <= args.severity);
    match (args.json, args.verbose) {
        (true, _) => {
            for finding in findings {
                output += &(json(finding)? + "\n");
            }
        }
        (_, true) => output.extend(findings.map(|finding| format!("{finding}\n"))),
        _ => output += &by_rule(findings),
    }
    let count = |severity| files.iter().map(|file| file.count(severity)).sum::<usize>();
    if !args.json {
        output.extend(files.iter().flat_map(summary));
        output.push_str(&format!("{}\n", Severity::ALL.map(|s| format!("{s}s: {}", count(s))).join(", ")));
    }
    print(&output)?;
    match count(Severity::Error) {
        0 => Ok(()),
        errors => Err(Error::data(format!("stories can't be used (errors: {errors}): mend or remove them"))),
    }
}

/// Findings of one rule that are shown where not all of them are asked for.
const FIRST: usize = 3;

/// The rules that were broken, errors first, each with how often and where it was first.
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

/// What was read of a file, a line a partition.
fn summary(file: &StoryFile) -> impl Iterator<Item = String> {
    file.partitions.iter().map(|(partition, stories)| {
        let (stories, pairs) = (counted(stories.len(), "story"), counted(pairs(stories, 0).len(), "pair"));
        format!("{}: {partition}: {stories} and {pairs} can be used\n", file.path.display())
    })
}

fn stats(args: &StatsArgs) -> Result<()> {
    let files = read_files(&args.files)?;
    let stats: Vec<_> = files.iter().map(FileStats::of).collect();
    let output = match (args.json, args.rates) {
        (true, _) => json(&stats)? + "\n",
        (_, true) => rates(&stats).to_markdown(),
        _ => stats.iter().map(FileStats::to_text).collect(),
    };
    print(&output)
}

fn read_files(paths: &[PathBuf]) -> Result<Vec<StoryFile>> {
    paths.iter().map(|path| read_file(path)).collect()
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::new(crate::error::ErrorKind::Internal, error.to_string()))
}

/// The statistics of one file.
#[derive(Serialize)]
struct FileStats {
    file: PathBuf,
    sha256: String,
    partitions: Vec<PartitionStats>,
}

impl FileStats {
    fn of(file: &StoryFile) -> Self {
        let partitions = file.partitions.iter().map(|(name, stories)| PartitionStats::of(name, stories)).collect();
        FileStats { file: file.path.clone(), sha256: file.sha256.clone(), partitions }
    }

    /// The file's name without its folder.
    fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn to_text(&self) -> String {
        let partition = |stats: &PartitionStats| {
            format!("{}, {}\n{}\n", self.file.display(), stats.partition, table(stats).to_text())
        };
        self.partitions.iter().map(partition).collect()
    }
}

/// Measures down, kinds of story across.
fn table(stats: &PartitionStats) -> Table {
    let columns = [&stats.plausible, &stats.cloze, &stats.order, &stats.all];
    let mut table = Table::new(["", "plausible", "cloze", "order", "all"]);
    let mut row = |name: &str, cell: &dyn Fn(&StoryStats) -> String| {
        let [plausible, cloze, order, all] = columns.map(cell);
        table.push([name.to_owned(), plausible, cloze, order, all]);
    };
    row("stories", &|s| s.stories.to_string());
    row("sentences", &|s| s.sentences.to_string());
    row("sentences a story", &|s| decimal(s.sentences_per_story));
    row("words a sentence", &|s| decimal(s.words_per_sentence));
    row("entities", &|s| s.entities.to_string());
    row("labels, as the papers seem to count", &|s| s.reported_labels.to_string());
    row("nontrivial labels", &|s| s.nontrivial_labels.to_string());
    for attribute in stats.all.nontrivial_by_attribute.keys() {
        row(&format!("  {attribute}"), &|s| s.nontrivial_by_attribute[attribute].to_string());
    }
    table
}

/// Rows of each way to count conflicts; the last is for all that are more.
const COUNTED: usize = 4;

/// Measures down, partitions of files across.
fn rates(files: &[FileStats]) -> Table {
    let partitions: Vec<_> = files.iter().flat_map(|f| f.partitions.iter().map(|p| (f.name(), p))).collect();
    let titles = partitions.iter().map(|(file, p)| format!("{file}, {}", p.partition));
    let mut table = Table::new(std::iter::once(String::new()).chain(titles));
    let mut row = |name: String, cell: &dyn Fn(&PartitionStats) -> String| {
        table.push(std::iter::once(name).chain(partitions.iter().map(|(_, partition)| cell(partition))));
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
