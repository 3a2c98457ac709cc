//! One config -> one run folder, and a run folder -> a model that predicts.

mod changes;
mod folder;
mod improbable;
mod material;
mod network;
mod origin;
mod record;
mod resume;
mod run;
mod save;
mod steps;
mod trial;
mod tuning;
mod vectors;

pub use changes::{Change, KEYS, flat};
use folder::EncoderFiles;
pub use folder::{RunFolder, Which, json_bytes};
pub use record::{EVALUATION_FILES, evaluation_name, keep};
pub use run::TrainedRun;
pub use trial::Trial;
pub use tuning::Tuning;

use crate::batch::{Corpus, Layout, Strata, WholeStories};
use crate::checkpoint::Found;
use crate::config::Config;
use crate::decode::Decode;
use crate::durable::{self, Lock, free_bytes};
use crate::error::{Error, ErrorKind, Result};
use crate::eval::EvalConfig;
use crate::loss::Normalization;
use crate::machine::made_with;
use crate::model::kernels::parallel;
use crate::model::{DetectorKind, Mode, ModelConfig, Precision, encoder};
use crate::say::aside;
use crate::train::{Diverged, EpochRecord, Event, Fit, Frozen, Part, TrainConfig, Training, Vectors, order};
use material::Material;
use network::Network;
use resume::Resumed;
use save::{Facts, Saver};
use std::path::{Path, PathBuf};
use tch::Device;
use vectors::KeptVectors;

/// Pairs of an evaluation batch: enough for large products, little enough for any memory.
const EVAL_PAIRS: usize = 8;

/// A training run that has been checked and can start.
pub struct Experiment {
    pub config: Config,
    pub model_config: ModelConfig,
    pub train: Corpus,
    pub dev: Option<Corpus>,
    parts: Vec<Part>,
    dev_parts: Vec<Part>,
    pub compute: Compute,
    /// What to know before it starts.
    pub warnings: Vec<String>,
    out: PathBuf,
    /// Where the vectors of a frozen encoder are kept, if anywhere.
    vectors: Option<PathBuf>,
    facts: Facts,
    start: Start,
    network: Network,
}

/// Where a run begins.
enum Start {
    /// In a folder that is to be made, with this encoder.
    New(EncoderFiles),
    /// In a folder that was begun.
    Begun(Box<Resumed>),
}

