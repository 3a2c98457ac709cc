//! `tiered baseline`: what chance scores on a story file.

use super::out_file::{OutFile, Replacing};
use super::output::print;
use super::pairs::PairArgs;
use super::study::Format;
use crate::baseline::Baseline;
use crate::data::Pair;
use crate::error::{Error, Result};
use crate::metrics::{PairSet, reached};
use crate::prediction::write_lines;
use crate::report::comparison::{Compared, Comparison, SectionData, System};
use crate::report::{DataDescription, PublishedSet, published};
use std::path::PathBuf;

/// Score predictions made by chance: the papers' random baseline
///
/// The story is a coin's, the conflict two sentences drawn from the other story, every state drawn from its classes. The
/// mean over several seeds is shown, with its 95 % interval over story groups.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pairs: PairArgs,
    /// The mean of so many seeds, from 0
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Another row: the conflict is drawn from what the other story does not tell too (the chance of --decode contrast)
    #[arg(long)]
    contrast: bool,
    /// Another row: every pair gets the gold answers of another one
    #[arg(long)]
    shuffled: bool,
    /// Show the scores published for this set beneath
    #[arg(long, value_name = "SET")]
    beside: Option<PublishedSet>,
    /// Write the predictions of every seed into this folder too, for `tiered score`
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    #[command(flatten)]
    replacing: Replacing,
    #[command(flatten)]
    format: Format,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    if args.beside == Some(PublishedSet::GitaStories) {
        let message = "--beside gita-stories: is of single stories, and these are pairs";
        return Err(Error::new(crate::error::ErrorKind::Usage, message).into());
    }
    let set = args.pairs.read()?;
    let pairs = |seed| set.pairs(seed);
    if let Some(published) = args.beside {
        published.check(pairs(0)?.iter().map(|pair| pair.id.as_str()))?;
    }
    let contrast = args.contrast.then_some(Baseline::Contrast);
    let shuffled = args.shuffled.then_some(Baseline::Shuffled);
    let kinds: Vec<Baseline> = std::iter::once(Baseline::Random).chain(contrast).chain(shuffled).collect();
    // None is written before all can be.
    for path in kinds.iter().flat_map(|&kind| (0..args.seeds).filter_map(move |seed| saved(args, kind, seed))) {
        OutFile::new(&path, args.replacing)?;
    }
    let systems: Result<Vec<System>> = kinds.into_iter().map(|kind| system(args, kind, pairs)).collect();
    let first = Baseline::Random.predict(&pairs(0)?, 0);
    let DataDescription { file, split, kind, .. } = set.description(first.len());
    let section = SectionData {
        set: [file, split, Some(kind)].into_iter().flatten().collect::<Vec<_>>().join(", "),
        decoding: "the draw itself".to_owned(),
        pairs: Some(PairSet::of(&first)),
        systems: systems?,
        published: args.beside.map(published).unwrap_or_default(),
    };
    // Chance against chance is nothing to test.
    let comparison = Comparison::new("Chance", vec![section], &Compared::Rows(Vec::new()));
    print(&args.format.show(&comparison))?;
    Ok(())
}

/// Where the predictions of a seed are saved, if they are.
fn saved(args: &Args, kind: Baseline, seed: u64) -> Option<PathBuf> {
    Some(args.save.as_ref()?.join(format!("{}-{seed}.jsonl", kind.name().replace(' ', "-"))))
}

fn system(args: &Args, kind: Baseline, pairs: impl Fn(u64) -> Result<Vec<Pair>>) -> Result<System> {
    let outcome = |seed| {
        let predictions = kind.predict(&pairs(seed)?, seed);
        if let Some(path) = saved(args, kind, seed) {
            OutFile::new(&path, args.replacing)?.write(|file| write_lines(file, &path, &predictions))?;
        }
        Ok((seed, reached(&predictions)))
    };
    Ok(System {
        name: kind.name().to_owned(),
        by_seed: (0..args.seeds).map(outcome).collect::<Result<_>>()?,
        missing: Vec::new(),
        published: None,
    })
}
