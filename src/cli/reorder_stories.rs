//! `tiered reorder-stories`: order stories from plausible stories with labels.

use crate::data::{self, Story};
use crate::error::{Error, Result};
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
    /// Story file to write; an existing one is replaced
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let file = data::read_file(&args.data)?;
    file.require_clean()?;
    let count = write(file.partition(&args.split)?, args)?;
    println!("{}: {count} pairs", args.out.display());
    Ok(())
}

fn write(stories: &[Story], args: &Args) -> Result<usize> {
    let mut bytes = Vec::new();
    let count = reorder_stories(stories, &args.split, &mut bytes).map_err(|error| error.about(args.data.display()))?;
    std::fs::write(&args.out, bytes).map_err(|error| Error::writing(&args.out, &error))?;
    Ok(count)
}
