//! One cell: begun or gone on with, trained to its end, evaluated.

use super::evaluate::evaluate;
use super::place::{Place, State};
use super::{Cell, Study};
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Experiment, TrainedRun, Which};
use crate::train::Event;
use std::path::Path;

/// How an attempt at a cell ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// There was nothing to do.
    WasDone,
    /// Another process is at work on it.
    Held,
}

/// What goes on in a cell.
pub enum Happening<'a> {
    /// It is about to be trained.
    Begins(&'a Experiment),
    Trains(&'a Event),
    /// It was evaluated on a set, of so many pairs.
    Evaluated {
        set: &'a str,
        pairs: usize,
    },
}

impl Study {
    /// Does whatever is left to do of a cell, until `stop` names a reason to stop; nothing if it is done, or held by
    /// another process.
    ///
    /// # Errors
    /// `Resumable` if it was stopped; whatever goes wrong in the cell, which is kept for [`Study::failure`].
    pub fn run_cell(
        &self,
        cell: &Cell,
        stop: &dyn Fn() -> Option<&'static str>,
        on: &mut dyn FnMut(&Happening),
    ) -> Result<Outcome> {
        let place = self.place(cell);
        let Some(_lock) = place.lock()? else { return Ok(Outcome::Held) };
        let ended = self.work(cell, &place, stop, on);
        place.note(&ended)?;
        ended
    }

    fn work(
        &self,
        cell: &Cell,
        place: &Place,
        stop: &dyn Fn() -> Option<&'static str>,
        on: &mut dyn FnMut(&Happening),
    ) -> Result<Outcome> {
        let was_trained = place.is_trained(cell)?;
        if !was_trained {
            // What can't be evaluated is said before hours of training.
            self.file.evaluate.iter().try_for_each(|set| set.pairs(0).map(drop))?;
            train(cell, place, &self.folder.with_file_name("vectors"), stop, on)?;
            place.note_trained(&self.file.name, cell)?;
        }
        let mut todo = Vec::new();
        for set in &self.file.evaluate {
            let sha256 = set.sha256()?;
            if !place.is_evaluated(set, Some(&sha256)) {
                todo.push((set, sha256));
            }
        }
        if todo.is_empty() && was_trained {
            place.remove_checkpoints()?;
            return Ok(Outcome::WasDone);
        }
        let run = TrainedRun::open(&place.run, Which::Best, Some(&cell.config.device))?;
        for (set, sha256) in todo {
            if let Some(reason) = stop() {
                let message = format!("stopped by {reason} before the evaluation on {}", set.name);
                return Err(Error::new(ErrorKind::Resumable, message));
            }
            let pairs = evaluate(&run, set, sha256)?;
            on(&Happening::Evaluated { set: &set.name, pairs });
        }
        place.remove_checkpoints()?;
        Ok(Outcome::Done)
    }

    /// Whether nothing is left to do of any of the cells.
    ///
    /// # Errors
    /// As [`Study::state`].
    pub fn are_done<'a>(&self, cells: impl IntoIterator<Item = &'a Cell>) -> Result<bool> {
        for cell in cells {
            if self.state(cell)? != State::Done {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn train(
    cell: &Cell,
    place: &Place,
    vectors: &Path,
    stop: &dyn Fn() -> Option<&'static str>,
    on: &mut dyn FnMut(&Happening),
) -> Result<()> {
    let config = cell.config.clone();
    let experiment = match place.run.exists() {
        true => Experiment::resume(&place.run, Some(config), &[], None)?,
        false => Experiment::prepare(config, &place.run, None)?,
    };
    on(&Happening::Begins(&experiment));
    experiment.keep_vectors(vectors).run(stop, |event| on(&Happening::Trains(event)))?;
    Ok(())
}
