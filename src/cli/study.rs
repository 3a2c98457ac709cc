//! `tiered study`: many experiments.

mod jobs;
mod status;

use super::output::print;
use super::progress::Progress;
use super::signal::Signals;
use super::train::epoch_line;
use crate::error::{Error, ErrorKind, Result};
use crate::report::comparison::Comparison;
use crate::say::{aside, counted, say};
use crate::study::{Cell, ConflictChoice, Emit, Happening, Outcome, Selection, Shard, StateChoice, Study, compared};
use crate::train::Event;
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Train and evaluate every cell that is not done
    Run(RunArgs),
    /// How far every cell is
    Status(Place),
    /// Compare the cells: mean and spread over seeds, intervals, tests, published scores beside them
    Table(TableArgs),
}

/// A study and where its runs are.
#[derive(clap::Args)]
pub(super) struct Place {
    /// The study file (configs/studies/*.toml)
    file: PathBuf,
    /// The folder of its runs [default: runs/studies/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    place: Place,
    /// So many cells at a time, each in a process of its own
    #[arg(long, value_name = "J", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Only every n-th cell from the i-th, to share a study among machines
    #[arg(long, value_name = "i/n", conflicts_with = "task")]
    shard: Option<Shard>,
    /// Only this cell, by its number
    #[arg(long, value_name = "N")]
    task: Option<usize>,
    /// Print a job array whose tasks are the cells, and run nothing
    #[arg(long, value_enum, conflicts_with_all = ["task", "shard", "dry_run"])]
    emit: Option<Emit>,
    /// Resolve every cell, list them, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
pub(super) struct TableArgs {
    #[command(flatten)]
    place: Place,
    /// Compare these two rows, by number or name; may be repeated [default: every row with the first]
    #[arg(long, value_name = "A,B")]
    compare: Vec<String>,
    /// Only this evaluation, by its name in the study file; may be repeated
    #[arg(long = "evaluation", value_name = "NAME")]
    evaluations: Vec<String>,
    /// How to read conflicts off the beliefs; may be repeated [default: as the study file says]
    #[arg(long, value_enum)]
    decode: Vec<ConflictChoice>,
    /// Which states are asserted; may be repeated [default: as the study file says]
    #[arg(long, value_enum)]
    states: Vec<StateChoice>,
    #[command(flatten)]
    format: Format,
}

/// How a comparison is shown; as text where nothing is said.
#[derive(clap::Args)]
#[group(multiple = false)]
pub(super) struct Format {
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
    /// Print LaTeX (booktabs)
    #[arg(long)]
    latex: bool,
    /// Print CSV, a line a number
    #[arg(long)]
    csv: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

impl Format {
    pub fn is_json(&self) -> bool {
        self.json
    }

    pub fn is_text(&self) -> bool {
        !(self.markdown || self.latex || self.csv || self.json)
    }

    pub fn show(&self, comparison: &Comparison) -> String {
        match self {
            Format { markdown: true, .. } => comparison.to_markdown(),
            Format { latex: true, .. } => comparison.to_latex(),
            Format { csv: true, .. } => comparison.to_csv(),
            Format { json: true, .. } => comparison.to_json(),
            _ => comparison.to_text(),
        }
    }
}

impl Place {
    fn open(&self) -> Result<Study> {
        Study::open(&self.file, self.out.as_deref())
    }
}

pub(super) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run_cells(args)?,
        Command::Status(place) => status::show(&place.open()?)?,
        Command::Table(args) => table(args)?,
    }
    Ok(())
}

fn table(args: &TableArgs) -> Result<()> {
    let study = args.place.open()?;
    let rows: Vec<String> = study.rows().into_iter().map(|(name, _)| name).collect();
    let selection =
        Selection { sets: args.evaluations.clone(), decode: args.decode.clone(), states: args.states.clone() };
    let comparison = study.compare(&selection, &compared(&args.compare, &rows)?)?;
    print(&args.format.show(&comparison))
}

fn run_cells(args: &RunArgs) -> Result<()> {
    let study = args.place.open()?;
    if let Some(target) = args.emit {
        let out = args.place.out.as_ref().map(|out| out.display().to_string());
        return print(&study.emit(target, out.as_deref()));
    }
    let cells: Vec<&Cell> = match (args.task, args.shard) {
        (Some(number), _) => vec![study.cell(number)?],
        (None, shard) => study.cells.iter().filter(|cell| shard.is_none_or(|shard| shard.takes(cell))).collect(),
    };
    if args.dry_run {
        return list(&study, &cells);
    }
    study.write_index()?;
    let signals = Signals::watch()?;
    let stop = || signals.received();
    let ends = match args.jobs {
        1 => in_turn(&study, &cells, &stop),
        jobs => jobs::run(&study, &cells, usize::from(jobs), args.place.out.as_deref(), &stop)?,
    };
    conclude(&study, &ends, cells.len())
}

