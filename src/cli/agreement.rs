//! `tiered data agreement`: compares two annotators' labels of the same stories.

use super::format::{Format, FormatArgs};
use super::output::print;
use crate::analysis::AnnotatorAgreement;
use crate::data::{Severity, SharedStories, StoryFile, Unshared, WhyUnshared, checking, read_file};
use crate::error::Result;
use crate::say::{aside, counted};
use std::path::PathBuf;

/// How many left-out stories a warning names without `--verbose`.
const NAMED: usize = 5;

/// Measure how far two annotators of the same stories agree, and list where they differ
///
/// Prints Cohen's kappa and Krippendorff's alpha of each tier and each attribute. A story is the same if split, id and
/// sentences are; other stories are left out.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The story file of the first annotator
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The story file of the second annotator
    #[arg(value_name = "B")]
    second: PathBuf,
    /// Only the stories of this split [default: of all splits]
    #[arg(long)]
    split: Option<String>,
    #[command(flatten)]
    format: FormatArgs,
    /// List all disagreements, not only the first 20, and in tables too; JSON always has all
    #[arg(long, short)]
    verbose: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let (first, second) = (read_file(&args.first)?, read_file(&args.second)?);
    let files = [&first, &second];
    let shared = SharedStories::of(files, args.split.as_deref())?;
    files.iter().for_each(|file| warn_of_errors(file));
    warn_of_left_out(files, &shared.left_out, args.verbose);
    let agreement = AnnotatorAgreement::of(files, shared);
    let output = match (args.format.format, args.format.format.of_tables()) {
        (Format::Text, _) => agreement.to_text(args.verbose),
        (_, Some(format)) => agreement.in_tables(format, args.verbose),
        (_, None) => agreement.to_json(),
    };
    print(&output)
}

fn warn_of_errors(file: &StoryFile) {
    if file.count(Severity::Error) > 0 {
        let (path, checking) = (file.path.display(), checking(&file.path));
        aside!("warning: {path}: some stories can't be used; {checking} lists them");
    }
}

fn warn_of_left_out(files: [&StoryFile; 2], left_out: &[Unshared], verbose: bool) {
    let [a, b] = files.map(|file| file.path.display());
    for (why, words) in [
        (WhyUnshared::OnlyFirst, format!("only in {a}")),
        (WhyUnshared::OnlySecond, format!("only in {b}")),
        (WhyUnshared::OtherSentences, "with different sentences".into()),
    ] {
        let names: Vec<_> =
            left_out.iter().filter(|one| one.why == why).map(|one| format!("{}/{}", one.split, one.story)).collect();
        if names.is_empty() {
            continue;
        }
        let named = if verbose { names.len() } else { NAMED.min(names.len()) };
        let more = if named < names.len() { format!(" and {} more", names.len() - named) } else { String::new() };
        let count = counted(names.len(), "story");
        aside!("warning: {count} {words}, left out: {}{more}", names[..named].join(", "));
    }
}
