//! Training in the other processes of a run: they compute, and write nothing.

use super::Experiment;
use super::together::{Parting, hear_begun, parting, share_state, stop_here};
use crate::distributed::LostRank;
use crate::error::{Error, ErrorKind, Result};
use crate::say::quoted;
use crate::train::Halt;

impl Experiment {
    /// Takes part in the training of a run that the first process leads.
    ///
    /// # Errors
    /// `Resumable` if the run was stopped, or if another process is lost; `Diverged`; that of the first process, if it can't
    /// begin.
    pub(super) fn follow(&self, stop: impl Fn() -> Option<&'static str>) -> Result<()> {
        let mut training = self.training();
        let lost = |lost: LostRank| self.ended(0, &lost.to_string());
        hear_begun(&self.ranks).map_err(lost)??;
        share_state(&self.ranks, &self.network, &mut training).map_err(lost)?;
        loop {
            let step = training.progress.step;
            if let Some(reason) = stop_here(&self.ranks, &stop).filter(|_| !training.is_over()) {
                return Err(self.ended(step, reason));
            }
            let advanced = training.advance().map_err(|halt| match halt {
                Halt::Diverged(_) | Halt::Pairs(_) => Error::from(halt),
                Halt::Lost(lost) => self.ended(step, &lost.to_string()),
            });
            let Some(event) = advanced? else { return Ok(()) };
            let step = training.progress.step;
            let parting = parting(&self.ranks, &event, &training.optimiser);
            match parting.map_err(|lost| self.ended(step, &lost.to_string()))? {
                None => {}
                Some(Parting::Differs(what)) => return Err(self.ended(step, &what)),
                Some(Parting::Moved) => return Err(self.moved(step)),
            }
        }
    }

    fn moved(&self, step: u64) -> Error {
        let (this, run) = (self.named(), self.folder().display());
        let message = format!("{this}: {run} was moved or removed while it was trained; stopped after step {step}");
        Error::new(ErrorKind::CantCreate, format!("{message}; process 0 says how to go on"))
    }

    fn named(&self) -> String {
        format!("process {} of {}", self.ranks.rank(), self.ranks.size())
    }

    fn ended(&self, step: u64, by: &str) -> Error {
        let (this, run) = (self.named(), quoted(self.folder().display()));
        let message = format!("{this}: stopped by {by} after step {step}");
        Error::new(ErrorKind::Resumable, format!("{message}; resume with: tiered train --resume {run}"))
    }
}
