//! Trains a run from its config, and loads the model of a run folder.

mod calibration;
mod changes;
mod folder;
mod improbable;
mod network;
mod origin;
mod poison;
mod prepared_inputs;
mod record;
mod resume;
mod run;
mod save;
mod steps;
mod trial;
mod vectors;

pub use calibration::Calibration;
pub use changes::{KEYS, ResumePolicy, flat};
use folder::EncoderFiles;
pub use folder::{CheckpointKind, RunFolder, json_bytes};
pub use record::{EVALUATION_FILES, evaluation_name, keep};
pub use run::TrainedRun;
pub use trial::Trial;

use crate::batch::{Corpus, Layout, Strata, WholeStories};
use crate::checkpoint::LatestCheckpoint;
use crate::config::Config;
use crate::decode::Decode;
use crate::durable::{self, Lock, free_bytes};
use crate::error::{Error, ErrorKind, Result};
use crate::eval::EvalConfig;
use crate::fault::Poison;
use crate::loss::Normalization;
use crate::machine::made_with;
use crate::model::kernels::parallel;
use crate::model::{DetectorKind, Mode, ModelConfig, Precision, encoder};
use crate::say::aside;
use crate::train::{
    Diverged, EpochRecord, Event, Fit, Frozen, MixtureComponent, TrainConfig, Training, Vectors, order,
};
use network::Network;
use poison::Poisoned;
use prepared_inputs::PreparedInputs;
use resume::Resumed;
use save::{CheckpointWriter, RunInputs};
use std::path::{Path, PathBuf};
use tch::Device;
use vectors::KeptVectors;

/// Pairs in an evaluation batch: enough for large matmuls, few enough for any memory.
const EVAL_PAIRS: usize = 8;

/// A training run that has been checked and can start.
pub struct Experiment {
    pub config: Config,
    pub model_config: ModelConfig,
    pub train: Corpus,
    pub dev: Option<Corpus>,
    parts: Vec<MixtureComponent>,
    dev_parts: Vec<MixtureComponent>,
    pub compute: Compute,
    /// Warnings to print before it starts.
    pub warnings: Vec<String>,
    out: PathBuf,
    /// The folder for the vectors of a frozen encoder, if they are kept.
    vectors: Option<PathBuf>,
    facts: RunInputs,
    start: Start,
    network: Network,
}

/// Where a run starts.
enum Start {
    /// In a new folder, with this encoder.
    New(EncoderFiles),
    /// In the folder of a run that was started before.
    Begun(Box<Resumed>),
}

/// Device and precision.
#[derive(Debug, Clone, Copy)]
pub struct Compute {
    pub device: Device,
    pub precision: Precision,
}

impl Compute {
    fn resolve(config: &Config) -> Result<Self> {
        if let Some(threads) = config.threads {
            tch::set_num_threads(threads as i32);
        }
        let device = config.device.resolve()?;
        if config.deterministic && device == Device::Cpu {
            parallel::pin()
                .map_err(|why| Error::new(ErrorKind::Unavailable, format!("deterministic = true: {why}")))?;
        }
        Ok(Compute { device, precision: config.precision.resolve(device) })
    }

    fn eval(self, model: &ModelConfig) -> EvalConfig {
        let Compute { device, precision } = self;
        let layout = Layout { sentences: model.max_sentences, pad_to_entities: None };
        EvalConfig { device, precision, layout, pairs_per_batch: EVAL_PAIRS }
    }
}

impl Experiment {
    /// Reads and checks everything that a new run needs. Writes nothing.
    ///
    /// # Errors
    /// `CantCreate` if `out` exists; errors of data, encoder or config.
    pub fn prepare(config: Config, out: &Path, limit: Option<usize>) -> Result<Self> {
        if out.exists() {
            let message = format!(
                "{}: exists already; resume it with --resume, choose another folder with --output, or remove it",
                out.display()
            );
            return Err(Error::new(ErrorKind::CantCreate, message));
        }
        durable::require_creatable(out)?;
        let compute = Compute::resolve(&config)?;
        let encoder_folder = config.encoder.folder()?;
        let material = PreparedInputs::read(&config, &encoder_folder, limit)?;
        let network = material.pretrained(&config, &encoder_folder, compute.device)?;
        let files = EncoderFiles { folder: encoder_folder, tokenizer: material.tokenizer.clone() };
        Self::new(config, out, compute, material, network, Start::New(files), Vec::new())
    }