/// Where and in what to compute.
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
    /// Reads and checks everything a new run needs; nothing is written.
    ///
    /// # Errors
    /// `CantCreate` if `out` exists; whatever is wrong with data, encoder or config.
    pub fn prepare(config: Config, out: &Path, limit: Option<usize>) -> Result<Self> {
        if out.exists() {
            let message = format!(
                "{}: exists already; go on with it by --resume, name another folder with --out, or remove it",
                out.display()
            );
            return Err(Error::new(ErrorKind::CantCreate, message));
        }
        durable::require_creatable(out)?;
        let compute = Compute::resolve(&config)?;
        let encoder_folder = config.encoder.folder()?;
        let material = Material::read(&config, &encoder_folder, limit)?;
        let network = material.pretrained(&config, &encoder_folder, compute.device)?;
        let files = EncoderFiles { folder: encoder_folder, tokenizer: material.tokenizer.clone() };
        Self::new(config, out, compute, material, network, Start::New(files), Vec::new())
    }

    /// Reads and checks everything to go on with the run in `out`, from its newest good checkpoint. Without `config`
    /// its own is taken, `overrides` laid over it.
    ///
    /// # Errors
    /// `MissingInput` if there is no run; `CantCreate` if another process trains it; `Config` if keys changed that
    /// must not, `Data` if files it was made from did, or no checkpoint can be trusted.
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
        let material = Material::read(&config, &resumed.folder.encoder_folder(), limit)?;
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
        material: Material,
        network: Network,
        start: Start,
        mut warnings: Vec<String>,
    ) -> Result<Self> {
        let Material { model_config, train, parts, dev, dev_parts, inputs, .. } = material;
        let checkpoint_bytes = network.saved_bytes() + 8 * network.trained_numbers() as u64;
        warnings.extend(improbable::warnings(&config, &train, dev.as_ref()));
        warnings.extend(free_bytes(out).and_then(|free| little_space(out, free, checkpoint_bytes)));
        config.model.max_sentences = Some(model_config.max_sentences);
        config.precision = compute.precision.into();
        let facts = Facts { config: config.clone(), inputs, made_with: made_with(compute.device) };
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

    /// Keeps what a frozen encoder says in a folder, for other runs on the same inputs.
    pub fn keep_vectors(self, folder: &Path) -> Self {
        Experiment { vectors: Some(folder.to_owned()), ..self }
    }

    /// Steps of the whole run.
    pub fn steps(&self) -> usize {
        let TrainConfig { pairs_per_step, epochs, .. } = self.config.train;
        order::ends(&self.parts, pairs_per_step, epochs).last().map_or(0, |&steps| steps as usize)
    }

    /// Numbers that are trained.
    pub fn trained_parameters(&self) -> usize {
        self.network.trained_numbers()
    }

    /// What computes the encoder's layers.
    pub fn encoder_path(&self) -> encoder::Path {
        self.network.model.encoder.path(Mode::eval(self.compute.precision), self.compute.device)
    }

    /// Tensors of the encoder's file that are no part of the encoder and were passed over.
    pub fn passed_over(&self) -> &[String] {
        &self.network.passed_over
    }

    /// Where it begins, in words.
    pub fn beginning(&self) -> Option<String> {
        match &self.start {
            Start::New(_) => None,
            Start::Begun(resumed) => Some(resumed.beginning()),
        }
    }

    /// Trains to the end, or until `stop` names a reason (a signal) to stop at the next step; returns the record of
    /// the best epoch.
    ///
    /// # Errors
    /// `Resumable` if it was stopped, or the end, the best epoch or what was chosen for it could not be saved;
    /// `Diverged` (the checkpoints before are kept); `CantCreate`, `Io`.
    pub fn run(
        self,
        stop: impl Fn() -> Option<&'static str>,
        mut on: impl FnMut(&Event),
    ) -> Result<Option<EpochRecord>> {
        let (folder, _lock, found) = self.open_folder()?;
        let mut training = Training::new(self.fit(), self.network.parameters(&self.config.train));
        let mut saver = Saver::new(&folder, &self.facts, &self.network);
        if let Some(Found { checkpoint, best_is_lost, .. }) = found {
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
            let mut run = TrainedRun::open(&self.out, Which::Best, Some(&self.config.device))?;
            let vectors = training.frozen().and_then(|frozen| frozen.dev.as_ref()).filter(|dev| dev.is_done());
            let evaluation = match vectors {
                Some(vectors) => run.evaluate_on(dev, vectors),
                None => run.evaluate(dev.pairs.clone(), |_| ())?,
            };
            let tuning = run.choose(evaluation.predictions)?;
            save::persist(&folder, step, || folder.save_tuned(Which::Best, &tuning.tuned))
                .map_err(|_| self.unsaved(&folder, &saver, step))?;
            run.tuned = Some(tuning.tuned);
            self.note_unrecorded(&folder, step, run.record_dev(&tuning.predictions, &self.dev_parts));
        } else {
            self.note_unrecorded(&folder, step, folder.write_card(&self.config));
        }
        folder.note("finished", step, "");
        Ok(training.progress.best().cloned())
    }

    /// Where the vectors of its frozen encoder are kept, if they are.
    fn kept_vectors(&self) -> Result<Option<KeptVectors>> {
        let Some(folder) = self.vectors.as_ref().filter(|_| self.reads_vectors()) else { return Ok(None) };
        let corpora: Vec<&Corpus> = std::iter::once(&self.train).chain(&self.dev).collect();
        let encoder = self.network.encoder_weights();
        KeptVectors::new(folder, &encoder, &corpora, self.compute.precision, &self.facts.made_with).map(Some)
    }

    /// Whether no step changes the encoder, so that it is run once for each input.
    fn reads_vectors(&self) -> bool {
        self.network.encoder_is_frozen() && self.model_config.whole_stories() == WholeStories::Unread
    }

    /// The run's folder, its lock unless that is held already, and the checkpoint to begin from.
    fn open_folder(&self) -> Result<(RunFolder, Option<Lock>, Option<&Found>)> {
        let Facts { config, inputs, .. } = &self.facts;
        match &self.start {
            Start::New(encoder) => {
                let (folder, lock) = RunFolder::create(&self.out, config, &self.model_config, inputs, encoder)?;
                Ok((folder, Some(lock), None))
            }
            Start::Begun(resumed) => {
                let Resumed { folder, found, .. } = resumed.as_ref();
                if let Some(found) = found {
                    folder.checkpoints().pass_over(&found.passed_over)?;
                }
                folder.write_config(config)?;
                Ok((folder.clone(), None, found.as_ref()))
            }
        }
    }

    /// It was asked to stop.
    fn stopped(&self, folder: &RunFolder, reason: &str, saver: &Saver, step: u64, saved: bool) -> Error {
        let message = match (saved, saver.newest()) {
            (true, _) => format!("stopped by {reason} after step {step}, and saved"),
            (false, Some(newest)) => {
                format!("stopped by {reason} after step {step}, which could not be saved; the newest is {newest}")
            }
            (false, None) => format!("stopped by {reason} after step {step}, and nothing could be saved"),
        };
        folder.note("stopped", step, &message);
        Error::new(ErrorKind::Resumable, format!("{message}; {}", self.how_to_go_on()))
    }

    /// It came to its end, and that, the best epoch or what was chosen for it is not on disk.
    fn unsaved(&self, folder: &RunFolder, saver: &Saver, step: u64) -> Error {
        let newest = saver.newest().map_or("no checkpoint".to_owned(), |newest| format!("the checkpoint {newest}"));
        let message = format!(
            "the run came to its end, but could not be saved (see events.jsonl); there is {newest} to go on from"
        );
        folder.note("unsaved", step, &message);
        Error::new(ErrorKind::Resumable, format!("{message}; make room, then {}", self.how_to_go_on()))
    }

    /// That dev scores or the model card could not be written costs the run nothing: `tiered eval` makes them anew.
    fn note_unrecorded(&self, folder: &RunFolder, step: u64, recorded: Result<()>) {
        if let Err(error) = recorded {
            aside!("warning: {error}");
            folder.note("record-failed", step, &error.message);
        }
    }

    fn diverged(&self, folder: &RunFolder, diverged: &Diverged, saver: &Saver) -> Error {
        let kept = match saver.newest() {
            Some(newest) => format!("the checkpoint {newest} is kept"),
            None => "no checkpoint was made yet".to_owned(),
        };
        folder.note("diverged", diverged.step, &diverged.to_string());
        let message = format!("{diverged}; {kept}; try a lower train.learning_rate");
        Error::new(ErrorKind::Diverged, message)
    }

    fn how_to_go_on(&self) -> String {
        format!("go on with: tiered train --resume {}", self.out.display())
    }

    fn fit(&self) -> Fit<'_> {
        let eval = self.compute.eval(&self.model_config);
        let vectors = |corpus| Vectors::new(corpus, self.model_config.encoder.hidden_size, eval.device);
        let frozen =
            self.reads_vectors().then(|| Frozen { train: vectors(&self.train), dev: self.dev.as_ref().map(vectors) });
        let dev = self.dev.as_ref();
        Fit { dev, frozen, ..fit(&self.config, &self.network, &self.train, &self.parts, eval) }
    }
}

