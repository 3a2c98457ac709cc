//! Training in the other processes of a run: they compute, and write nothing.

use super::Experiment;
use super::together::{differing_weights, hear_begun, share_state, stop_here};
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
            let differs = differing_weights(&self.ranks, &event, &training.optimiser);
            if let Some(differs) = differs.map_err(|lost| self.ended(step, &lost.to_string()))? {
                return Err(self.ended(step, &differs));
            }
        }
    }

    fn ended(&self, step: u64, by: &str) -> Error {
        let (rank, size, run) = (self.ranks.rank(), self.ranks.size(), quoted(self.folder().display()));
        let message = format!("process {rank} of {size}: stopped by {by} after step {step}");
        Error::new(ErrorKind::Resumable, format!("{message}; resume with: tiered train --resume {run}"))
    }
}
