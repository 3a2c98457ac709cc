//! What is printed: reports in the format that was asked for, on a standard output that may be closed early
//! (`| head`) without a fuss.

use super::format::{Format, FormatArgs};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::RunFolder;
use crate::report::comparison::Comparison;
use crate::report::{
    Detail, PublishedRow, PublishedSet, PublishedStoryRow, Report, StoryReport, StoryRow, Table, published,
    published_models,
};
use crate::say::{aside, harmless, is_quiet, quoted};
use crate::schema;
use serde::Serialize;
use std::io::{ErrorKind as IoErrorKind, IsTerminal, Write};

/// An answer as JSON with two spaces of indentation, and its schema version.
///
/// # Errors
/// `Internal`.
pub(super) fn to_json(answer: &impl Serialize) -> Result<String> {
    let json = schema::to_string_pretty(answer);
    json.map(|json| json + "\n").map_err(|error| Error::new(ErrorKind::Internal, format!("JSON: {error}")))
}

/// Prints text, [`harmless`]. A reader that has gone away is no error.
pub(super) fn print(text: &str) -> Result<()> {
    print_bytes(harmless(text).as_bytes())
}

/// Prints text as it is, for programs: every character counts. On a terminal it is [`harmless`].
pub(super) fn print_exactly(text: &str) -> Result<()> {
    match std::io::stdout().is_terminal() {
        true => print(text),
        false => print_bytes(text.as_bytes()),
    }
}

/// Prints bytes as they are: those of a file.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<()> {
    written(bytes).map(drop)
}

/// Prints text, [`harmless`]; false if the reader has gone away.
pub(super) fn is_printed(text: &str) -> Result<bool> {
    written(harmless(text).as_bytes())
}

fn written(bytes: &[u8]) -> Result<bool> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == IoErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::new(ErrorKind::Io, format!("standard output cannot be written: {error}"))),
    }
}

/// A bar over pairs, on a terminal.
pub(super) fn pair_bar(pairs: u64) -> indicatif::ProgressBar {
    if std::io::stderr().is_terminal() && !is_quiet() {
        indicatif::ProgressBar::new(pairs)
    } else {
        indicatif::ProgressBar::hidden()
    }
}

/// Says that a run isn't at its end yet: its weights, and what is chosen on dev, are not what they will be.
pub(super) fn warn_unless_ended(run: &RunFolder) {
    if !run.has_ended() {
        let (path, named) = (run.path().display(), quoted(run.path().display()));
        aside!(
            "warning: {path}: its training has not come to its end; `tiered train --resume {named}` goes on with it"
        );
    }
}

/// How a report is shown.
#[derive(clap::Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    format: FormatArgs,
    /// Print precision and recall of states, macro-F1 and calibration too
    #[arg(long, short)]
    verbose: bool,
    /// Print the macro-F1 of every attribute too
    #[arg(long)]
    per_attribute: bool,
    /// Print the published scores of this set below
    #[arg(long, value_name = "SET")]
    published: Option<PublishedSet>,
}

impl ReportArgs {
    pub fn published(&self) -> Vec<PublishedRow> {
        self.published.map(published).unwrap_or_default()
    }

    /// To stand below these rows.
    pub fn published_stories(&self, rows: &[StoryRow]) -> Vec<PublishedStoryRow> {
        if self.published != Some(PublishedSet::GitaStories) {
            return Vec::new();
        }
        let without_model = rows
            .first()
            .map(|row| PublishedStoryRow::always_implausible([&row.accuracy, &row.consistency, &row.verifiability]));
        published_models().into_iter().chain(without_model).collect()
    }

    /// # Errors
    /// `Usage` if the published scores are of stories where pairs are asked about, or the other way round, or if details
    /// are asked for that scores of stories don't have.
    pub fn check(&self, by_story: bool) -> Result<()> {
        let details = [(self.verbose, "--verbose"), (self.per_attribute, "--per-attribute")];
        if let Some((_, option)) = details.into_iter().find(|(is_given, _)| by_story && *is_given) {
            let message = format!("--unit story: {option} adds tables about pairs only; leave it out");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        match (by_story, self.published) {
            (false, Some(PublishedSet::GitaStories)) => Err(Error::new(
                ErrorKind::Usage,
                "--published gita-stories: is of single stories, and needs --unit story",
            )),
            (true, Some(set)) if set != PublishedSet::GitaStories => {
                Err(Error::new(ErrorKind::Usage, "--unit story: only --published gita-stories is of single stories"))
            }
            _ => Ok(()),
        }
    }

    /// # Errors
    /// `Data` if these are not the pairs that scores to be shown were published for.
    pub fn check_pairs<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Result<()> {
        self.published.map_or(Ok(()), |set| set.check(ids))
    }

    pub fn format_stories(&self, report: &StoryReport) -> String {
        match self.format.format {
            Format::Json => report.to_json(),
            Format::Text => report.to_text(),
            Format::Markdown => report.to_markdown(),
            Format::Csv => report.in_tables(Table::to_csv),
            Format::Latex => report.in_tables(Table::to_latex),
        }
    }

    pub fn format(&self, report: &Report) -> String {
        let detail = Detail { verbose: self.verbose, per_attribute: self.per_attribute };
        match self.format.format {
            Format::Json => report.to_json(),
            Format::Text => report.to_text(detail),
            Format::Markdown => report.to_markdown(detail),
            Format::Csv => report.in_tables(detail, Table::to_csv),
            Format::Latex => report.in_tables(detail, Table::to_latex),
        }
    }

    /// Whether lines for a person may follow the report.
    pub fn is_text(&self) -> bool {
        self.format.format == Format::Text
    }
}

/// A comparison in the format that was asked for.
pub(super) fn shown(comparison: &Comparison, format: Format) -> String {
    match format {
        Format::Text => comparison.to_text(),
        Format::Json => comparison.to_json(),
        Format::Markdown => comparison.to_markdown(),
        Format::Csv => comparison.to_csv(),
        Format::Latex => comparison.to_latex(),
    }
}