/// Training as the config has it, without dev pairs.
fn fit<'a>(config: &Config, network: &'a Network, train: &'a Corpus, parts: &'a [Part], eval: EvalConfig) -> Fit<'a> {
    let pad_to_entities = (config.loss.normalization == Normalization::Padded).then(|| train.max_entities());
    let layout = Layout { pad_to_entities, ..eval.layout };
    Fit {
        model: &network.model,
        frozen: None,
        train,
        parts,
        dev: None,
        config: config.train,
        strata: match config.model.detector.kind {
            DetectorKind::Belief => Strata::One,
            DetectorKind::Joint => Strata::Conflict,
        },
        loss: config.loss,
        eval: EvalConfig { layout, ..eval },
        decode: own_decode(config),
        seed: config.seed,
    }
}

/// The decoding of conflicts that the run's detector was made for: epochs and thresholds are chosen by it.
pub fn own_decode(config: &Config) -> Decode {
    match config.model.detector.kind {
        DetectorKind::Belief => Decode::Threshold,
        DetectorKind::Joint => Decode::Pair,
    }
}

/// A warning if there is no room for three checkpoints: the one being made and the two kept by default.
fn little_space(out: &Path, free: u64, checkpoint: u64) -> Option<String> {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    (free < 3 * checkpoint).then(|| {
        format!(
            "{}: {:.2} GB are free, and three checkpoints take {:.2} GB",
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
        assert_eq!(warning(2_990_000_000).unwrap(), "runs/x: 2.99 GB are free, and three checkpoints take 3.00 GB");
    }
}
