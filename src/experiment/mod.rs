//! Trains a run from its config, and loads the model of a run folder.

mod average;
mod calibration;
mod changes;
mod compute;
mod ending;
mod evaluations;
mod fit;
mod folder;
mod follow;
mod history;
mod improbable;
mod inputs;
mod json;
mod lead;
mod ledger;
mod origin;
mod plan;
mod poison;
mod present;
mod record;
mod resume;
mod run;
mod save;
mod seen;
mod soft_labels;
mod sources;
mod space;
mod start;
mod steps;
mod stream;
mod together;
mod trial;
mod vectors;

pub use average::average;
pub use calibration::{CalibrationPairs, DevCalibration};
pub use changes::flat;
pub use compute::Compute;
pub use fit::own_decode;
pub use folder::{CheckpointKind, RunFolder};
pub use json::json_bytes;
pub use ledger::check_ledger;
pub use plan::{RunPlan, is_empty_folder};
pub use record::{EVALUATION_FILES, evaluation_name, keep};
pub use run::{TrainedRun, require_readable};
pub use seen::{EXPORT, ScoredSplit, seen_before, seen_by};
pub use start::initial_weights;
pub use trial::Trial;

use crate::batch::Corpus;
use crate::config::Config;
use crate::distributed::Ranks;
use crate::durable::free_bytes;
use crate::error::Result;
use crate::fault::Poison;
use crate::model::{Mode, ModelConfig, encoder};
use crate::train::{MixtureComponent, Network, TrainConfig, TrainPairs, Training, order};
use inputs::PreparedInputs;
use plan::{Prepared, Start};
use poison::Poisoned;
use save::RunInputs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A training run that has been checked and can start.
pub struct Experiment {
    /// As the run folder keeps it: with the precision and the number of sentences that were chosen.
    pub config: Config,
    /// The shapes that follow from config, encoder and pairs.
    pub model_config: ModelConfig,
    /// The pairs of all train sources.
    pub train: TrainPairs,
    /// The dev pairs, tokenized; `None` if the config has no dev sources.
    pub dev: Option<Corpus>,
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
    ranks: Rc<Ranks>,
}

impl RunPlan {
    /// Reads and checks everything that the run needs. Writes nothing.
    ///
    /// # Errors
    /// Errors of data, encoder or config; `Data` if the inputs of a run that was started before have changed; `Refused` if
    /// the dev evaluation can't be saved under the name of its file and split.
    pub fn prepare(mut self) -> Result<Experiment> {
        self.config.data.dev.iter().try_for_each(record::require_evaluation_names)?;
        let Prepared { inputs, mut facts, network, start } = self.read()?;
        let RunPlan { compute, out, mut warnings, .. } = self;
        let PreparedInputs { model_config, train, dev, dev_parts, .. } = inputs;
        let checkpoint_bytes = network.saved_bytes() + 8 * network.trained_numbers() as u64;
        warnings.extend(improbable::warnings(&facts.config, &train.corpus, dev.as_ref()));
        let keep = space::checkpoints(&facts.config);
        warnings.extend(free_bytes(&out).and_then(|free| space::little_space(&out, free, checkpoint_bytes, keep)));
        facts.config.model.max_sentences = Some(model_config.max_sentences);
        facts.config.precision = compute.precision.into();
        Ok(Experiment {
            config: facts.config.clone(),
            model_config,
            train,
            dev,
            dev_parts,
            compute,
            warnings,
            out,
            vectors: None,
            facts,
            start,
            network,
            ranks: Rc::new(Ranks::alone()),
        })
    }
}

impl Experiment {
    /// Reads and checks everything that a new run needs. Writes nothing.
    ///
    /// # Errors
    /// `CantCreate` if `out` exists; errors of data, encoder or config.
    pub fn prepare(config: Config, out: &Path, limit: Option<usize>) -> Result<Self> {
        RunPlan::new(config, out, limit)?.prepare()
    }

    /// Reads and checks everything to resume the run in `out` from its newest intact checkpoint. Without `config`, the
    /// run's own config is used, with `overrides`.
    ///
    /// # Errors
    /// `MissingInput` if there is no run; `CantCreate` if another process trains it; `Config` if keys changed that must
    /// not change; `Data` if its input files changed, or if no checkpoint is intact.
    pub fn resume(out: &Path, config: Option<Config>, overrides: &[String], limit: Option<usize>) -> Result<Self> {
        RunPlan::resume(out, config, overrides, limit)?.prepare()
    }

    /// Keeps the vectors of a frozen encoder in a folder, for other runs on the same inputs.
    pub fn keep_vectors(self, folder: &Path) -> Self {
        Experiment { vectors: Some(folder.to_owned()), ..self }
    }

    /// The run folder; it may be created by [`Experiment::run`] only.
    pub fn folder(&self) -> &Path {
        &self.out
    }

    /// The number of steps of the whole run.
    pub fn steps(&self) -> usize {
        let TrainConfig { pairs_per_step, epochs, .. } = self.config.train;
        order::cumulative_steps(&self.train.parts, pairs_per_step, epochs).last().map_or(0, |&steps| steps as usize)
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
            Start::New(_) | Start::Following => None,
            Start::Begun(resumed) => Some(resumed.beginning()),
        }
    }

    /// The run at its first step.
    fn training(&self) -> Training<'_> {
        let eval = self.compute.eval(&self.model_config);
        let dev = self.dev.as_ref();
        let mut fit = fit::fit(&self.config, &self.model_config, &self.network, &self.train, dev, eval);
        fit.ranks = Rc::clone(&self.ranks);
        let mut training = Training::new(fit, self.network.parameters(&self.config.train));
        if let Some(poison) = Poison::requested() {
            training.observe(Box::new(Poisoned::new(poison)));
        }
        training
    }
}
