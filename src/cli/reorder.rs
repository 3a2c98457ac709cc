//! `tiered data reorder`: order stories from plausible stories with labels.

use super::out_file::{OutFile, Replacing};
use crate::data;
use crate::say::{aside, counted};
use crate::world::reorder_stories;
use std::path::PathBuf;

/// Make order stories of labelled plausible ones: swap two sentences where the labels vouch for the conflict
#[derive(clap::Args)]
pub(super) struct Args {
    /// Story file with plausible stories; its other stories are passed over
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Partition to read, and name of the one that is written
    #[arg(long, value_name = "NAME", default_value = "train")]
    split: String,
    /// Story file to write; "-" for standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    replacing: Replacing,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let out = OutFile::new(&args.out, args.replacing)?;
    let file = data::read_file(&args.data)?;
    file.require_clean()?;
    let mut bytes = Vec::new();
    let count = reorder_stories(file.partition(&args.split)?, &args.split, &mut bytes)
        .map_err(|error| error.about(args.data.display()))?;
    out.write_bytes(&bytes)?;
    aside!("{}: {}", args.out.display(), counted(count, "pair"));
    Ok(())
}
