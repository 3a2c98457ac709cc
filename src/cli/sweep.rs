//! `tiered sweep`: runs, lists and compares the runs of a sweep.

mod end;
mod jobs;
mod status;

use super::format::FormatArgs;
use super::out_file::output_folder;
use super::output::{print, print_exactly, shown};
use super::progress::TrainingBar;
use super::signal::Signals;
use crate::error::{Error, ErrorKind, Result};
use crate::say::{aside, counted, say};
use crate::sweep::{
    ConflictChoice, Happening, RunOutcome, Scheduler, Selection, Shard, StateChoice, Sweep, SweepRun, compared,
};
use clap::Subcommand;
use end::{End, NOT_STARTED, outcome_words};
use std::path::PathBuf;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Train and evaluate every run that is not done
    Run(RunArgs),
    /// Print a job array for a cluster, one task a run; nothing is run
    Submit(SubmitArgs),
    /// Print the state of every run
    Status(SweepArgs),
    /// Compare the runs: mean and spread over seeds, intervals, tests, published scores
    Table(TableArgs),
}

/// A sweep and the folder of its runs.
#[derive(clap::Args)]
pub(super) struct SweepArgs {
    /// The sweep file (configs/sweeps/*.toml)
    file: PathBuf,
    /// The folder of its runs [default: runs/sweeps/NAME]
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    output: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    sweep: SweepArgs,
    /// Run this many runs at a time, each in its own process
    #[arg(long, value_name = "J", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Run only every n-th run from the i-th, to divide a sweep among machines
    #[arg(long, value_name = "i/n", conflicts_with = "task")]
    shard: Option<Shard>,
    /// Run only the run of this number
    #[arg(long, value_name = "N")]
    task: Option<usize>,
    /// With --task: refuse it if the runs of the sweep have another digest. Job arrays and --jobs name it, so that a task
    /// is the same run when it begins as when it was submitted
    #[arg(long, value_name = "DIGEST", requires = "task")]
    expect: Option<String>,
    /// Check and list the runs, read their sets, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
pub(super) struct SubmitArgs {
    #[command(flatten)]
    sweep: SweepArgs,
    /// What takes the jobs
    #[arg(long, value_enum)]
    scheduler: Scheduler,
}

#[derive(clap::Args)]
pub(super) struct TableArgs {
    #[command(flatten)]
    sweep: SweepArgs,
    /// Test the difference between these two rows, by number or name; may be repeated [default: each row and the first]
    #[arg(long, value_name = "A,B")]
    compare: Vec<String>,
    /// Show only this evaluation, by its name in the sweep file; may be repeated [default: all]
    #[arg(long = "evaluation", value_name = "NAME")]
    evaluations: Vec<String>,
    /// How to choose the sentences in conflict: threshold (the papers'), pair (the most likely sentence pair), contrast
    /// or own (threshold for the paper's detector, pair for the joint one); may be repeated [default: as in the sweep
    /// file]
    #[arg(long, value_enum)]
    decode: Vec<ConflictChoice>,
    /// Which states to predict: argmax (the most likely class) or calibrated (the choice made on dev); may be repeated
    /// [default: as in the sweep file]
    #[arg(long, value_enum)]
    states: Vec<StateChoice>,
    #[command(flatten)]
    format: FormatArgs,
}

impl SweepArgs {
    fn open(&self) -> Result<Sweep> {
        Sweep::open(&self.file, self.output.as_deref())
    }
}

pub(super) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Run(args) => run_runs(args)?,
        Command::Submit(args) => submit(args)?,
        Command::Status(sweep) => status::show(&sweep.open()?)?,
        Command::Table(args) => table(args)?,
    }
    Ok(())
}

fn submit(args: &SubmitArgs) -> Result<()> {
    print_exactly(&args.sweep.open()?.job_array(args.scheduler, args.sweep.output.as_deref())?)
}

fn table(args: &TableArgs) -> Result<()> {
    let sweep = args.sweep.open()?;
    let rows: Vec<String> = sweep.rows().into_iter().map(|(name, _)| name).collect();
    let selection =
        Selection { sets: args.evaluations.clone(), decode: args.decode.clone(), states: args.states.clone() };
    let comparison = sweep.compare(&selection, &compared(&args.compare, &rows)?)?;
    print(&shown(&comparison, args.format.format))
}

fn run_runs(args: &RunArgs) -> Result<()> {
    let sweep = args.sweep.open()?;
    args.expect.as_ref().map_or(Ok(()), |digest| sweep.require_digest(digest))?;
    let runs: Vec<&SweepRun> = match (args.task, args.shard) {
        (Some(number), _) => vec![sweep.run(number)?],
        (None, shard) => sweep.runs.iter().filter(|run| shard.is_none_or(|shard| shard.takes(run))).collect(),
    };
    if args.dry_run {
        list(&sweep, &runs)?;
        return sweep.check_sets(&runs);
    }
    sweep.write_index()?;
    let signals = Signals::watch()?;
    let stop = || signals.received();
    let ends = match args.jobs {
        1 => in_turn(&sweep, &runs, &stop),
        jobs => jobs::run(&sweep, &runs, usize::from(jobs), args.sweep.output.as_deref(), &stop)?,
    };
    conclude(&sweep, &ends, runs.len(), &flags(args))
}