    /// Reads and checks everything to resume the run in `out` from its newest intact checkpoint. Without `config`, the
    /// run's own config is used, with `overrides`.
    ///
    /// # Errors
    /// `MissingInput` if there is no run; `CantCreate` if another process trains it; `Config` if keys changed that must
    /// not change; `Data` if its input files changed, or if no checkpoint is intact.
    pub fn resume(out: &Path, config: Option<Config>, overrides: &[String], limit: Option<usize>) -> Result<Self> {
        let (resumed, run_config, mut warnings) = Resumed::find(out)?;
        let of_folder = || Config::open(&resumed.folder.config_file(), overrides);
        let is_of_folder = config.is_none();
        let mut config = config.map_or_else(of_folder, Ok)?;
        changes::resolve_as(&run_config, &mut config);
        warnings.extend(changes::compare(&run_config, &config)?);
        if is_of_folder {
            origin::follow(origin::paths(&mut config), out);
        }
        let compute = Compute::resolve(&config)?;
        let limit = resumed.limit(limit)?;
        let material = PreparedInputs::read(&config, &resumed.folder.encoder_folder(), limit)?;
        warnings.extend(resumed.compare(&material.inputs, &made_with(compute.device))?);
        let network = match resumed.weights() {
            Some(file) => Network::resumed(&config, &material.model_config, &file, &material.train, compute.device)?,
            None => material.pretrained(&config, &config.encoder.folder()?, compute.device)?,
        };
        Self::new(config, out, compute, material, network, Start::Begun(Box::new(resumed)), warnings)
    }

    fn new(
        mut config: Config,
        out: &Path,
        compute: Compute,
        material: PreparedInputs,
        network: Network,
        start: Start,
        mut warnings: Vec<String>,
    ) -> Result<Self> {
        let PreparedInputs { model_config, train, parts, dev, dev_parts, inputs, .. } = material;
        let checkpoint_bytes = network.saved_bytes() + 8 * network.trained_numbers() as u64;
        warnings.extend(improbable::warnings(&config, &train, dev.as_ref()));
        warnings.extend(free_bytes(out).and_then(|free| little_space(out, free, checkpoint_bytes)));
        config.model.max_sentences = Some(model_config.max_sentences);
        config.precision = compute.precision.into();
        let facts = RunInputs { config: config.clone(), inputs, made_with: made_with(compute.device) };
        let out = out.to_owned();
        Ok(Experiment {
            config,
            model_config,
            train,
            dev,
            parts,
            dev_parts,
            compute,
            warnings,
            out,
            vectors: None,
            facts,
            start,
            network,
        })
    }

    /// Keeps the vectors of a frozen encoder in a folder, for other runs on the same inputs.
    pub fn keep_vectors(self, folder: &Path) -> Self {
        Experiment { vectors: Some(folder.to_owned()), ..self }
    }

    /// The number of steps of the whole run.
    pub fn steps(&self) -> usize {
        let TrainConfig { pairs_per_step, epochs, .. } = self.config.train;
        order::cumulative_steps(&self.parts, pairs_per_step, epochs).last().map_or(0, |&steps| steps as usize)
    }

    /// How many numbers are trained.
    pub fn trained_parameters(&self) -> usize {
        self.network.trained_numbers()
    }

    /// The implementation that computes the encoder's layers.
    pub fn encoder_path(&self) -> encoder::Path {
        self.network.model.encoder.path(Mode::eval(self.compute.precision), self.compute.device)
    }

    /// Names of tensors in the encoder's file that are not part of the encoder and were skipped.
    pub fn skipped_tensors(&self) -> &[String] {
        &self.network.skipped
    }

    /// A message that says from where a resumed run continues.
    pub fn beginning(&self) -> Option<String> {
        match &self.start {
            Start::New(_) => None,
            Start::Begun(resumed) => Some(resumed.beginning()),
        }
    }

