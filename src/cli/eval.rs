//! `tiered eval`: evaluates a run on a story file.

use super::out_file::{output_folder, require_other};
use super::output::{ReportArgs, pair_bar, print, warn_unless_ended};
use super::pairs::{LoadedPairs, PairArgs};
use crate::data::Pair;
use crate::decode::{Decode, StateDecode};
use crate::durable::{self, Lock};
use crate::entities::with_found;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, EVALUATION_FILES, RunFolder, TrainedRun, check_ledger, keep};
use crate::language::Language;
use crate::machine::ComputeChoice;
use crate::prediction::{LabelledPair, all_readings, mean_of_readings, without_states};
use crate::report::comparison::once_each;
use crate::report::{DataDescription, StoryReport, StoryRow};
use crate::say::aside;
use crate::untrusted::component;
use clap::ValueEnum;
use std::path::PathBuf;

/// Evaluate a run on a story file: print the tiered table, save the predictions
///
/// The predictions and the report are saved in the run folder, or in the folder of --output.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    #[command(flatten)]
    pairs: PairArgs,
    /// Judge pairs of stories, or single stories
    #[arg(long, value_enum, default_value_t = Unit::Pair)]
    unit: Unit,
    /// The entities of the stories: those that the file gives, or those found in the sentences. A found entity that the
    /// file gives too keeps its labels
    #[arg(long, value_enum, default_value_t = EntitySource::Given)]
    entities: EntitySource,
    /// Read each pair also without its first sentence, without its second one, and so on, and take the mean (test-time
    /// augmentation). It takes four to six times as long for stories of five sentences
    #[arg(long)]
    augment: bool,
    /// How to choose the sentences in conflict: threshold (the papers'), pair (the most likely sentence pair) or
    /// contrast [default: show threshold and pair; save threshold for the paper's detector, pair for the joint one]
    #[arg(long, value_enum)]
    decode: Option<Decode>,
    /// Which states to predict: argmax (the most likely class), 0.7 (nontrivial states of probability 0.7 or more),
    /// 0.7+top1 (the same, and where none at the conflict reaches it, the most probable one) or single (one attribute
    /// of one entity at the conflict); may be repeated [default: argmax, and the choice made on dev]
    #[arg(long, value_name = "HOW")]
    states: Vec<StateDecode>,
    /// Which weights of the run to use
    #[arg(long, value_enum, default_value_t = CheckpointKind::Best)]
    weights: CheckpointKind,
    #[command(flatten)]
    compute: ComputeChoice,
    /// Save the evaluation in the run folder under this name [default: built from the file, the split, the kind and the
    /// options]
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// Save the predictions and the report in this folder, not in the run folder
    #[arg(long, value_name = "DIR", conflicts_with = "tag", value_parser = output_folder())]
    output: Option<PathBuf>,
    /// Replace an evaluation of other pairs under the same name, or the files in the folder of --output
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    show: ReportArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unit {
    Pair,
    Story,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EntitySource {
    Given,
    Found,
}

impl EntitySource {
    /// The pairs with these entities.
    fn of(self, mut pairs: Vec<Pair>) -> Vec<Pair> {
        if self == EntitySource::Found {
            for story in pairs.iter_mut().flat_map(|pair| &mut pair.stories) {
                *story = with_found(story, Language::of(&story.sentences));
            }
        }
        pairs
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    args.show.check(args.unit == Unit::Story)?;
    require_pairs_to_augment(args)?;
    let set = args.pairs.read()?;
    check(args, &set)?;
    let run = TrainedRun::open(&args.run, args.weights, &args.compute)?;
    warn_unless_ended(&run.folder);
    let name = args.output.is_none().then(|| name(args, &set, run.other_precision())).transpose()?;
    if args.unit == Unit::Story {
        run.require_single_story()?;
    }
    let pairs = set.pairs(run.config.seed)?;
    let mut data = set.description(pairs.len());
    data.entities_found = args.entities == EntitySource::Found;
    data.augmented = args.augment;
    data.precision = run.other_precision().map(str::to_owned);
    let destination = match name {
        Some(name) => in_run(args, &data, &run.folder, name)?,
        None => elsewhere(args)?,
    };
    let pairs = args.entities.of(pairs);
    let predictions = match args.augment {
        false => evaluated(&run, &set, pairs)?,
        true => mean_of_readings(evaluated(&run, &set, all_readings(pairs))?),
    };
    let recorded = args.decode.unwrap_or_else(|| run.own_decode()).apply(&predictions);
    let conflicts = args.decode.map_or(Decode::REPORTED.to_vec(), |decode| vec![decode]);
    let states = if args.states.is_empty() { run.states() } else { once_each(args.states.iter().copied()) };
    data = data.with_seen(&run.seen(&set.scored()?)?);
    data.without_states = without_states(&recorded);
    let report = run.report(data.clone(), &recorded, &conflicts, &states, args.show.published());
    run.note_scoring(&report)?;
    let stories = match args.unit {
        Unit::Pair => None,
        Unit::Story => Some(story_report(args, data, &recorded, &conflicts, &states)?),
    };
    let shown = stories.as_ref().map_or_else(|| args.show.format(&report), |stories| args.show.format_stories(stories));
    let saved = match &destination {
        Destination::Run(name) => run.record(name, &recorded, &report, stories.as_ref()).map(|(file, _)| Some(file)),
        // Another program may have written there meanwhile.
        Destination::Folder(folder) => {
            elsewhere(args).and_then(|_| keep(folder, &recorded, &report, stories.as_ref())).map(Some)
        }
        Destination::Nowhere => Ok(None),
    };
    print(&shown)?;
    match saved? {
        Some(path) if args.show.is_text() => print(&format!("\npredictions: {}\n", path.display())),
        _ => Ok(()),
    }
}

/// Refuses what can be refused before the model is loaded.
fn check(args: &Args, set: &LoadedPairs) -> Result<()> {
    args.show.check_pairs(set.pairs(0)?.iter().map(|pair| pair.id.as_str()))?;
    if args.output.is_none() {
        name(args, set, None)?;
    }
    check_ledger()
}

/// # Errors
/// `Usage` if single stories are to be augmented.
fn require_pairs_to_augment(args: &Args) -> Result<()> {
    if args.augment && args.unit == Unit::Story {
        let message = "--augment weighs what a reading says of a story by the other story of its pair; leave it out with \
                       --unit story";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    Ok(())
}

/// Where an evaluation is saved.
enum Destination {
    /// In the run folder, under this name.
    Run(String),
    Folder(PathBuf),
    /// The run folder can't be written to.
    Nowhere,
}

/// The name of the evaluation in the run folder.
fn name(args: &Args, set: &LoadedPairs, precision: Option<&str>) -> Result<String> {
    let found = if args.entities == EntitySource::Found { "-found" } else { "" };
    let augmented = if args.augment { "-augmented" } else { "" };
    let precision = precision.map_or(String::new(), |precision| format!("-{precision}"));
    let last = CheckpointKind::Last.suffix();
    let name = match &args.tag {
        Some(tag) if tag.ends_with(last) => {
            let message = format!("--tag {tag}: names that end with {last} are those of --weights last, which adds it");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        Some(tag) => match component(tag) {
            Ok(tag) => tag.to_owned(),
            Err(error) => {
                let message = format!("--tag: {error}; evaluations are saved in folders of this name");
                return Err(Error::new(ErrorKind::Refused, message));
            }
        },
        None => set.evaluation_name(CheckpointKind::Best)? + found + augmented + &precision,
    };
    Ok(name + args.weights.suffix())
}

/// The folder of `--output`. Decides where to save before anything is computed, so that an error comes early.
fn elsewhere(args: &Args) -> Result<Destination> {
    let Some(output) = &args.output else { return Ok(Destination::Nowhere) };
    for file in EVALUATION_FILES {
        require_other(&[&args.pairs.data], &output.join(file))?;
    }
    let existing = EVALUATION_FILES.map(|file| output.join(file)).into_iter().find(|path| path.exists());
    let problem = match existing.filter(|_| !args.force) {
        Some(existing) => format!("{}: exists; --force replaces it", existing.display()),
        None if output.is_file() => format!("{}: is not a folder; choose another path", output.display()),
        None => {
            durable::create_folder(output)?;
            durable::require_creatable(&output.join(EVALUATION_FILES[0]))?;
            return Ok(Destination::Folder(output.clone()));
        }
    };
    Err(Error::new(ErrorKind::CantCreate, problem))
}

/// A place of this name in the run folder, as early.
fn in_run(args: &Args, data: &DataDescription, folder: &RunFolder, name: String) -> Result<Destination> {
    if let Some(other) = folder.other_evaluated(&name, data)?.filter(|_| !args.force) {
        let message = format!(
            "{}: already has an evaluation named {name}, of {other}; --tag NAME saves this one under another name, \
             --force replaces the old one",
            folder.path().display()
        );
        return Err(Error::new(ErrorKind::CantCreate, message));
    }
    match folder.evaluation_file(&name, "lock").and_then(|path| Lock::wait_for(&path)) {
        Err(error) if error.kind != ErrorKind::CantCreate || args.tag.is_some() => Err(error),
        Err(error) => {
            aside!("warning: {error}; the evaluation is printed but not saved (--output DIR saves it elsewhere)");
            Ok(Destination::Nowhere)
        }
        Ok(_) => Ok(Destination::Run(name)),
    }
}

/// The predictions of a run on pairs of a set; no conflict is decoded yet.
pub(super) fn evaluated(run: &TrainedRun, set: &LoadedPairs, pairs: Vec<Pair>) -> Result<Vec<LabelledPair>> {
    let bar = pair_bar(pairs.len() as u64);
    let evaluation = run.evaluate(pairs, |done| bar.inc(done as u64));
    let evaluation = evaluation.map_err(|error| error.about(set.path().display()))?;
    bar.finish_and_clear();
    Ok(evaluation.predictions)
}

fn story_report(
    args: &Args,
    data: DataDescription,
    predictions: &[LabelledPair],
    conflicts: &[Decode],
    states: &[StateDecode],
) -> Result<StoryReport> {
    let decodings = states.iter().flat_map(|&states| conflicts.iter().map(move |&d| (d, states)));
    let rows = decodings.map(|(conflicts, states)| {
        let refused = || Error::new(ErrorKind::Internal, "a run that judges single stories gave no judgement of one");
        StoryRow::new(predictions, conflicts, states).ok_or_else(refused)
    });
    let rows: Vec<StoryRow> = rows.collect::<Result<_>>()?;
    let published = args.show.published_stories(&rows);
    Ok(StoryReport { system: args.run.display().to_string(), data, rows, published })
}
