//! When and how a run is saved, and what happens when saving fails.

use super::folder::{CheckpointKind, RunFolder, config_text};
use super::json::json_bytes;
use super::steps::StepTable;
use crate::checkpoint::{
    Checkpoint, CheckpointConfig, CheckpointStore, Environment, Every, Inputs, LatestCheckpoint, Manifest,
};
use crate::config::Config;
use crate::durable;
use crate::error::{Error, ErrorKind, Result};
use crate::fault;
use crate::model::pretrained::WEIGHTS;
use crate::model::weights;
use crate::say::aside;
use crate::schema;
use crate::train::{Network, Progress, TrainEvent, Training};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};

const OPTIMIZER: &str = "optimizer.safetensors";
const STATE: &str = "state.json";
pub const CONFIG: &str = "config.toml";

/// How often a save is tried. Each pause between tries is five times the one before.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// The state of training besides the weights: `state.json` of a checkpoint.
#[derive(Serialize, Deserialize)]
pub struct TrainingState {
    /// The optimiser's own steps, by which its moments are corrected.
    pub optimizer_step: i32,
    pub progress: Progress,
}

/// Sets a training run to the state of a checkpoint.
///
/// # Errors
/// `Config` or `Data` if it does not fit, `Io`.
fn restore(training: &mut Training, checkpoint: &Checkpoint) -> Result<()> {
    let path = checkpoint.file(STATE);
    let bytes = std::fs::read(&path).map_err(|error| Error::reading(&path, &error))?;
    let state: TrainingState =
        schema::from_slice(&bytes).map_err(|error| Error::data(format!("{}: {error}", path.display())))?;
    let moments = checkpoint.file(OPTIMIZER);
    training.optimiser.restore(state.optimizer_step, &weights::read(&moments)?, &moments)?;
    training.progress = state.progress;
    Ok(())
}

/// Files and documents that every checkpoint of a run contains.
pub struct RunInputs {
    pub config: Config,
    pub inputs: Inputs,
    pub made_with: Environment,
}

/// A position in a run: steps taken, epochs evaluated.
type Position = (u64, usize);

fn position(progress: &Progress) -> Position {
    (progress.step, progress.epochs.len())
}

fn trouble(folder: &RunFolder, event: &str, step: u64, message: &str) {
    aside!("warning: step {step}: {message}");
    folder.note(event, step, message);
}

/// Tries to save something up to three times, with growing pauses. Every failure is noted.
///
/// # Errors
/// The error of the last try.
pub fn persist(folder: &RunFolder, step: u64, mut save: impl FnMut() -> Result<()>) -> Result<()> {
    let mut pause = fault::retry_pause(PAUSE);
    for attempt in 1.. {
        let Err(error) = save() else { break };
        trouble(folder, "save-failed", step, &format!("not saved, try {attempt} of {TRIES}: {error}"));
        if attempt == TRIES {
            return Err(error);
        }
        std::thread::sleep(pause);
        pause *= 5;
    }
    Ok(())
}

/// Saves a run while it trains.
pub struct CheckpointWriter<'a> {
    folder: &'a RunFolder,
    store: CheckpointStore,
    config: CheckpointConfig,
    facts: &'a RunInputs,
    network: &'a Network,
    steps: StepTable,
    /// The name of the checkpoint of the best epoch. That checkpoint may not have been saved.
    best: Option<String>,
    /// The newest checkpoint, and its position.
    newest: Option<(Position, Checkpoint)>,
    /// The position at which `best`, `last` and the metrics were last updated.
    published: Option<Position>,
    /// The last try to save: its step and its time.
    tried: (u64, Instant),
}

impl<'a> CheckpointWriter<'a> {
    pub fn new(folder: &'a RunFolder, facts: &'a RunInputs, network: &'a Network) -> Self {
        let config = facts.config.checkpoint;
        CheckpointWriter {
            folder,
            store: folder.checkpoints(),
            config,
            facts,
            network,
            steps: StepTable::new(folder.step_table()),
            best: None,
            newest: None,
            published: None,
            tried: (0, Instant::now()),
        }
    }

    /// Sets a training run to the state of a checkpoint, and continues saving from there.
    ///
    /// # Errors
    /// `Config` or `Data` if it does not fit, `Io`.
    pub fn continue_from(&mut self, found: &LatestCheckpoint, training: &mut Training) -> Result<()> {
        restore(training, &found.checkpoint)?;
        if found.best_is_lost {
            let was_over = training.is_over(); // without a best epoch, patience has no end
            training.progress.lose_best();
            if was_over {
                return Err(self.best_is_lost(&found.checkpoint));
            }
        }
        self.resume(found.checkpoint.clone(), &training.progress)
    }

    /// No later epoch can take the place of the best one. `best/model.safetensors` has its weights or, if they could not be
    /// saved, those of an earlier epoch, so it stays.
    fn best_is_lost(&self, newest: &Checkpoint) -> Error {
        let best = newest.manifest.best.as_deref().unwrap_or_default();
        let message = format!(
            "{}: the run is at its end, and its best epoch is lost ({best} is missing or damaged); restore that folder, \
             or go on with --set train.epochs=MORE (or train.patience=MORE, if that ended it); `tiered eval` can still \
             use best/, which may be of an earlier epoch",
            self.store.path(best).display()
        );
        Error::data(message)
    }

