//! Training in the process that writes the run folder: the only one, or the first of several.

use super::Experiment;
use super::calibration::own_groups;
use super::ending::{Ending, note_unrecorded};
use super::folder::{CheckpointKind, RunFolder};
use super::plan::Start;
use super::resume::Resumed;
use super::run::TrainedRun;
use super::save::{CheckpointWriter, RunInputs};
use super::together::{Parting, parting, share_state, stop_here, tell_begun, tell_moved};
use super::vectors::KeptVectors;
use super::{fit, save};
use crate::batch::Corpus;
use crate::checkpoint::LatestCheckpoint;
use crate::durable::Lock;
use crate::error::{Error, Result};
use crate::machine::ComputeChoice;
use crate::say::aside;
use crate::train::{EpochRecord, Halt, TrainEvent, Training};

/// A run's folder, its lock unless that is held already, and the checkpoint to resume from.
type OpenFolder<'a> = (RunFolder, Option<Lock>, Option<&'a LatestCheckpoint>);

impl Experiment {
    /// Trains to the end, or until `stop` returns a reason (a signal); then training stops at the next step. Returns
    /// the record of the best epoch; `None` in all processes of a run but the first, which alone writes.
    ///
    /// # Errors
    /// `Resumable` if the run was stopped, if another process is lost, or if its end, its best epoch or its calibration
    /// could not be saved; `Diverged` (earlier checkpoints are kept); `CantCreate`, also if the folder was moved; `Io`.
    pub fn run(
        self,
        stop: impl Fn() -> Option<&'static str>,
        mut on: impl FnMut(&TrainEvent),
    ) -> Result<Option<EpochRecord>> {
        let not_begun = |error| self.not_begun(error);
        let Some((folder, lock, found)) = self.open_folder().map_err(not_begun)? else {
            return self.follow(stop).map(|()| None);
        };
        let mut training = self.training();
        let mut saver = CheckpointWriter::new(&folder, &self.facts, &self.network);
        if let Some(found) = found {
            saver.continue_from(found, &mut training).map_err(not_begun)?;
            if self.has_other_dev() {
                training.progress.change_dev();
            }
        }
        let kept = self.kept_vectors().map_err(not_begun)?;
        if let Some((kept, frozen)) = kept.as_ref().zip(training.frozen()) {
            kept.load(frozen);
        }
        folder.note("started", training.progress.step, &self.warnings.join("; "));
        let shared =
            tell_begun(&self.ranks, Ok(())).and_then(|()| share_state(&self.ranks, &self.network, &mut training));
        shared.map_err(|lost| halted(&folder, &mut saver, &training, lost.into()))?;
        loop {
            if let Some(reason) = stop_here(&self.ranks, &stop).filter(|_| !training.is_over()) {
                return Err(stopped(&folder, &mut saver, &training, reason));
            }
            let advanced = training.advance();
            if self.lock(lock.as_ref()).is_some_and(|lock| is_elsewhere(&folder, lock)) {
                tell_moved(&self.ranks, advanced.as_ref().ok().and_then(Option::as_ref));
                return Err(ending(&folder, &saver, &training).moved());
            }
            let advanced = advanced.map_err(|halt| halted(&folder, &mut saver, &training, halt));
            let Some(event) = advanced? else { break };
            saver.note(&event);
            let parting = parting(&self.ranks, &event, &training.optimiser);
            let parting = parting.map_err(|lost| halted(&folder, &mut saver, &training, lost.into()))?;
            if let Some(Parting::Differs(what)) = parting {
                return Err(ending(&folder, &saver, &training).unequal(&what));
            }
            let saved = saver.after(&event, &training);
            saved.map_err(|error| not_finite(&folder, &saver, &training, &error))?;
            keep_vectors(&folder, kept.as_ref(), &event, &mut training);
            on(&event);
        }
        self.ranks.leave();
        self.finish(&folder, &mut saver, &mut training)?;
        Ok(training.progress.best().cloned())
    }

    /// Saves the end of the run, and how good its best epoch is.
    ///
    /// # Errors
    /// `Resumable` if that can't be saved; errors of loading the best epoch.
    fn finish(&self, folder: &RunFolder, saver: &mut CheckpointWriter, training: &mut Training) -> Result<()> {
        let is_saved = saved(folder, saver, training)? && saver.is_safe(training);
        let (step, newest) = (training.progress.step, saver.newest());
        let unsaved = || Ending { folder, step, newest }.unsaved();
        if !is_saved {
            return Err(unsaved());
        }
        match &self.dev {
            Some(dev) => self.record_best(folder, dev, training, unsaved)?,
            None => note_unrecorded(folder, step, folder.write_card(&self.config)),
        }
        folder.note("finished", step, "");
        Ok(())
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
        let mut run = TrainedRun::open_uncalibrated(&self.out, CheckpointKind::Best, &ComputeChoice::default())?;
        let vectors = training.frozen().and_then(|frozen| frozen.dev.as_ref()).filter(|dev| dev.is_done());
        let evaluation = match vectors {
            Some(vectors) => run.evaluate_on(dev, vectors),
            None => run.evaluate(dev.pairs.clone(), |_| ())?,
        };
        let calibration = run.choose(evaluation.predictions, &own_groups(&dev.pairs))?;
        save::persist(folder, step, || folder.save_calibrated(CheckpointKind::Best, &calibration.calibrated))
            .map_err(|_| unsaved())?;
        run.calibrated = Some(calibration.calibrated);
        let digests = self.facts.inputs.dev.as_deref().unwrap_or_default();
        note_unrecorded(folder, step, run.record_dev(&calibration.predictions, &self.dev_parts, digests));
        Ok(())
    }

