//! `tiered baseline`: scores random predictions on a story file.

use super::format::FormatArgs;
use super::out_file::{OutFile, Replacing, output_folder};
use super::output::{print, shown};
use super::pairs::PairArgs;
use crate::baseline::Baseline;
use crate::data::Pair;
use crate::error::{Error, Result};
use crate::metrics::{PairSet, reached};
use crate::prediction::write_lines;
use crate::report::comparison::{Compared, Comparison, SectionData, System};
use crate::report::{DataDescription, PublishedSet, published};
use std::path::PathBuf;

/// Score random predictions
///
/// The plausible story, two sentences of the other story as the conflict, and the class of every state are drawn at
/// random. The command prints the mean over several seeds with its 95 % interval.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pairs: PairArgs,
    /// The number of seeds to average, from seed 0
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Add a row whose conflicts are drawn from the sentence pairs that only one of the stories has (chance level of
    /// --decode contrast)
    #[arg(long)]
    contrast: bool,
    /// Add a row in which every pair gets the gold answers of another pair
    #[arg(long)]
    shuffled: bool,
    /// Print the published scores of this set below
    #[arg(long = "published", value_name = "SET")]
    published_set: Option<PublishedSet>,
    /// Write the predictions of every seed into this folder, for `tiered score`
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    output: Option<PathBuf>,
    #[command(flatten)]
    replacing: Replacing,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    if args.published_set == Some(PublishedSet::GitaStories) {
        let message = "--published gita-stories: its scores are of single stories, and the baseline is of pairs";
        return Err(Error::new(crate::error::ErrorKind::Usage, message));
    }
    let set = args.pairs.read()?;
    let pairs = |seed| set.pairs(seed);
    if let Some(published) = args.published_set {
        published.check(pairs(0)?.iter().map(|pair| pair.id.as_str()))?;
    }
    if args.shuffled && pairs(0)?.len() < 2 {
        return Err(Error::data(format!(
            "{}: has one pair; --shuffled gives each pair the labels of another one, so name a file of at least two",
            set.path().display()
        )));
    }
    let contrast = args.contrast.then_some(Baseline::Contrast);
    let shuffled = args.shuffled.then_some(Baseline::Shuffled);
    let kinds: Vec<Baseline> = std::iter::once(Baseline::Random).chain(contrast).chain(shuffled).collect();
    // Check that every file can be written before writing the first.
    for path in kinds.iter().flat_map(|&kind| (0..args.seeds).filter_map(move |seed| saved(args, kind, seed))) {
        OutFile::beside(&[set.path()], &path, args.replacing)?;
    }
    let systems: Result<Vec<System>> = kinds.into_iter().map(|kind| system(args, kind, pairs)).collect();
    let first = Baseline::Random.predict(&pairs(0)?, 0);
    let DataDescription { file, split, kind, .. } = set.description(first.len());
    let section = SectionData {
        set: [file, split, Some(kind)].into_iter().flatten().collect::<Vec<_>>().join(", "),
        decoding: "the random draw".to_owned(),
        pairs: Some(PairSet::of(&first)),
        systems: systems?,
        published: args.published_set.map(published).unwrap_or_default(),
    };
    // Testing random predictions against each other would show nothing.
    let comparison = Comparison::new("Chance", vec![section], &Compared::Rows(Vec::new()));
    print(&shown(&comparison, args.format.format))
}

/// The file for the predictions of a seed, if `--output` is given.
fn saved(args: &Args, kind: Baseline, seed: u64) -> Option<PathBuf> {
    let words: Vec<&str> = kind.name().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    Some(args.output.as_ref()?.join(format!("{}-{seed}.jsonl", words.join("-"))))
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
