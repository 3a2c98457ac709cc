//! Trains a run from its config, and loads the model of a run folder.

mod calibration;
mod changes;
mod compute;
mod ending;
mod evaluations;
mod fit;
mod folder;
mod history;
mod improbable;
mod inputs;
mod json;
mod ledger;
mod origin;
mod poison;
mod record;
mod resume;
mod run;
mod save;
mod space;
mod start;
mod steps;
mod trial;
mod vectors;

pub use calibration::DevCalibration;
pub use changes::flat;
pub use compute::Compute;
pub use fit::own_decode;
pub use folder::{CheckpointKind, RunFolder};
pub use json::json_bytes;
pub use ledger::check_ledger;
pub use record::{EVALUATION_FILES, evaluation_name, keep};
pub use run::TrainedRun;
pub use trial::Trial;

use crate::batch::Corpus;
use crate::checkpoint::LatestCheckpoint;
use crate::config::Config;
use crate::durable::{self, Lock, free_bytes};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Poison;
use crate::machine::made_with;
use crate::model::detector::of_config;
use crate::model::{Mode, ModelConfig, encoder};
use crate::train::{EpochRecord, MixtureComponent, Network, TrainConfig, TrainEvent, Training, order};
use ending::{Ending, note_unrecorded};
use folder::EncoderFiles;
use inputs::PreparedInputs;
use poison::Poisoned;
use resume::Resumed;
use save::{CheckpointWriter, RunInputs};
use std::path::{Path, PathBuf};
use vectors::KeptVectors;

/// A training run that has been checked and can start.
pub struct Experiment {
    /// As the run folder keeps it: with the precision and the number of sentences that were chosen.
    pub config: Config,
    /// The shapes that follow from config, encoder and pairs.
    pub model_config: ModelConfig,
    /// The pairs of all train sources, tokenized.
    pub train: Corpus,
    /// The same for dev; `None` if the config has no dev sources.
    pub dev: Option<Corpus>,
    parts: Vec<MixtureComponent>,
    dev_parts: Vec<MixtureComponent>,
    /// The device and the precision, resolved on this machine.
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

impl Experiment {
    /// Reads and checks everything that a new run needs. Writes nothing.
    ///
    /// # Errors
    /// `CantCreate` if `out` exists; errors of data, encoder or config.
    pub fn prepare(config: Config, out: &Path, limit: Option<usize>) -> Result<Self> {
        require_new(out)?;
        let compute = Compute::resolve(&config)?;
        let encoder_folder = config.encoder.folder()?;
        let inputs = PreparedInputs::read(&config, &encoder_folder, limit)?;
        let digests = inputs.digests(&config, &encoder_folder, limit)?;
        let (model, train) = (&inputs.model_config, &inputs.train);
        let network = start::pretrained(&config, model, &encoder_folder, train, compute.device, &of_config)?;
        let files = EncoderFiles { folder: encoder_folder, tokenizer: inputs.tokenizer.clone() };
        let facts = RunInputs { config, inputs: digests, made_with: made_with(compute.device) };
        Ok(Self::new(facts, out, compute, inputs, network, Start::New(files), Vec::new()))
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
        let encoder_folder = resumed.folder.encoder_folder();
        let inputs = PreparedInputs::read(&config, &encoder_folder, limit)?;
        let digests = inputs.digests(&config, &encoder_folder, limit)?;
        let made_with = made_with(compute.device);
        warnings.extend(resumed.compare(&digests, &made_with)?);
        let (model, train, device) = (&inputs.model_config, &inputs.train, compute.device);
        let network = match resumed.weights() {
            Some(file) => start::resumed(&config, model, &file, train, device)?,
            None => start::pretrained(&config, model, &config.encoder.folder()?, train, device, &of_config)?,
        };
        let facts = RunInputs { config, inputs: digests, made_with };
        Ok(Self::new(facts, out, compute, inputs, network, Start::Begun(Box::new(resumed)), warnings))
    }