    /// Continues from a checkpoint; `best`, `last` and the metrics are as they were when it was saved.
    fn resume(&mut self, checkpoint: Checkpoint, progress: &Progress) -> Result<()> {
        self.best = checkpoint.manifest.best.clone().filter(|_| progress.best.is_some());
        self.newest = Some((position(progress), checkpoint));
        self.steps = StepTable::resume(self.folder.step_table(), progress)?;
        self.tried = (progress.step, Instant::now());
        if let Err(error) = self.publish(progress) {
            trouble(self.folder, "publish-failed", progress.step, &error.message);
        }
        Ok(())
    }

    /// The name of the newest checkpoint.
    pub fn newest(&self) -> Option<&str> {
        self.newest.as_ref().map(|(_, checkpoint)| checkpoint.name.as_str())
    }

    /// Adds what has happened to the table of steps, which is written with the next checkpoint.
    pub fn note(&mut self, event: &TrainEvent) {
        self.steps.add(event);
    }

    /// Saves if a checkpoint is due.
    ///
    /// # Errors
    /// `Diverged` if a weight is not finite. A failed save is noted; it is not an error.
    pub fn after(&mut self, event: &TrainEvent, training: &Training) -> Result<()> {
        let due = match event {
            TrainEvent::Encoded { .. } => false,
            TrainEvent::Step(_) => !training.evaluation_is_due() && self.interval_is_over(training),
            TrainEvent::Epoch { is_best, .. } => {
                if *is_best {
                    self.best = Some(self.store.free_name(training.progress.step));
                }
                if let Err(error) = self.write_metrics(&training.progress) {
                    trouble(self.folder, "metrics-failed", training.progress.step, &error.message);
                }
                let every_epoch = self.config.every == Every::Epoch;
                *is_best || every_epoch || training.is_over() || self.interval_is_over(training)
            }
        };
        if due { self.save(training).map(|_| ()) } else { Ok(()) }
    }

    fn interval_is_over(&self, training: &Training) -> bool {
        let (step, time) = self.tried;
        self.config.every.is_due(training.progress.step, step, time.elapsed())
    }

    /// Whether the whole state of the run is on disk.
    pub fn is_safe(&self, training: &Training) -> bool {
        let best_is_there = self.best.as_ref().is_none_or(|best| self.store.path(best).exists());
        self.published == Some(position(&training.progress)) && best_is_there
    }

    /// Saves in up to three tries, unless the position is saved already; returns whether it is saved.
    ///
    /// # Errors
    /// `Diverged` if a weight is not finite.
    pub fn save(&mut self, training: &Training) -> Result<bool> {
        let step = training.progress.step;
        if self.published == Some(position(&training.progress)) {
            return Ok(true);
        }
        if let Some(name) = training.optimiser.not_finite() {
            return Err(Error::new(ErrorKind::Diverged, format!("step {step}: {name} is not finite")));
        }
        // A run resumes after a checkpoint, so the rows before it must be there. It is worth more than they are.
        if let Err(error) = self.steps.write() {
            trouble(self.folder, "metrics-failed", step, &error.message);
        }
        let saved = persist(self.folder, step, || self.attempt(training)).is_ok();
        // Set after a failure too: the next try comes when a checkpoint is due again, not at every step.
        self.tried = (step, Instant::now());
        Ok(saved)
    }

    /// Saves the checkpoint if it is not saved yet, then updates what depends on it.
    fn attempt(&mut self, training: &Training) -> Result<()> {
        let here = position(&training.progress);
        if self.newest.as_ref().is_none_or(|(made, _)| *made != here) {
            self.newest = Some((here, self.make(training)?));
        }
        self.store.sync()?;
        self.publish(&training.progress)?;
        // The checkpoint is saved, whether or not old ones can be removed.
        if let Err(error) = self.store.rotate(self.config.keep, self.best.as_deref()) {
            trouble(self.folder, "rotation-failed", training.progress.step, &error.message);
        }
        Ok(())
    }

    fn make(&self, training: &Training) -> Result<Checkpoint> {
        let progress = &training.progress;
        let name = self.store.free_name(progress.step);
        let (optimizer_step, moments) = training.optimiser.state();
        let state = json_bytes(&TrainingState { optimizer_step, progress: progress.clone() })?;
        let config = config_text(&self.facts.config)?;
        let weights = self.network.weights();
        let write = |folder: &Path| {
            durable::write_with(&folder.join(WEIGHTS), |path| weights::write(path, &weights))?;
            durable::write_with(&folder.join(OPTIMIZER), |path| weights::write(path, &moments))?;
            durable::write(&folder.join(STATE), &state)?;
            durable::write(&folder.join(CONFIG), config.as_bytes())
        };
        let RunInputs { inputs, made_with, .. } = self.facts;
        let (best, inputs, made_with) = (self.best.clone(), inputs.clone(), made_with.clone());
        self.store.save(&name, write, |files| Manifest::new(progress.step, best, inputs, made_with, files))
    }

    /// Updates `last`, `best` and the metrics from the newest checkpoint.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    fn publish(&mut self, progress: &Progress) -> Result<()> {
        let Some((here, newest)) = &self.newest else { return Ok(()) };
        self.folder.keep(CheckpointKind::Last, &newest.file(WEIGHTS))?;
        match self.best.as_ref().map(|best| self.store.path(best)) {
            Some(best) if best.exists() => self.folder.keep(CheckpointKind::Best, &best.join(WEIGHTS))?,
            Some(_) => {}
            None => self.folder.keep_no_best()?,
        }
        self.write_metrics(progress)?;
        self.published = Some(*here);
        Ok(())
    }

    fn write_metrics(&self, progress: &Progress) -> Result<()> {
        self.folder.write_metrics(&progress.epochs)?;
        self.steps.write()
    }
}