    /// Trains to the end, or until `stop` returns a reason (a signal); then training stops at the next step. Returns
    /// the record of the best epoch.
    ///
    /// # Errors
    /// `Resumable` if the run was stopped, or if its end, its best epoch or its calibration could not be saved;
    /// `Diverged` (earlier checkpoints are kept); `CantCreate`, `Io`.
    pub fn run(
        self,
        stop: impl Fn() -> Option<&'static str>,
        mut on: impl FnMut(&Event),
    ) -> Result<Option<EpochRecord>> {
        let (folder, _lock, found) = self.open_folder()?;
        let mut training = Training::new(self.fit(), self.network.parameters(&self.config.train));
        if let Some(poison) = Poison::requested() {
            training.observe(Box::new(Poisoned::new(poison)));
        }
        let mut saver = CheckpointWriter::new(&folder, &self.facts, &self.network);
        if let Some(LatestCheckpoint { checkpoint, best_is_lost, .. }) = found {
            save::restore(&mut training, checkpoint)?;
            if *best_is_lost {
                training.progress.best = None;
            }
            saver.resume(checkpoint.clone(), &training.progress);
        }
        let kept = self.kept_vectors()?;
        if let Some((kept, frozen)) = kept.as_ref().zip(training.frozen()) {
            kept.load(frozen);
        }
        folder.note("started", training.progress.step, &self.warnings.join("; "));
        loop {
            if let Some(reason) = stop().filter(|_| !training.is_over()) {
                let saved = saver.save(&training)?;
                return Err(self.stopped(&folder, reason, &saver, training.progress.step, saved));
            }
            let event = training.advance().map_err(|diverged| self.diverged(&folder, &diverged, &saver))?;
            let Some(event) = event else { break };
            saver.after(&event, &training)?;
            if let (Event::Encoded { inputs, of }, Some(kept), Some(frozen)) = (&event, &kept, training.frozen())
                && inputs == of
            {
                self.note_unrecorded(&folder, 0, kept.save(frozen));
            }
            on(&event);
        }
        let step = training.progress.step;
        if !saver.save(&training)? || !saver.is_safe(&training) {
            return Err(self.unsaved(&folder, &saver, step));
        }
        if let Some(dev) = &self.dev {
            let mut run = TrainedRun::open(&self.out, CheckpointKind::Best, Some(&self.config.device))?;
            let vectors = training.frozen().and_then(|frozen| frozen.dev.as_ref()).filter(|dev| dev.is_done());
            let evaluation = match vectors {
                Some(vectors) => run.evaluate_on(dev, vectors),
                None => run.evaluate(dev.pairs.clone(), |_| ())?,
            };
            let calibration = run.choose(evaluation.predictions)?;
            save::persist(&folder, step, || folder.save_calibrated(CheckpointKind::Best, &calibration.calibrated))
                .map_err(|_| self.unsaved(&folder, &saver, step))?;
            run.calibrated = Some(calibration.calibrated);
            self.note_unrecorded(&folder, step, run.record_dev(&calibration.predictions, &self.dev_parts));
        } else {
            self.note_unrecorded(&folder, step, folder.write_card(&self.config));
        }
        folder.note("finished", step, "");
        Ok(training.progress.best().cloned())
    }

    /// The vectors of the frozen encoder, if they are kept.
    fn kept_vectors(&self) -> Result<Option<KeptVectors>> {
        let Some(folder) = self.vectors.as_ref().filter(|_| reads_vectors(&self.network, &self.model_config)) else { return Ok(None) };
        let corpora: Vec<&Corpus> = std::iter::once(&self.train).chain(&self.dev).collect();
        let encoder = self.network.encoder_weights();
        KeptVectors::new(folder, &encoder, &corpora, self.compute.precision, &self.facts.made_with).map(Some)
    }

    /// The run's folder, its lock unless it is held already, and the checkpoint to resume from.
    fn open_folder(&self) -> Result<(RunFolder, Option<Lock>, Option<&LatestCheckpoint>)> {
        let RunInputs { config, inputs, .. } = &self.facts;
        match &self.start {
            Start::New(encoder) => {
                let (folder, lock) = RunFolder::create(&self.out, config, &self.model_config, inputs, encoder)?;
                Ok((folder, Some(lock), None))
            }
            Start::Begun(resumed) => {
                let Resumed { folder, found, .. } = resumed.as_ref();
                if let Some(found) = found {
                    folder.checkpoints().put_aside(&found.skipped)?;
                }
                folder.write_config(config)?;
                Ok((folder.clone(), None, found.as_ref()))
            }
        }
    }

    /// The error of a run that was asked to stop.
    fn stopped(&self, folder: &RunFolder, reason: &str, saver: &CheckpointWriter, step: u64, saved: bool) -> Error {
        let message = match (saved, saver.newest()) {
            (true, _) => format!("stopped by {reason} after step {step}; the run is saved"),
            (false, Some(newest)) => {
                format!(
                    "stopped by {reason} after step {step}, which could not be saved; the newest checkpoint is {newest}"
                )
            }
            (false, None) => format!("stopped by {reason} after step {step}; nothing could be saved"),
        };
        folder.note("stopped", step, &message);
        Error::new(ErrorKind::Resumable, format!("{message}; {}", self.how_to_go_on()))
    }

