//! Executes one run: starts or resumes its training, then evaluates it.

use super::caught::caught;
use super::evaluate::evaluate;
use super::file::EvaluationSet;
use super::run_files::{RunFiles, RunState};
use super::{Sweep, SweepRun};
use crate::data::{Fold, Severity, StoryFile, checking};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{CheckpointKind, Experiment, TrainedRun, check_ledger, require_readable, seen_before};
use crate::machine::ComputeChoice;
use crate::say::aside;
use crate::train::TrainEvent;
use std::sync::PoisonError;

/// How an attempt at a run ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// What was left of it was done.
    Done,
    /// There was nothing to do.
    WasDone,
    /// Another process is executing it.
    Held,
}

/// An event of a run.
pub enum Happening<'a> {
    /// It is about to be trained.
    Begins(&'a Experiment),
    /// Its training has completed something.
    Trains(&'a TrainEvent),
    /// It was evaluated on a set.
    Evaluated {
        /// The set's name.
        set: &'a str,
        /// How many pairs were evaluated.
        pairs: usize,
    },
}

impl Sweep {
    /// Does everything that is left to do of a run, until `stop` names a reason to stop. Does nothing if the run is
    /// done or another process holds it.
    ///
    /// # Errors
    /// `Resumable` if it was stopped; any error of the run, which is recorded for [`Sweep::failure`], also if the run
    /// panicked.
    pub fn run_one(
        &self,
        run: &SweepRun,
        stop: &dyn Fn() -> Option<&'static str>,
        on: &mut dyn FnMut(&Happening),
    ) -> Result<RunOutcome> {
        let files = self.files(run);
        let Some(_lock) = files.lock()? else { return Ok(RunOutcome::Held) };
        if let Err(error) = files.forget_failure() {
            aside!("warning: {error}; the error of an earlier attempt stays noted");
        }
        let ended = caught(|| self.work(run, &files, stop, on));
        if let Err(error) = &ended
            && error.kind != ErrorKind::Resumable
            && let Err(unnoted) = files.note_failure(error)
        {
            aside!("warning: {unnoted}; how the run ended is not noted");
        }
        ended
    }

    fn work(
        &self,
        run: &SweepRun,
        files: &RunFiles,
        stop: &dyn Fn() -> Option<&'static str>,
        on: &mut dyn FnMut(&Happening),
    ) -> Result<RunOutcome> {
        check_ledger()?;
        let was_trained = files.is_trained(run)?;
        if was_trained {
            self.require_trained_on(run, files)?;
        } else {
            // Report a set that can't be evaluated before hours of training.
            self.check_sets(&[run])?;
            if !files.has_begun() {
                require_held_out(run, &self.set_digests()?)?;
            }
            self.train(run, files, stop, on)?;
            files.note_trained(&self.file.name, run)?;
        }
        let mut todo = self.set_digests()?;
        todo.retain(|(set, sha256)| !files.is_evaluated(set, Some(sha256)));
        if todo.is_empty() && was_trained {
            files.remove_checkpoints()?;
            return Ok(RunOutcome::WasDone);
        }
        let choice = ComputeChoice::on(Some(&run.config.device));
        let run = TrainedRun::open(&files.path, CheckpointKind::Best, &choice)?;
        for (set, _) in todo {
            if let Some(reason) = stop() {
                let message = format!("stopped by {reason} before the evaluation on {}", set.name);
                return Err(Error::new(ErrorKind::Resumable, message));
            }
            let pairs = evaluate(&run, set, &self.read(set)?)?;
            on(&Happening::Evaluated { set: &set.name, pairs });
        }
        files.remove_checkpoints()?;
        Ok(RunOutcome::Done)
    }

    fn train(
        &self,
        run: &SweepRun,
        files: &RunFiles,
        stop: &dyn Fn() -> Option<&'static str>,
        on: &mut dyn FnMut(&Happening),
    ) -> Result<()> {
        let config = run.config.clone();
        let experiment = match files.has_begun() {
            true => Experiment::resume(&files.path, Some(config), &[], None)?,
            false => Experiment::prepare(config, &files.path, None)?,
        };
        if run.config.model.max_sentences.is_none() {
            // As many as the longest story of the training has; only now it is known.
            self.check_sets_of([(run.fold, Some(experiment.model_config.max_sentences))].into())?;
        }
        on(&Happening::Begins(&experiment));
        let vectors = self.folder.with_file_name("vectors");
        experiment.keep_vectors(&vectors).run(stop, |event| on(&Happening::Trains(event)))?;
        Ok(())
    }

    /// Reads every set, as these runs would.
    ///
    /// # Errors
    /// `MissingInput`, `Io`; `Config` if a variable in the path of a set is not set; `Data` if a set lacks a split or
    /// pairs, or has a story of more sentences than the config of a run lets its model read.
    pub fn check_sets(&self, runs: &[&SweepRun]) -> Result<()> {
        self.check_sets_of(runs.iter().map(|run| (run.fold, run.config.model.max_sentences)).collect())
    }

    /// Reads every set for each of these folds and limits of sentences.
    fn check_sets_of(&self, mut readers: Vec<(Option<Fold>, Option<usize>)>) -> Result<()> {
        readers.sort_unstable_by_key(|(fold, max_sentences)| (fold.map(|fold| fold.fold), *max_sentences));
        readers.dedup();
        for set in &self.file.evaluate {
            let file = self.read(set)?;
            for &(fold, max_sentences) in &readers {
                let pairs = set.pairs(&file, 0, fold)?;
                let is_readable = max_sentences.map_or(Ok(()), |limit| require_readable(&pairs, limit));
                is_readable.map_err(|error| error.about(set.file.display()))?;
            }
        }
        Ok(())
    }

    /// Reads the file of a set, and warns once of stories that can't be used.
    ///
    /// # Errors
    /// `MissingInput`, `Io`, `Data`; `Config` if a variable in its path is not set.
    fn read(&self, set: &EvaluationSet) -> Result<StoryFile> {
        let file = set.read()?;
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if file.count(Severity::Error) > 0 && warned.insert(file.path.clone()) {
            let (path, checking) = (file.path.display(), checking(&file.path));
            aside!("warning: {path}: some stories can't be used and are left out; {checking} lists them");
        }
        Ok(file)
    }

    /// The SHA-256 of each set's file, as it is now.
    fn set_digests(&self) -> Result<Vec<(&EvaluationSet, String)>> {
        self.file.evaluate.iter().map(|set| Ok((set, self.digest(set)?))).collect()
    }

    /// Removes the checkpoints of a run that is done, which an interruption may have left, unless another process holds it.
    ///
    /// # Errors
    /// `CantCreate`, `Io`.
    pub fn remove_checkpoints(&self, run: &SweepRun) -> Result<()> {
        let files = self.files(run);
        match files.lock()? {
            Some(_lock) => files.remove_checkpoints(),
            None => Ok(()),
        }
    }

    /// Those of the runs with something left to do: to train them, or to evaluate them on the sets as they are now.
    ///
    /// # Errors
    /// As [`Sweep::state`]; `MissingInput` or `Io` if a set can't be read.
    pub fn unfinished<'a>(&self, runs: &[&'a SweepRun]) -> Result<Vec<&'a SweepRun>> {
        self.set_digests()?;
        let mut unfinished = Vec::new();
        for &run in runs {
            // Where files are damaged, the run itself says so.
            if !self.state(run).is_ok_and(|state| state == RunState::Done) {
                unfinished.push(run);
            }
        }
        Ok(unfinished)
    }
}

/// # Errors
/// `Config` if a fold that the run leaves out was trained or chosen on by the run with whose weights it starts, or by the
/// one whose export its encoder is.
fn require_held_out(run: &SweepRun, sets: &[(&EvaluationSet, String)]) -> Result<()> {
    let Some(fold) = run.fold else { return Ok(()) };
    let from = run.config.init_from.as_ref().map(|first| ("init_from", first));
    let (key, first) = from.unwrap_or(("encoder.path", &run.config.encoder.path));
    let seen = seen_before(&run.config)?;
    let is_of = |(set, sha256): &&(&EvaluationSet, String)| {
        seen.iter().any(|source| source.sha256 == *sha256 && set.splits.contains(&source.split))
    };
    match sets.iter().find(is_of) {
        Some((set, _)) => Err(Error::config(format!(
            "{key} = {:?}: has been trained or chosen on pairs of {}, so that fold {fold} would not be held out of \
             training; start from one that has not seen them",
            first.display().to_string(),
            set.file.display()
        ))),
        None => Ok(()),
    }
}
