//! `tiered eval`: a run on a story file -> the tiered table and the predictions.

use super::output::{ReportArgs, pair_bar, print, warn_unless_ended};
use super::pairs::{PairArgs, PairSet};
use crate::decode::{Decode, StateDecode};
use crate::durable::{self, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{EVALUATION_FILES, RunFolder, TrainedRun, Which, keep};
use crate::machine::DeviceChoice;
use crate::prediction::{PairPrediction, without_states};
use crate::report::{DataDescription, StoryReport, StoryRow};
use crate::say::aside;
use clap::ValueEnum;
use std::path::PathBuf;

/// Evaluates a trained run on a story file and writes what it predicted into the run folder.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    #[command(flatten)]
    pairs: PairArgs,
    /// Judge stories in pairs, or every story by itself
    #[arg(long, value_enum, default_value_t = By::Pair)]
    by: By,
    /// Show only this way of deciding which sentences conflict, and record it [default: show both, record that of
    /// the detector: threshold for the papers', pair for the joint one]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to assert: the most likely ones (argmax), those from a probability on (0.7), or these and the surest
    /// one that explains the conflict (0.7,surest); may be repeated [default: argmax, and what was chosen on dev]
    #[arg(long, value_name = "HOW")]
    states: Vec<StateDecode>,
    /// Which weights of the run
    #[arg(long, value_enum, default_value_t = Which::Best)]
    weights: Which,
    /// Where to compute: auto, cpu or cuda:N [default: as in training]
    #[arg(long)]
    device: Option<DeviceChoice>,
    /// Keep it in the run folder under this name [default: made of the names of file, partition and kind]
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// Keep predictions and report in this folder, not in the run folder
    #[arg(long, value_name = "DIR", conflicts_with = "tag")]
    output: Option<PathBuf>,
    /// Replace an evaluation of other pairs that has the same name, or files in the folder of --output
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    show: ReportArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Pair,
    Story,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    args.show.check(args.by == By::Story)?;
    let set = args.pairs.read()?;
    args.show.check_pairs(set.pairs(0)?.iter().map(|pair| pair.id.as_str()))?;
    let name = name(args, &set)?;
    let run = TrainedRun::open(&args.run, args.weights, args.device.as_ref())?;
    warn_unless_ended(&run.folder);
    if args.by == By::Story {
        run.require_alone()?;
    }
    let place = place(args, &set, &run.folder, name)?;
    let recorded = evaluated(&run, &set, args.decode.unwrap_or_else(|| run.own_decode()))?;
    let conflicts = args.decode.map_or(Decode::REPORTED.to_vec(), |decode| vec![decode]);
    let states = if args.states.is_empty() { run.states() } else { args.states.clone() };
    let mut data = set.description(recorded.len());
    data.seen = run.seen(data.sha256.as_deref().unwrap_or_default(), &set.split)?;
    data.without_states = without_states(&recorded);
    let report = run.report(data.clone(), &recorded, &conflicts, &states, args.show.published());
    let stories = match args.by {
        By::Pair => None,
        By::Story => Some(story_report(args, data, &recorded, &conflicts, &states)?),
    };
    let shown = stories.as_ref().map_or_else(|| args.show.format(&report), |stories| args.show.format_stories(stories));
    print(&shown)?;
    let kept = match &place {
        Place::Run(name) => run.record(name, &recorded, &report, stories.as_ref())?,
        Place::Folder(folder) => keep(folder, &recorded, &report, stories.as_ref())?,
        Place::Nowhere => return Ok(()),
    };
    if args.show.is_text() {
        print(&format!("\npredictions: {}\n", kept.display()))?;
    }
    Ok(())
}

/// Where an evaluation is kept.
enum Place {
    /// In the run folder, under this name.
    Run(String),
    Folder(PathBuf),
    /// The run folder can't be written.
    Nowhere,
}

/// What the evaluation is called in the run folder.
fn name(args: &Args, set: &PairSet) -> Result<String> {
    match &args.tag {
        Some(tag) => Ok(format!("{tag}{}", args.weights.suffix())),
        None => set.evaluation_name(args.weights),
    }
}

/// Found out before anything is computed.
fn place(args: &Args, set: &PairSet, folder: &RunFolder, name: String) -> Result<Place> {
    if let Some(output) = &args.output {
        let there = EVALUATION_FILES.map(|file| output.join(file)).into_iter().find(|path| path.exists());
        if let Some(there) = there.filter(|_| !args.force) {
            let message = format!("{}: exists; --force replaces it", there.display());
            return Err(Error::new(ErrorKind::CantCreate, message));
        }
        durable::create_folder(output)?;
        return Ok(Place::Folder(output.clone()));
    }
    if let Some(other) = folder.other_evaluated(&name, &set.description(0))?.filter(|_| !args.force) {
        let message = format!(
            "{}: keeps an evaluation of {other} under the name {name}; --tag NAME keeps this one beside it, --force \
             replaces it",
            folder.path().display()
        );
        return Err(Error::new(ErrorKind::CantCreate, message));
    }
    match folder.evaluation_file(&name, "lock").and_then(|path| Lock::wait_for(&path)) {
        Err(error) if error.kind != ErrorKind::CantCreate || args.tag.is_some() => Err(error),
        Err(error) => {
            aside!("warning: {error}; scores are printed and not kept (--output DIR keeps them elsewhere)");
            Ok(Place::Nowhere)
        }
        Ok(_) => Ok(Place::Run(name)),
    }
}

/// What a run predicts of a set, its conflicts decoded in the way that is recorded.
pub(super) fn evaluated(run: &TrainedRun, set: &PairSet, recorded: Decode) -> Result<Vec<PairPrediction>> {
    let pairs = set.pairs(run.config.seed)?;
    let bar = pair_bar(pairs.len() as u64);
    let evaluation = run.evaluate(pairs, |done| bar.inc(done as u64));
    let evaluation = evaluation.map_err(|error| error.about(set.path().display()))?;
    bar.finish_and_clear();
    Ok(recorded.apply(&evaluation.predictions))
}

fn story_report(
    args: &Args,
    data: DataDescription,
    predictions: &[PairPrediction],
    conflicts: &[Decode],
    states: &[StateDecode],
) -> Result<StoryReport> {
    let decodings = states.iter().flat_map(|&states| conflicts.iter().map(move |&d| (d, states)));
    let rows = decodings.map(|(conflicts, states)| {
        let refused = || Error::new(ErrorKind::Internal, "a run that judges stories alone did not");
        StoryRow::new(predictions, conflicts, states).ok_or_else(refused)
    });
    Ok(StoryReport {
        system: args.run.display().to_string(),
        data,
        rows: rows.collect::<Result<_>>()?,
        published: args.show.published_stories(),
    })
}
