//! `tiered train`: trains a model from a config and writes a run folder.

use super::out_file::output_folder;
use super::output::print;
use super::progress::TrainingBar;
use super::signal::Signals;
use crate::config::Config;
use crate::distributed::{Ranks, Rendezvous};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Experiment, RunPlan, is_empty_folder};
use crate::machine::DeviceChoice;
use crate::say::{aside, be_quiet, counted, quoted, say};
use crate::train::TrainEvent;
use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Train a model from a config and write a run folder
#[derive(ClapArgs)]
pub struct Args {
    /// The config (configs/*.toml) [default with --resume RUN: the config of the run]
    #[arg(long, value_name = "FILE", required_unless_present = "resume")]
    config: Option<PathBuf>,
    /// Catches a config that was named without --config
    #[arg(hide = true, value_name = "CONFIG", value_parser = refuse_config)]
    misplaced: Option<PathBuf>,
    /// Override a key of the config, e.g. `--set train.epochs=3`; without a value, restore its default; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The seed of the initial weights, the order of pairs and dropout [default: as in the config]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Where to compute: auto, cpu or cuda:N [default: as in the config]
    #[arg(long)]
    device: Option<DeviceChoice>,
    /// The run folder to create [default: runs/NAME-OF-THE-CONFIG]
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    output: Option<PathBuf>,
    /// Resume the run RUN from its newest checkpoint; without RUN, resume the run in --output, or start it if there is
    /// none
    #[arg(long, value_name = "RUN", num_args = 0..=1)]
    resume: Option<Option<PathBuf>>,
    /// Use only the first N pairs of each source of train and of dev
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Read and check everything, print what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// With several processes (docs/cluster.md): how long to wait for one that does not answer, before all stop
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Cache the outputs of a frozen encoder in DIR, for other runs on the same inputs
    #[arg(long, value_name = "DIR", value_parser = output_folder())]
    vectors: Option<PathBuf>,
}

impl Args {
    /// The changes to the config. --seed and --device are applied after every --set.
    fn overrides(&self) -> Vec<String> {
        let seed = self.seed.map(|seed| format!("seed={seed}"));
        let device = self.device.as_ref().map(|device| format!("device={}", toml::Value::String(device.0.clone())));
        self.set.iter().cloned().chain(seed).chain(device).collect()
    }
}

fn refuse_config(path: &str) -> std::result::Result<PathBuf, String> {
    Err(format!("a config needs --config in front of it: --config {}", quoted(path)))
}

pub fn run(args: &Args) -> Result<()> {
    let ranks = ranks(args)?;
    let leads = ranks.leads();
    if !leads {
        be_quiet();
    }
    // From here on: to read story files may take long, and whoever stops a run expects it to save and to end with 75.
    let signals = if args.dry_run { None } else { Some(Signals::watch()?) };
    let experiment = Experiment::prepare_together(ranks, || plan(args))?;
    if leads {
        describe(&experiment);
    }
    match &signals {
        Some(signals) => train(experiment, args, signals),
        None if leads => print("dry run: nothing was trained or written\n"),
        None => Ok(()),
    }
}

/// The processes of the run, by the variables of the program that started them.
fn ranks(args: &Args) -> Result<Ranks> {
    let Some(at) = Rendezvous::from_environment()? else { return Ok(Ranks::alone()) };
    if args.vectors.is_some() {
        return Err(usage("--vectors is for one process; unset RANK and WORLD_SIZE"));
    }
    Ranks::join(&at, Duration::from_secs(args.timeout))
}

fn train(experiment: Experiment, args: &Args, signals: &Signals) -> Result<()> {
    let out = experiment.folder().to_owned();
    let mut progress = TrainingBar::new(experiment.steps() as u64);
    let experiment = match &args.vectors {
        Some(folder) => {
            if !experiment.reads_vectors() {
                let needs = "they need an encoder that is frozen whole and reads single sentences of stories in memory";
                aside!("warning: --vectors {}: this run keeps no vectors; {needs}", folder.display());
            }
            experiment.keep_vectors(folder)
        }
        None => experiment,
    };
    let epochs = experiment.config.train.epochs;
    let mut last = epochs;
    let best = experiment.run(
        || signals.received(),
        |event| {
            if let TrainEvent::Epoch { record, .. } = event {
                last = record.epoch;
            }
            progress.show(event);
        },
    )?;
    progress.finish();
    if last < epochs {
        say!("stopped after {last} of {}: dev did not improve any more (train.patience)", counted(epochs, "epoch"));
    }
    if let Some(best) = best {
        say!("best epoch {}: its weights are in {}", best.epoch, out.join("best").display());
    }
    say!("evaluate them with: tiered eval {} --data FILE", quoted(out.display()));
    Ok(())
}

/// The run, new or resumed.
fn plan(args: &Args) -> Result<RunPlan> {
    let overrides = args.overrides();
    let config = args.config.as_deref().map(|path| Config::open(path, &overrides)).transpose()?;
    let out = match (&args.resume, &args.output, &args.config) {
        (Some(Some(run)), None, _) => run.clone(),
        (Some(Some(_)), Some(_), _) => {
            return Err(usage("--resume RUN and --output both name a run folder; leave out one of them"));
        }
        (_, Some(out), _) => out.clone(),
        (_, None, Some(config)) => default_out(config),
        (_, None, None) => return Err(usage("--resume has no run; name it: --resume RUN")),
    };
    let limit = args.limit.map(|limit| limit as usize);
    let begun = args.resume.as_ref().is_some_and(|named| named.is_some() || (out.exists() && !is_empty_folder(&out)));
    match config {
        config if begun => RunPlan::resume(&out, config, &overrides, limit),
        Some(config) => RunPlan::new(config, &out, limit),
        None => Err(usage(format!("{}: no run to resume; start one with --config FILE", out.display()))),
    }
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

fn default_out(config: &Path) -> PathBuf {
    Path::new("runs").join(config.file_stem().unwrap_or_default())
}

fn describe(experiment: &Experiment) {
    for warning in &experiment.warnings {
        aside!("warning: {warning}");
    }
    let encoder = &experiment.model_config.encoder;
    say!(
        "encoder: {}, {}, hidden size {}, computed by {}; trained parameters: {:.1} M; {:?} matmuls on {:?}, {}",
        encoder.family.name(),
        counted(encoder.num_hidden_layers, "layer"),
        encoder.hidden_size,
        experiment.encoder_path().words(),
        experiment.trained_parameters() as f64 / 1e6,
        experiment.compute.precision,
        experiment.compute.device,
        counted(tch::get_num_threads(), "thread"),
    );
    if !experiment.skipped_tensors().is_empty() {
        say!("skipped in the encoder's file: {}", experiment.skipped_tensors().join(", "));
    }
    say!(
        "train: {}; dev: {}; {} in {}; stories of at most {}; run folder: {}",
        match &experiment.train.stream {
            None => counted(experiment.train.len(), "pair"),
            Some(stream) => {
                let (pairs, threads) = (counted(experiment.train.len(), "pair"), counted(stream.workers, "thread"));
                format!("{pairs}, made or read while training by {threads}")
            }
        },
        experiment.dev.as_ref().map_or("none".to_owned(), |dev| counted(dev.len(), "pair")),
        counted(experiment.steps(), "step"),
        counted(experiment.config.train.epochs, "epoch"),
        counted(experiment.model_config.max_sentences, "sentence"),
        experiment.folder().display(),
    );
    if let Some(beginning) = experiment.beginning() {
        say!("{beginning}");
    }
}
