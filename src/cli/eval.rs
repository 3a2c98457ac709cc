//! `tiered eval`: a run on a story file -> the tiered table and the predictions.

use super::output::{ReportArgs, pair_bar, print};
use crate::data::{self, Kind, Pair, Severity, StoryFile};
use crate::decode::{Decode, StateDecode};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{TrainedRun, Which};
use crate::machine::DeviceChoice;
use crate::metrics::{Calibration, StateCounts};
use crate::outside::component;
use crate::prediction::{PairPrediction, write_predictions};
use crate::report::{DataDescription, Report, StoryReport, StoryRow, TierRow};
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
    /// Judge stories in pairs, or every story by itself
    #[arg(long, value_enum, default_value_t = By::Pair)]
    by: By,
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
enum By {
    Pair,
    Story,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PairKind {
    Cloze,
    Order,
    All,
}

impl PairKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            PairKind::Cloze => "cloze",
            PairKind::Order => "order",
            PairKind::All => "all",
        }
    }

    pub(super) fn of(self, pairs: Vec<Pair>) -> Vec<Pair> {
        match self {
            PairKind::Cloze => data::of_kind(pairs, Kind::Cloze),
            PairKind::Order => data::of_kind(pairs, Kind::Order),
            PairKind::All => pairs,
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    args.show.check(args.by == By::Story)?;
    let file = data::read_file(&args.data)?;
    let split = split(&file, args.split.as_deref())?;
    if file.count(Severity::Error) > 0 {
        let path = args.data.display();
        eprintln!(
            "warning: {path}: some stories can't be used and are left out; `tiered data check {path}` lists them"
        );
    }
    let name = evaluation_name(&args.data, &split, args.kind)?;
    let run = TrainedRun::open(&args.run, args.weights, args.device.as_ref())?;
    if args.by == By::Story {
        run.require_alone()?;
    }
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
    let predictions = run.folder.evaluation_file(&name, "predictions.jsonl")?;
    write_predictions(&predictions, &recorded)?;
    let setup = Setup::new(args, &split, run.tuned.as_ref(), &recorded);
    let report = setup.report(args, &recorded);
    run.folder.write_evaluation(&name, "report.json", &report.to_json())?;
    let shown = match args.by {
        By::Pair => args.show.format(&report),
        By::Story => {
            let report = setup.story_report(args, &recorded)?;
            run.folder.write_evaluation(&name, "stories.json", &report.to_json())?;
            args.show.format_stories(&report)
        }
    };
    print(&shown)?;
    if args.show.is_text() {
        print(&format!("\npredictions: {}\n", predictions.display()))?;
    }
    Ok(())
}

/// What is shown, of what.
struct Setup {
    system: String,
    data: DataDescription,
    conflicts: Vec<Decode>,
    states: Vec<StateDecode>,
    temperatures: Vec<f64>,
}

impl Setup {
    fn new(args: &Args, split: &str, tuned: Option<&Tuned>, predictions: &[PairPrediction]) -> Self {
        let chosen = tuned.map(|tuned| tuned.states).filter(|&states| states != StateDecode::Argmax);
        let default = || std::iter::once(StateDecode::Argmax).chain(chosen).collect();
        Setup {
            system: args.run.display().to_string(),
            data: DataDescription {
                file: Some(args.data.display().to_string()),
                split: Some(split.to_owned()),
                kind: args.kind.name().to_owned(),
                pairs: predictions.len() as u64,
            },
            conflicts: args.decode.map_or(Decode::ALL.to_vec(), |decode| vec![decode]),
            states: if args.states.is_empty() { default() } else { args.states.clone() },
            temperatures: std::iter::once(1.).chain(tuned.map(|tuned| tuned.temperature)).collect(),
        }
    }

    fn report(&self, args: &Args, predictions: &[PairPrediction]) -> Report {
        let calibration = |&temperature: &f64| Calibration::of(predictions, temperature);
        Report {
            system: self.system.clone(),
            data: self.data.clone(),
            rows: TierRow::by_decoding(predictions, &self.conflicts, &self.states),
            states: StateCounts::of(predictions).scores(),
            calibration: self.temperatures.iter().map(calibration).collect(),
            published: args.show.published(),
        }
    }

    fn story_report(&self, args: &Args, predictions: &[PairPrediction]) -> Result<StoryReport> {
        let decodings = self.states.iter().flat_map(|&states| self.conflicts.iter().map(move |&d| (d, states)));
        let rows = decodings.map(|(conflicts, states)| {
            let refused = || Error::new(ErrorKind::Internal, "a run that judges stories alone did not");
            StoryRow::new(predictions, conflicts, states).ok_or_else(refused)
        });
        Ok(StoryReport {
            system: self.system.clone(),
            data: self.data.clone(),
            rows: rows.collect::<Result<_>>()?,
            published: args.show.published_stories(),
        })
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

/// The folder of an evaluation in the run folder. The partition's name is whatever a story file says.
fn evaluation_name(data: &Path, split: &str, kind: PairKind) -> Result<String> {
    let stem = data.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-{split}-{}", kind.name());
    for part in [stem.as_ref(), split, &name] {
        component(part).map_err(|error| {
            let message = format!(
                "{}: {error}; predictions are saved in a folder named after file and partition: rename",
                data.display()
            );
            Error::new(ErrorKind::Refused, message)
        })?;
    }
    Ok(name)
}