/// Runs one run after another in this process. A stop, or a run that could not be saved, ends the loop: no later run
/// could be saved either.
fn in_turn<'a>(sweep: &Sweep, runs: &[&'a SweepRun], stop: &dyn Fn() -> Option<&'static str>) -> Vec<End<'a>> {
    let mut ends = Vec::new();
    for (i, &run) in runs.iter().enumerate() {
        if stop().is_some() {
            break;
        }
        say!("task {} ({} of {}): {}", run.number, i + 1, runs.len(), run.name());
        let result = one(sweep, run, stop);
        if let Err(error) = &result {
            aside!("{}task {}: {error}", if error.kind == ErrorKind::Resumable { "" } else { "error: " }, run.number);
        }
        let is_cut_short = matches!(&result, Err(error) if error.kind == ErrorKind::Resumable);
        ends.push(End { run, result });
        if is_cut_short {
            break;
        }
    }
    ends
}

fn one(sweep: &Sweep, run: &SweepRun, stop: &dyn Fn() -> Option<&'static str>) -> Result<RunOutcome> {
    let mut progress: Option<TrainingBar> = None;
    let outcome = sweep.run_one(run, stop, &mut |happening| match happening {
        Happening::Begins(experiment) => {
            experiment.warnings.iter().for_each(|warning| aside!("warning: {warning}"));
            if let Some(beginning) = experiment.beginning() {
                say!("{beginning}");
            }
            progress = Some(TrainingBar::new(experiment.steps() as u64));
        }
        Happening::Trains(event) => {
            if let Some(progress) = &mut progress {
                progress.show(event);
            }
        }
        Happening::Evaluated { set, pairs } => {
            if let Some(progress) = progress.take() {
                progress.finish();
            }
            say!("evaluated on {set}: {}", counted(*pairs, "pair"));
        }
    });
    if let Ok(outcome @ (RunOutcome::WasDone | RunOutcome::Held)) = outcome {
        say!("{}", outcome_words(outcome));
    }
    outcome
}

fn list(sweep: &Sweep, runs: &[&SweepRun]) -> Result<()> {
    let line = |run: &&SweepRun| format!("{:>4}  {}  {}\n", run.number, run.hash, run.name());
    let lines: String = runs.iter().map(line).collect();
    print(&format!(
        "{lines}dry run: {} in {}; nothing was trained or written\n",
        counted(runs.len(), "run"),
        sweep.folder.display()
    ))
}

/// The flags that choose the runs and how many run at a time, to be given again. `--expect` is not among them: who
/// corrects an error may have changed the runs.
fn flags(args: &RunArgs) -> String {
    let shard = args.shard.map(|Shard { index, count }| format!(" --shard {index}/{count}"));
    let task = args.task.map(|number| format!(" --task {number}"));
    let jobs = (args.jobs > 1).then(|| format!(" --jobs {}", args.jobs));
    [shard, task, jobs].into_iter().flatten().collect()
}

/// Prints a summary. Returns an error if a run failed or was stopped. It names the command to give again, with `flags`.
fn conclude(sweep: &Sweep, ends: &[End], runs: usize, flags: &str) -> Result<()> {
    let count =
        |outcome: RunOutcome| ends.iter().filter(|end| end.result.as_ref().is_ok_and(|&o| o == outcome)).count();
    let [done, was_done, held] = [RunOutcome::Done, RunOutcome::WasDone, RunOutcome::Held].map(count);
    let errors: Vec<(&SweepRun, &Error)> =
        ends.iter().filter_map(|end| Some((end.run, end.result.as_ref().err()?))).collect();
    let (stopped, failed): (Vec<_>, Vec<_>) = errors.into_iter().partition(|(_, e)| e.kind == ErrorKind::Resumable);
    let of_stopped = stopped.iter().filter(|(_, error)| error.message != NOT_STARTED);
    let lines: String = of_stopped
        .chain(&failed)
        .map(|(run, error)| format!("\n  task {} ({}): {error}", run.number, run.name()))
        .collect();
    let stopped = stopped.len() + runs - ends.len();
    let printed = print(&format!(
        "{}: {} done now, {was_done} done before, {held} held by other processes, {stopped} stopped or not started, \
         {} failed\n",
        sweep.file.name,
        counted(done, "run"),
        failed.len()
    ));
    let again = format!("run the same command again to resume: tiered sweep run {}{flags}", sweep.arguments());
    match (stopped, failed.first()) {
        (0, None) => {
            printed?; // what became of the runs is the more important error
            say!("compare them with: tiered sweep table {}", sweep.arguments());
            Ok(())
        }
        (0, Some((_, first))) => {
            let message =
                format!("{} of {runs} runs failed; correct the errors below, then {again}{lines}", failed.len());
            Err(Error::new(first.kind, message))
        }
        _ => Err(Error::new(ErrorKind::Resumable, format!("stopped before all runs were done; {again}{lines}"))),
    }
}
