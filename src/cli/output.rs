//! What is printed: reports in the format that was asked for, on a standard output that may be closed early
//! (`| head`) without a fuss.

use super::format::{Format, FormatArgs};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::RunFolder;
use crate::report::comparison::Comparison;
use crate::report::{
    Detail, PublishedRow, PublishedSet, PublishedStoryRow, Report, StoryReport, StoryRow, published, published_models,
};
use crate::say::{aside, harmless, is_quiet, quoted};
use std::io::{BufWriter, ErrorKind as IoErrorKind, IsTerminal, Write};

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
        Err(error) => Err(unwritten(error)),
    }
}

fn unwritten(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("standard output cannot be written: {error}"))
}

/// Lets `make` write to standard output as it goes. A reader that has gone away ends that, and is no error.
pub(super) fn stream(make: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut stdout = Streamed { to: BufWriter::new(std::io::stdout().lock()), ended: None };
    let made = make(&mut stdout).and_then(|()| stdout.flush().map_err(unwritten));
    stdout.ended.unwrap_or(made)
}

/// Notes how writing ended before its end: well, if the reader has gone away.
struct Streamed<W> {
    to: W,
    ended: Option<Result<()>>,
}

impl<W: Write> Streamed<W> {
    fn noted<T>(&mut self, written: std::io::Result<T>) -> std::io::Result<T> {
        written.map_err(|error| {
            let kind = error.kind();
            self.ended = match kind {
                IoErrorKind::Interrupted => None, // it is tried again
                IoErrorKind::BrokenPipe => Some(Ok(())),
                _ => Some(Err(unwritten(error))),
            };
            kind.into()
        })
    }
}

impl<W: Write> Write for Streamed<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.to.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let flushed = self.to.flush();
        self.noted(flushed)
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
        match (self.format.format, self.format.format.of_tables()) {
            (Format::Text, _) => report.to_text(),
            (Format::Markdown, _) => report.to_markdown(),
            (_, Some(format)) => report.in_tables(format),
            (_, None) => report.to_json(),
        }
    }

    pub fn format(&self, report: &Report) -> String {
        let detail = Detail { verbose: self.verbose, per_attribute: self.per_attribute };
        match (self.format.format, self.format.format.of_tables()) {
            (Format::Text, _) => report.to_text(detail),
            (Format::Markdown, _) => report.to_markdown(detail),
            (_, Some(format)) => report.in_tables(detail, format),
            (_, None) => report.to_json(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes one write, then fails so.
    struct Full(Option<IoErrorKind>, usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1 += 1;
            self.0.filter(|_| self.1 > 1).map_or(Ok(bytes.len()), |kind| Err(kind.into()))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_leaves_ends_a_stream_well() {
        let ends = |kind: Option<IoErrorKind>| {
            let mut to = Streamed { to: Full(kind, 0), ended: None };
            let written = (0..3).try_for_each(|_| to.write_all(b"story"));
            (written.map_err(|error| error.kind()), to.ended.map(|ended| ended.map_err(|error| error.message)))
        };
        assert_eq!(ends(None), (Ok(()), None));
        assert_eq!(ends(Some(IoErrorKind::BrokenPipe)), (Err(IoErrorKind::BrokenPipe), Some(Ok(()))));
        let (_, full) = ends(Some(IoErrorKind::StorageFull));
        assert!(full.unwrap().unwrap_err().starts_with("standard output cannot be written"));
    }
}