    /// Whether the run is resumed with other dev pairs.
    fn has_other_dev(&self) -> bool {
        let RunInputs { config, inputs, .. } = &self.facts;
        matches!(&self.start, Start::Begun(resumed) if resumed.had_other_dev(config, inputs))
    }

    /// Whether every input is encoded once, before the first step.
    pub fn reads_vectors(&self) -> bool {
        fit::reads_vectors(&self.network, &self.model_config, &self.train)
    }

    /// The vectors of the frozen encoder, if they are kept.
    fn kept_vectors(&self) -> Result<Option<KeptVectors>> {
        let Some(folder) = self.vectors.as_ref().filter(|_| self.reads_vectors()) else { return Ok(None) };
        let corpora: Vec<&Corpus> = std::iter::once(&self.train.corpus).chain(&self.dev).collect();
        let encoder = self.network.encoder_weights();
        let encoder = (&self.model_config.encoder, &encoder);
        let computed = (self.compute.precision, self.facts.config.tf32);
        KeptVectors::new(folder, encoder, &corpora, computed, &self.facts.made_with).map(Some)
    }

    /// Tells the other processes why this one can't begin.
    fn not_begun(&self, error: Error) -> Error {
        // One that is lost by now hears nothing, and needs to hear nothing.
        let _ = tell_begun(&self.ranks, Err(&error));
        error
    }

    /// The lock of the run's folder: that of a new one, or the one that is held since the run was found.
    fn lock<'a>(&'a self, new: Option<&'a Lock>) -> Option<&'a Lock> {
        match &self.start {
            Start::Begun(resumed) => Some(&resumed.lock),
            Start::New(_) | Start::Following => new,
        }
    }

    /// The run's folder; `None` in a process that does not have it.
    fn open_folder(&self) -> Result<Option<OpenFolder<'_>>> {
        let RunInputs { config, inputs, .. } = &self.facts;
        match &self.start {
            Start::New(encoder) => {
                let (folder, lock) = RunFolder::create(&self.out, config, &self.model_config, inputs, encoder)?;
                Ok(Some((folder, Some(lock), None)))
            }
            Start::Begun(resumed) => {
                let Resumed { folder, found, .. } = resumed.as_ref();
                resumed.remove_leftovers()?;
                if let Some(found) = found {
                    folder.checkpoints().put_aside(&found.skipped)?;
                }
                if let Err(error) = folder.checkpoints().remove_unfinished() {
                    aside!("warning: {error}");
                }
                if !folder.inputs().is_ok_and(|held| held.as_ref() == Some(inputs)) {
                    folder.replace_inputs(inputs)?;
                }
                folder.write_config(config)?;
                Ok(Some((folder.clone(), None, found.as_ref())))
            }
            Start::Following => Ok(None),
        }
    }
}

/// Whether the run's path leads to another folder by now than to the one whose lock is held, or to none.
fn is_elsewhere(folder: &RunFolder, held: &Lock) -> bool {
    let has_run = folder.path().join("model.json").try_exists();
    has_run.is_ok_and(|has| !has) || held.is_not(&folder.path().join("lock"))
}

fn ending<'a>(folder: &'a RunFolder, saver: &'a CheckpointWriter, training: &Training) -> Ending<'a> {
    Ending { folder, step: training.progress.step, newest: saver.newest() }
}

/// Saves the run; returns whether it is saved.
///
/// # Errors
/// `Diverged`.
fn saved(folder: &RunFolder, saver: &mut CheckpointWriter, training: &Training) -> Result<bool> {
    let saved = saver.save(training);
    saved.map_err(|error| not_finite(folder, saver, training, &error))
}

/// Ends a run with a weight that is not finite.
fn not_finite(folder: &RunFolder, saver: &CheckpointWriter, training: &Training, error: &Error) -> Error {
    ending(folder, saver, training).not_finite(training.progress.step, &error.message)
}

/// Saves a run that is to stop here.
fn stopped(folder: &RunFolder, saver: &mut CheckpointWriter, training: &Training, reason: &str) -> Error {
    match saved(folder, saver, training) {
        Ok(saved) => ending(folder, saver, training).stopped(reason, saved),
        Err(error) => error,
    }
}

/// Ends a run that can't take its next step.
fn halted(folder: &RunFolder, saver: &mut CheckpointWriter, training: &Training, halt: Halt) -> Error {
    match halt {
        Halt::Diverged(diverged) => ending(folder, saver, training).diverged(&diverged),
        Halt::Lost(lost) => stopped(folder, saver, training, &lost.to_string()),
        Halt::Pairs(error) => match saved(folder, saver, training) {
            Ok(saved) => ending(folder, saver, training).unread(error, saved),
            Err(not_finite) => not_finite,
        },
    }
}

/// Keeps the vectors of a frozen encoder once all inputs are encoded.
fn keep_vectors(folder: &RunFolder, kept: Option<&KeptVectors>, event: &TrainEvent, training: &mut Training) {
    if let (TrainEvent::Encoded { inputs, of }, Some(kept), Some(frozen)) = (event, kept, training.frozen())
        && inputs == of
    {
        note_unrecorded(folder, 0, kept.save(frozen));
    }
}