    fn new(
        mut facts: RunInputs,
        out: &Path,
        compute: Compute,
        inputs: PreparedInputs,
        network: Network,
        start: Start,
        mut warnings: Vec<String>,
    ) -> Self {
        let PreparedInputs { model_config, train, parts, dev, dev_parts, .. } = inputs;
        let checkpoint_bytes = network.saved_bytes() + 8 * network.trained_numbers() as u64;
        warnings.extend(improbable::warnings(&facts.config, &train, dev.as_ref()));
        warnings.extend(free_bytes(out).and_then(|free| space::little_space(out, free, checkpoint_bytes)));
        facts.config.model.max_sentences = Some(model_config.max_sentences);
        facts.config.precision = compute.precision.into();
        Experiment {
            config: facts.config.clone(),
            model_config,
            train,
            dev,
            parts,
            dev_parts,
            compute,
            warnings,
            out: out.to_owned(),
            vectors: None,
            facts,
            start,
            network,
        }
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
        mut on: impl FnMut(&TrainEvent),
    ) -> Result<Option<EpochRecord>> {
        let (folder, _lock, found) = self.open_folder()?;
        let mut training = self.training();
        let mut saver = CheckpointWriter::new(&folder, &self.facts, &self.network);
        if let Some(found) = found {
            saver.continue_from(found, &mut training)?;
        }
        let kept = self.kept_vectors()?;
        if let Some((kept, frozen)) = kept.as_ref().zip(training.frozen()) {
            kept.load(frozen);
        }
        folder.note("started", training.progress.step, &self.warnings.join("; "));
        loop {
            let step = training.progress.step;
            if let Some(reason) = stop().filter(|_| !training.is_over()) {
                let saved = saver.save(&training)?;
                return Err(Ending { folder: &folder, step, newest: saver.newest() }.stopped(reason, saved));
            }
            let diverged = |why| Ending { folder: &folder, step, newest: saver.newest() }.diverged(&why);
            let Some(event) = training.advance().map_err(diverged)? else { break };
            saver.after(&event, &training)?;
            keep_vectors(&folder, kept.as_ref(), &event, &mut training);
            on(&event);
        }
        let step = training.progress.step;
        let is_saved = saver.save(&training)? && saver.is_safe(&training);
        let unsaved = || Ending { folder: &folder, step, newest: saver.newest() }.unsaved();
        if !is_saved {
            return Err(unsaved());
        }
        match &self.dev {
            Some(dev) => self.record_best(&folder, dev, &mut training, unsaved)?,
            None => note_unrecorded(&folder, step, folder.write_card(&self.config)),
        }
        folder.note("finished", step, "");
        Ok(training.progress.best().cloned())
    }

    /// The run at its first step.
    fn training(&self) -> Training<'_> {
        let eval = self.compute.eval(&self.model_config);
        let dev = self.dev.as_ref();
        let fit = fit::fit(&self.config, &self.model_config, &self.network, &self.train, dev, &self.parts, eval);
        let mut training = Training::new(fit, self.network.parameters(&self.config.train));
        if let Some(poison) = Poison::requested() {
            training.observe(Box::new(Poisoned::new(poison)));
        }
        training
    }

    /// Evaluates the best epoch on dev, chooses temperature and state threshold, and saves both.
    ///
    /// # Errors
    /// `unsaved` if the choice can't be saved; errors of loading the best epoch.
    fn record_best(
        &self,
        folder: &RunFolder,
        dev: &Corpus,
        training: &mut Training,
        unsaved: impl Fn() -> Error,
    ) -> Result<()> {
        let step = training.progress.step;
        let mut run = TrainedRun::open(&self.out, CheckpointKind::Best, Some(&self.config.device))?;
        let vectors = training.frozen().and_then(|frozen| frozen.dev.as_ref()).filter(|dev| dev.is_done());
        let evaluation = match vectors {
            Some(vectors) => run.evaluate_on(dev, vectors),
            None => run.evaluate(dev.pairs.clone(), |_| ())?,
        };
        let calibration = run.choose(evaluation.predictions)?;
        save::persist(folder, step, || folder.save_calibrated(CheckpointKind::Best, &calibration.calibrated))
            .map_err(|_| unsaved())?;
        run.calibrated = Some(calibration.calibrated);
        note_unrecorded(folder, step, run.record_dev(&calibration.predictions, &self.dev_parts));
        Ok(())
    }

    /// The vectors of the frozen encoder, if they are kept.
    fn kept_vectors(&self) -> Result<Option<KeptVectors>> {
        let Some(folder) = self.vectors.as_ref().filter(|_| fit::reads_vectors(&self.network, &self.model_config))
        else {
            return Ok(None);
        };
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
}

/// # Errors
/// `CantCreate` if the folder exists or can't be made.
fn require_new(out: &Path) -> Result<()> {
    if out.exists() {
        let message = format!(
            "{}: exists already; resume it with --resume, choose another folder with --output, or remove it",
            out.display()
        );
        return Err(Error::new(ErrorKind::CantCreate, message));
    }
    durable::require_creatable(out)
}

/// Keeps the vectors of a frozen encoder once all inputs are encoded.
fn keep_vectors(folder: &RunFolder, kept: Option<&KeptVectors>, event: &TrainEvent, training: &mut Training) {
    if let (TrainEvent::Encoded { inputs, of }, Some(kept), Some(frozen)) = (event, kept, training.frozen())
        && inputs == of
    {
        note_unrecorded(folder, 0, kept.save(frozen));
    }
}
