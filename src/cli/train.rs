//! `tiered train`: one config -> one run folder.

use super::progress::Progress;
use super::signal::Signals;
use crate::config::Config;
use crate::error::{Error, ErrorKind};
use crate::experiment::Experiment;
use crate::metrics::TierCounts;
use crate::say::{aside, counted, say};
use crate::train::{EpochRecord, Event};
use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};

#[derive(ClapArgs)]
pub struct Args {
    /// The experiment file (configs/*.toml); with --resume RUN, that of the run where absent
    #[arg(long, value_name = "FILE", required_unless_present = "resume")]
    config: Option<PathBuf>,
    /// Takes what stands without --config, to say so
    #[arg(hide = true, value_name = "CONFIG", value_parser = refuse_config)]
    misplaced: Option<PathBuf>,
    /// Override a key of the config, e.g. `--set train.epochs=3`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The seed of weights, order and dropout [default: as in the config]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where to compute: auto, cpu or cuda:N [default: as in the config]
    #[arg(long)]
    device: Option<String>,
    /// The run folder to make [default: runs/NAME-OF-THE-CONFIG]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a run from its newest checkpoint; without RUN: with that in --out if it was begun, else begin it
    #[arg(long, value_name = "RUN", num_args = 0..=1)]
    resume: Option<Option<PathBuf>>,
    /// Use only the first N pairs of train and of dev
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Read and check everything, say what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep in DIR what an encoder that is not trained says, for other runs on the same inputs
    #[arg(long, value_name = "DIR")]
    vectors: Option<PathBuf>,
}

impl Args {
    /// What is changed in the config: a flag stands for a `--set`, and comes after all of them.
    fn overrides(&self) -> Vec<String> {
        let seed = self.seed.map(|seed| format!("seed={seed}"));
        let device = self.device.as_ref().map(|device| format!("device={device}"));
        self.set.iter().cloned().chain(seed).chain(device).collect()
    }
}

fn refuse_config(path: &str) -> Result<PathBuf, String> {
    Err(format!("name a config with --config {path}"))
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let (experiment, out) = prepare(args)?;
    for warning in &experiment.warnings {
        aside!("warning: {warning}");
    }
    describe(&experiment, &out);
    if args.dry_run {
        say!("dry run: nothing was trained or written");
        return Ok(());
    }
    let signals = Signals::watch()?;
    let mut progress = Progress::new(experiment.steps() as u64);
    let experiment = match &args.vectors {
        Some(folder) => experiment.keep_vectors(folder),
        None => experiment,
    };
    let epochs = experiment.config.train.epochs;
    let mut last = epochs;
    let best = experiment.run(
        || signals.received(),
        |event| match event {
            Event::Encoded { inputs, of } => progress.encoded(*inputs, *of),
            Event::Step(step) => progress.step(step),
            Event::Epoch { record, is_best } => {
                last = record.epoch;
                progress.say(&epoch_line(record, *is_best));
            }
        },
    )?;
    progress.finish();
    if last < epochs {
        say!("ended after {last} of {}: none after the best was better (train.patience)", counted(epochs, "epoch"));
    }
    if let Some(best) = best {
        say!("best epoch {}: its weights are in {}", best.epoch, out.join("best").display());
    }
    say!("evaluate them with: tiered eval {} --data FILE", out.display());
    Ok(())
}

/// The experiment and its run folder: a new one, or one that was begun.
fn prepare(args: &Args) -> anyhow::Result<(Experiment, PathBuf)> {
    let overrides = args.overrides();
    let config = args.config.as_deref().map(|path| Config::open(path, &overrides)).transpose()?;
    let out = match (&args.resume, &args.out, &args.config) {
        (Some(Some(run)), None, _) => run.clone(),
        (Some(Some(_)), Some(_), _) => {
            return Err(usage("--resume RUN names the run folder; leave out --out, or RUN").into());
        }
        (_, Some(out), _) => out.clone(),
        (_, None, Some(config)) => default_out(config),
        (_, None, None) => return Err(usage("--resume alone does not say which run: --resume RUN").into()),
    };
    let begun = args.resume.as_ref().is_some_and(|named| named.is_some() || out.exists());
    let experiment = match config {
        config if begun => Experiment::resume(&out, config, &overrides, args.limit)?,
        Some(config) => Experiment::prepare(config, &out, args.limit)?,
        None => return Err(usage(format!("{} was not begun, and there is no --config", out.display())).into()),
    };
    Ok((experiment, out))
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

fn default_out(config: &Path) -> PathBuf {
    Path::new("runs").join(config.file_stem().unwrap_or_default())
}

fn describe(experiment: &Experiment, out: &Path) {
    let encoder = &experiment.model_config.encoder;
    say!(
        "encoder: {}, {}, {} wide, computed by {}; trained parameters: {:.1} M; {:?} products on {:?}, {}",
        encoder.family.name(),
        counted(encoder.num_hidden_layers, "layer"),
        encoder.hidden_size,
        experiment.encoder_path().words(),
        experiment.trained_parameters() as f64 / 1e6,
        experiment.compute.precision,
        experiment.compute.device,
        counted(tch::get_num_threads(), "thread"),
    );
    if !experiment.passed_over().is_empty() {
        say!("passed over in the encoder's file: {}", experiment.passed_over().join(", "));
    }
    say!(
        "train: {}; dev: {}; {} in {}; stories of at most {}; run folder: {}",
        counted(experiment.train.len(), "pair"),
        experiment.dev.as_ref().map_or("none".to_owned(), |dev| counted(dev.len(), "pair")),
        counted(experiment.steps(), "step"),
        counted(experiment.config.train.epochs, "epoch"),
        counted(experiment.model_config.max_sentences, "sentence"),
        out.display(),
    );
    if let Some(beginning) = experiment.beginning() {
        say!("{beginning}");
    }
}

pub(super) fn epoch_line(epoch: &EpochRecord, is_best: bool) -> String {
    let mut line = format!("epoch {}: train {} ({:.0} s)", epoch.epoch, epoch.train, epoch.train_seconds);
    let Some(dev) = &epoch.dev else { return line };
    line += &format!(" | dev {} ({:.0} s)", dev.losses, epoch.dev_seconds);
    for (name, tiers) in [("threshold", &dev.threshold), ("pair", &dev.pair)] {
        let TierCounts { accurate, consistent, verifiable, pairs } = tiers;
        line += &format!(" | {name}: accurate {accurate}, consistent {consistent}, verifiable {verifiable} of {pairs}");
    }
    line + &format!(" | {}{}", dev.deciding(), if is_best { ": best so far" } else { "" })
}
