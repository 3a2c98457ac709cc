//! `tiered data synthesize`: labelled stories from the tables of `data/world/`.

use super::out_file::{OutFile, Replacing};
use crate::language::Language;
use crate::world::{Kinds, Order, Style, World, make_stories};
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Language of the stories
    #[arg(long)]
    lang: Language,
    /// The stories they look like in how they are told [default: trip for English, gita for Italian]
    #[arg(long)]
    style: Option<Style>,
    /// Number of pairs of a plausible and an implausible story
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pairs: u32,
    /// The same seed makes the same stories
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// How plausible stories are broken
    #[arg(long, value_name = "KIND", default_value = "both")]
    kind: Kinds,
    /// Name of the partition
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
    Ok(out.write(|file| make(file).map_err(|error| error.about(args.out.display())))?)
}
