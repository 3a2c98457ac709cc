//! `tiered eval`: a run on a story file -> the tiered table and the predictions.

use super::output::{ReportArgs, pair_bar, print};
use crate::data::{self, Kind, Pair, Severity, StoryFile};
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, Result};
use crate::experiment::{TrainedRun, Which};
use crate::machine::DeviceChoice;
use crate::metrics::{Calibration, StateCounts};
use crate::prediction::{PairPrediction, write_predictions};
use crate::report::{DataDescription, Report, TierRow};
use crate::tune::Tuned;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Evaluates a trained run on a story file and writes what it predicted into the run folder.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A run folder, made by `tiered train`
    run: PathBuf,
    /// The story file
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The partition [default: test, or the only one of the file]
    #[arg(long)]
    split: Option<String>,
    /// Which pairs
    #[arg(long, value_enum, default_value_t = PairKind::All)]
    kind: PairKind,
    /// Show only this way of deciding which sentences conflict, and record it [default: show both, record threshold]
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
    #[command(flatten)]
    show: ReportArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PairKind {
    Cloze,
    Order,
    All,
}

impl PairKind {
    const fn name(self) -> &'static str {
        match self {
            PairKind::Cloze => "cloze",
            PairKind::Order => "order",
            PairKind::All => "all",
        }
    }

    fn of(self, pairs: Vec<Pair>) -> Vec<Pair> {
        match self {
            PairKind::Cloze => data::of_kind(pairs, Kind::Cloze),
            PairKind::Order => data::of_kind(pairs, Kind::Order),
            PairKind::All => pairs,
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let file = data::read_file(&args.data)?;
    let split = split(&file, args.split.as_deref())?;
    if file.count(Severity::Error) > 0 {
        let path = args.data.display();
        eprintln!(
            "warning: {path}: some stories can't be used and are left out; `tiered data check {path}` lists them"
        );
    }
    let run = TrainedRun::open(&args.run, args.weights, args.device.as_ref())?;
    let pairs = args.kind.of(data::pairs(file.partition(&split)?, run.config.seed));
    if pairs.is_empty() {
        let (path, kind) = (args.data.display(), args.kind.name());
        return Err(Error::data(format!("{path}: partition {split:?} has no pairs of kind {kind}")).into());
    }
    let bar = pair_bar(pairs.len() as u64);
    let evaluation = run.evaluate(pairs, |done| bar.inc(done as u64));
    let evaluation = evaluation.map_err(|error| error.about(args.data.display()))?;
    bar.finish_and_clear();

    let recorded = args.decode.unwrap_or(Decode::Threshold).apply(&evaluation.predictions);
    let name = format!("{}-{split}-{}", stem(&args.data), args.kind.name());
    let predictions = run.folder.evaluation_file(&name, "predictions.jsonl")?;
    write_predictions(&predictions, &recorded)?;
    let report = report(args, &split, run.tuned.as_ref(), &recorded);
    run.folder.write_evaluation(&name, "report.json", &report.to_json())?;

    print(&args.show.format(&report))?;
    if args.show.is_text() {
        print(&format!("\npredictions: {}\n", predictions.display()))?;
    }
    Ok(())
}

fn report(args: &Args, split: &str, tuned: Option<&Tuned>, predictions: &[PairPrediction]) -> Report {
    let conflicts: Vec<Decode> = args.decode.map_or(Decode::ALL.to_vec(), |decode| vec![decode]);
    let chosen = tuned.map(|tuned| tuned.states).filter(|&states| states != StateDecode::Argmax);
    let default: Vec<StateDecode> = std::iter::once(StateDecode::Argmax).chain(chosen).collect();
    let states = if args.states.is_empty() { &default } else { &args.states };
    let temperatures = std::iter::once(1.).chain(tuned.map(|tuned| tuned.temperature));
    Report {
        system: args.run.display().to_string(),
        data: DataDescription {
            file: Some(args.data.display().to_string()),
            split: Some(split.to_owned()),
            kind: args.kind.name().to_owned(),
            pairs: predictions.len() as u64,
        },
        rows: TierRow::by_decoding(predictions, &conflicts, states),
        states: StateCounts::of(predictions).scores(),
        calibration: temperatures.map(|temperature| Calibration::of(predictions, temperature)).collect(),
        published: args.show.published(),
    }
}

/// The partition that was asked for, else "test", else the only one there is.
pub(super) fn split(file: &StoryFile, asked: Option<&str>) -> Result<String> {
    let names: Vec<&str> = file.partitions.iter().map(|(name, _)| name.as_str()).collect();
    match (asked, names.as_slice()) {
        (Some(asked), _) => Ok(asked.to_owned()),
        (None, names) if names.contains(&"test") => Ok("test".to_owned()),
        (None, [only]) => Ok((*only).to_owned()),
        (None, names) => Err(Error::data(format!(
            "{}: has no partition \"test\"; name one of {names:?} with --split",
            file.path.display()
        ))),
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
