//! `tiered data synthesize`: writes labelled stories from the tables of `data/world/`.

use super::out_file::{OutFile, Replacing};
use crate::error::{Error, ErrorKind, Result};
use crate::language::Language;
use crate::synthetic::{Kinds, Order, Style, World, make_stories};
use crate::untrusted::component;
use std::io::Write;
use std::path::PathBuf;

/// Write synthetic stories with labels, to train on
#[derive(clap::Args)]
pub(super) struct Args {
    /// The language of the stories
    #[arg(long)]
    lang: Language,
    /// The style of the stories: in the style of TRIP or of GITA [default: trip for English, gita for Italian]
    #[arg(long)]
    style: Option<Style>,
    /// The number of pairs (a plausible and an implausible story)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pairs: u32,
    /// The seed of the stories; the same seed writes the same stories
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// The kind of implausible stories
    #[arg(long, value_name = "KIND", default_value = "both")]
    kind: Kinds,
    /// The name of the split
    #[arg(long, value_name = "NAME", default_value = "train")]
    split: String,
    /// The story file to write; "-" for standard output
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    replacing: Replacing,
}

pub(super) fn run(args: &Args) -> Result<()> {
    component(&args.split).map_err(|error| {
        Error::new(ErrorKind::Usage, format!("--split: {error}; evaluations are saved in folders of this name"))
    })?;
    let out = OutFile::new(&args.output, args.replacing)?;
    let world = World::load()?;
    let order = Order {
        language: args.lang,
        style: args.style.unwrap_or(args.lang.style()),
        pairs: args.pairs as usize,
        seed: args.seed,
        kinds: args.kind,
        split: args.split.clone(),
    };
    let make = |file: &mut dyn Write| make_stories(&world, &order, file);
    out.write(|file| make(file).map_err(|error| error.about(args.output.display())))
}