/// How a cell ended.
struct End<'a> {
    cell: &'a Cell,
    result: Result<Outcome>,
}

/// In this process. The rest is left after a stop, and after a cell that could not be saved, as none could.
fn in_turn<'a>(study: &Study, cells: &[&'a Cell], stop: &dyn Fn() -> Option<&'static str>) -> Vec<End<'a>> {
    let mut ends = Vec::new();
    for (i, &cell) in cells.iter().enumerate() {
        if stop().is_some() {
            break;
        }
        say!("task {} ({} of {}): {}", cell.number, i + 1, cells.len(), cell.name());
        let result = one(study, cell, stop);
        if let Err(error) = &result {
            aside!("{}task {}: {error}", if error.kind == ErrorKind::Resumable { "" } else { "error: " }, cell.number);
        }
        let is_cut_short = matches!(&result, Err(error) if error.kind == ErrorKind::Resumable);
        ends.push(End { cell, result });
        if is_cut_short {
            break;
        }
    }
    ends
}

fn one(study: &Study, cell: &Cell, stop: &dyn Fn() -> Option<&'static str>) -> Result<Outcome> {
    let mut progress: Option<Progress> = None;
    let outcome = study.run_cell(cell, stop, &mut |happening| match happening {
        Happening::Begins(experiment) => {
            experiment.warnings.iter().for_each(|warning| aside!("warning: {warning}"));
            if let Some(beginning) = experiment.beginning() {
                say!("{beginning}");
            }
            progress = Some(Progress::new(experiment.steps() as u64));
        }
        Happening::Trains(event) => {
            let Some(progress) = &mut progress else { return };
            match event {
                Event::Encoded { inputs, of } => progress.encoded(*inputs, *of),
                Event::Step(step) => progress.step(step),
                Event::Epoch { record, is_best } => progress.say(&epoch_line(record, *is_best)),
            }
        }
        Happening::Evaluated { set, pairs } => {
            if let Some(progress) = progress.take() {
                progress.finish();
            }
            say!("evaluated on {set}: {}", counted(*pairs, "pair"));
        }
    });
    if let Ok(outcome @ (Outcome::WasDone | Outcome::Held)) = outcome {
        say!("{}", outcome_words(outcome));
    }
    outcome
}

fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::WasDone => "was done already",
        Outcome::Held => "left to the process that is at work on it",
    }
}

fn list(study: &Study, cells: &[&Cell]) -> Result<()> {
    let line = |cell: &&Cell| format!("{:>4}  {}  {}\n", cell.number, cell.hash, cell.name());
    let lines: String = cells.iter().map(line).collect();
    print(&format!(
        "{lines}dry run: {} in {}; nothing was trained or written\n",
        counted(cells.len(), "cell"),
        study.folder.display()
    ))
}

/// A summary; the error if some cell is not done and nobody else is at it.
fn conclude(study: &Study, ends: &[End], cells: usize) -> Result<()> {
    let count = |outcome: Outcome| ends.iter().filter(|end| end.result.as_ref().is_ok_and(|&o| o == outcome)).count();
    let [done, was_done, held] = [Outcome::Done, Outcome::WasDone, Outcome::Held].map(count);
    let errors: Vec<(&Cell, &Error)> =
        ends.iter().filter_map(|end| Some((end.cell, end.result.as_ref().err()?))).collect();
    let (stopped, failed): (Vec<_>, Vec<_>) = errors.into_iter().partition(|(_, e)| e.kind == ErrorKind::Resumable);
    let stopped = stopped.len() + cells - ends.len();
    say!(
        "{}: {} done now, {was_done} before, {held} held by other processes, {stopped} stopped or not begun, {} \
         failed",
        study.file.name,
        counted(done, "cell"),
        failed.len()
    );
    let again = format!("run the same command again to go on: tiered study run {}", arguments(study));
    let lines: String =
        failed.iter().map(|(cell, e)| format!("\n  task {} ({}): {e}", cell.number, cell.name())).collect();
    match (stopped, failed.first()) {
        (0, None) => {
            say!("compare them with: tiered study table {}", arguments(study));
            Ok(())
        }
        (0, Some((_, first))) => {
            let message = format!("{} of {cells} cells failed; mend what is said, then {again}{lines}", failed.len());
            Err(Error::new(first.kind, message))
        }
        _ => Err(Error::new(ErrorKind::Resumable, format!("stopped before all cells were done; {again}{lines}"))),
    }
}

/// The study and its folder, as they are named on a command line.
fn arguments(study: &Study) -> String {
    let (file, folder) = (study.path.display(), study.folder.display());
    match study.folder == Study::default_folder(&study.file.name) {
        true => file.to_string(),
        false => format!("{file} --out {folder}"),
    }
}
