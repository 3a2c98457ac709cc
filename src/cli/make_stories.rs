//! `tiered make-stories`: labelled stories from the tables of `data/world/`.

use crate::error::{Error, Result};
use crate::world::{Kinds, Language, Order, Style, World, make_stories};
use std::fs::File;
use std::io::BufWriter;
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
    /// Story file to write; an existing one is replaced
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let world = World::load()?;
    let order = Order {
        language: args.lang,
        style: args.style.unwrap_or(args.lang.style()),
        pairs: args.pairs as usize,
        seed: args.seed,
        kinds: args.kind,
        split: args.split.clone(),
    };
    write(&world, &order, args)?;
    Ok(())
}

fn write(world: &World, order: &Order, args: &Args) -> Result<()> {
    let file = File::create(&args.out).map_err(|error| Error::writing(&args.out, &error))?;
    make_stories(world, order, &mut BufWriter::new(file)).map_err(|error| error.about(args.out.display()))
}