    /// The error of a run that finished, but whose end, best epoch or calibration is not on disk.
    fn unsaved(&self, folder: &RunFolder, saver: &CheckpointWriter, step: u64) -> Error {
        let newest = saver.newest().map_or("its first step".to_owned(), |newest| format!("the checkpoint {newest}"));
        let message =
            format!("the run finished, but could not be saved (see events.jsonl); it can resume from {newest}");
        folder.note("unsaved", step, &message);
        Error::new(ErrorKind::Resumable, format!("{message}; make room, then {}", self.how_to_go_on()))
    }

    /// Notes that dev scores or the model card could not be written. The run is not affected: `tiered eval` writes them
    /// again.
    fn note_unrecorded(&self, folder: &RunFolder, step: u64, recorded: Result<()>) {
        if let Err(error) = recorded {
            aside!("warning: {error}");
            folder.note("record-failed", step, &error.message);
        }
    }

    fn diverged(&self, folder: &RunFolder, diverged: &Diverged, saver: &CheckpointWriter) -> Error {
        let kept = match saver.newest() {
            Some(newest) => format!("the checkpoint {newest} is kept"),
            None => "no checkpoint was saved yet".to_owned(),
        };
        folder.note("diverged", diverged.step, &diverged.to_string());
        let message = format!("{diverged}; {kept}; try a lower train.learning_rate");
        Error::new(ErrorKind::Diverged, message)
    }

    fn how_to_go_on(&self) -> String {
        format!("resume with: tiered train --resume {}", self.out.display())
    }

    fn fit(&self) -> Fit<'_> {
        let eval = self.compute.eval(&self.model_config);
        let (config, network) = (&self.config, &self.network);
        fit(config, &self.model_config, network, &self.train, self.dev.as_ref(), &self.parts, eval)
    }
}

/// Training as in the config.
fn fit<'a>(
    config: &Config,
    model: &ModelConfig,
    network: &'a Network,
    train: &'a Corpus,
    dev: Option<&'a Corpus>,
    parts: &'a [MixtureComponent],
    eval: EvalConfig,
) -> Fit<'a> {
    let pad_to_entities = (config.loss.normalization == Normalization::Padded).then(|| train.max_entities());
    let layout = Layout { pad_to_entities, ..eval.layout };
    let vectors = |corpus| Vectors::new(corpus, model.encoder.hidden_size, eval.device);
    Fit {
        model: &network.model,
        frozen: reads_vectors(network, model).then(|| Frozen { train: vectors(train), dev: dev.map(vectors) }),
        train,
        parts,
        dev,
        config: config.train,
        strata: match config.model.detector.kind {
            DetectorKind::Paper => Strata::One,
            DetectorKind::Joint => Strata::Conflict,
        },
        loss: config.loss,
        eval: EvalConfig { layout, ..eval },
        decode: own_decode(config),
        seed: config.seed,
    }
}

/// Whether no step changes the encoder. Then each input is encoded once only.
fn reads_vectors(network: &Network, model: &ModelConfig) -> bool {
    network.encoder_is_frozen() && model.whole_stories() == WholeStories::Unread
}

/// The decoding of conflicts that fits the run's detector. Epochs and thresholds are chosen with it.
pub fn own_decode(config: &Config) -> Decode {
    match config.model.detector.kind {
        DetectorKind::Paper => Decode::Threshold,
        DetectorKind::Joint => Decode::Pair,
    }
}

/// A warning if three checkpoints do not fit on the disk: the one being saved and the two that are kept by default.
fn little_space(out: &Path, free: u64, checkpoint: u64) -> Option<String> {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    (free < 3 * checkpoint).then(|| {
        format!(
            "{}: {:.2} GB are free, but three checkpoints take {:.2} GB",
            out.display(),
            gigabytes(free),
            gigabytes(3 * checkpoint)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_less_than_three_checkpoints_is_warned_of() {
        let warning = |free| little_space(Path::new("runs/x"), free, 1_000_000_000);
        assert_eq!(warning(3_000_000_000), None);
        assert_eq!(warning(2_990_000_000).unwrap(), "runs/x: 2.99 GB are free, but three checkpoints take 3.00 GB");
    }
}
