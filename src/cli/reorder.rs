//! `tiered data reorder`: makes order stories from plausible stories with labels.

use super::out_file::{OutFile, Replacing};
use crate::data;
use crate::error::Result;
use crate::say::{aside, counted, is_quiet};
use crate::synthetic::reorder_stories;
use std::path::PathBuf;

/// Make order stories from labelled plausible stories, by swapping two sentences whose labels then conflict
#[derive(clap::Args)]
pub(super) struct Args {
    /// The story file; only its plausible stories are read
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The split to read, and the name of the split to write
    #[arg(long, value_name = "NAME", default_value = "train")]
    split: String,
    /// The story file to write; "-" for standard output
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    replacing: Replacing,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let out = OutFile::beside(&[&args.data], &args.output, args.replacing)?;
    let file = data::read_file(&args.data)?;
    file.require_clean()?;
    let mut bytes = Vec::new();
    let count = reorder_stories(file.split(&args.split)?, &args.split, &mut bytes)
        .map_err(|error| error.about(args.data.display()))?;
    out.write_bytes(&bytes)?;
    if !is_quiet() {
        aside!("{}: {}", args.output.display(), counted(count, "pair"));
    }
    Ok(())
}
