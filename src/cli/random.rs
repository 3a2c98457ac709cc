//! `tiered random`: what chance scores on a story file.

use super::eval::{PairKind, split};
use super::output::print;
use super::study::Format;
use crate::baseline::Baseline;
use crate::data::{self, Pair, Severity};
use crate::error::{Error, Result};
use crate::metrics::{PairSet, reached};
use crate::prediction::write_predictions;
use crate::report::comparison::{Compared, Comparison, SectionData, System};
use crate::report::{PublishedSet, published};
use std::path::{Path, PathBuf};

/// Score predictions made by chance: the papers' random baseline
///
/// The story is a coin's, the conflict two sentences drawn from the other story, every state drawn from its classes. The
/// mean over several seeds is shown, with its 95 % interval over story groups.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The story file
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The partition [default: test, or the only one of the file]
    #[arg(long)]
    split: Option<String>,
    /// Which pairs
    #[arg(long, value_enum, default_value_t = PairKind::All)]
    kind: PairKind,
    /// The mean of so many seeds, from 0
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// A second row: every pair gets the gold answers of another one
    #[arg(long)]
    shuffled: bool,
    /// Show the scores published for this set beneath
    #[arg(long, value_name = "SET")]
    beside: Option<PublishedSet>,
    /// Write the predictions of every seed into this folder too, for `tiered score`
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let path = args.data.display();
    if args.beside == Some(PublishedSet::GitaStories) {
        let message = "--beside gita-stories: is of single stories, and these are pairs";
        return Err(Error::new(crate::error::ErrorKind::Usage, message).into());
    }
    let file = data::read_file(&args.data)?;
    let split = split(&file, args.split.as_deref())?;
    if file.count(Severity::Error) > 0 {
        eprintln!(
            "warning: {path}: some stories can't be used and are left out; `tiered data check {path}` lists them"
        );
    }
    let stories = file.partition(&split)?;
    let pairs = |seed| args.kind.of(data::pairs(stories, seed));
    if pairs(0).is_empty() {
        return Err(
            Error::data(format!("{path}: partition {split:?} has no pairs of kind {}", args.kind.name())).into()
        );
    }
    let kinds: &[Baseline] = if args.shuffled { &[Baseline::Random, Baseline::Shuffled] } else { &[Baseline::Random] };
    let systems: Result<Vec<System>> = kinds.iter().map(|&kind| system(args, kind, pairs)).collect();
    let section = SectionData {
        set: format!("{path}, {split}, {}", args.kind.name()),
        decoding: "the draw itself".to_owned(),
        pairs: Some(PairSet::new(pairs(0).into_iter().map(|pair| (pair.id, pair.group)))),
        systems: systems?,
        published: args.beside.map(published).unwrap_or_default(),
    };
    // Chance against chance is nothing to test.
    let comparison = Comparison::new("Chance", vec![section], &Compared::Rows(Vec::new()));
    print(&args.format.show(&comparison))?;
    Ok(())
}

fn system(args: &Args, kind: Baseline, pairs: impl Fn(u64) -> Vec<Pair>) -> Result<System> {
    let outcome = |seed| {
        let predictions = kind.predict(&pairs(seed), seed);
        if let Some(folder) = &args.save {
            save(folder, &format!("{}-{seed}.jsonl", kind.name().replace(' ', "-")), &predictions)?;
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

fn save(folder: &Path, name: &str, predictions: &[crate::prediction::PairPrediction]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
    write_predictions(&folder.join(name), predictions)
}
