//! What is printed: reports in the format that was asked for, on a standard output that may be closed early
//! (`| head`) without a fuss.

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::RunFolder;
use crate::report::{
    Detail, PublishedRow, PublishedSet, PublishedStoryRow, Report, StoryReport, published, published_stories,
};
use crate::say::{aside, harmless};
use std::io::{ErrorKind as IoErrorKind, IsTerminal, Write};

/// Prints text, [`harmless`]. A reader that has gone away is no error.
pub(super) fn print(text: &str) -> Result<()> {
    print_bytes(harmless(text).as_bytes())
}

/// Prints bytes as they are: those of a file.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != IoErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io, format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// A bar over pairs, on a terminal.
pub(super) fn pair_bar(pairs: u64) -> indicatif::ProgressBar {
    if std::io::stderr().is_terminal() { indicatif::ProgressBar::new(pairs) } else { indicatif::ProgressBar::hidden() }
}

/// Says that a run isn't at its end yet: its weights, and what is chosen on dev, are not what they will be.
pub(super) fn warn_unless_ended(run: &RunFolder) {
    if !run.has_ended() {
        let path = run.path().display();
        aside!("warning: {path}: its training has not come to its end; `tiered train --resume {path}` goes on with it");
    }
}

/// How a report is shown.
#[derive(clap::Args)]
pub(super) struct ReportArgs {
    /// Print everything as JSON
    #[arg(long, conflicts_with_all = ["markdown", "per_attribute"])]
    pub json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
    /// Show macro-F1 of every attribute too
    #[arg(long)]
    per_attribute: bool,
    /// Show the scores published for this set beneath
    #[arg(long, value_name = "SET")]
    beside: Option<PublishedSet>,
}

impl ReportArgs {
    pub fn published(&self) -> Vec<PublishedRow> {
        self.beside.map(published).unwrap_or_default()
    }

    pub fn published_stories(&self) -> Vec<PublishedStoryRow> {
        if self.beside == Some(PublishedSet::GitaStories) { published_stories() } else { Vec::new() }
    }

    /// # Errors
    /// `Usage` if the published scores are of stories where pairs are asked about, or the other way round.
    pub fn check(&self, by_story: bool) -> Result<()> {
        match (by_story, self.beside) {
            (false, Some(PublishedSet::GitaStories)) => {
                Err(Error::new(ErrorKind::Usage, "--beside gita-stories: is of single stories, and needs --by story"))
            }
            (true, Some(set)) if set != PublishedSet::GitaStories => {
                Err(Error::new(ErrorKind::Usage, "--by story: only --beside gita-stories is of single stories"))
            }
            _ => Ok(()),
        }
    }

    /// # Errors
    /// `Data` if these are not the pairs that scores to be shown were published for.
    pub fn check_pairs<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Result<()> {
        self.beside.map_or(Ok(()), |set| set.check(ids))
    }

    pub fn format_stories(&self, report: &StoryReport) -> String {
        match (self.json, self.markdown) {
            (true, _) => report.to_json(),
            (_, true) => report.to_markdown(),
            _ => report.to_text(),
        }
    }

    pub fn format(&self, report: &Report) -> String {
        let detail = if self.per_attribute { Detail::PerAttribute } else { Detail::Summary };
        match (self.json, self.markdown) {
            (true, _) => report.to_json(),
            (_, true) => report.to_markdown(detail),
            _ => report.to_text(detail),
        }
    }

    /// Whether lines for a person may follow the report.
    pub fn is_text(&self) -> bool {
        !self.json && !self.markdown
    }
}
