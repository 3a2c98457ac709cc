//! The errors of a run that does not finish. Each is noted in the run's folder, and says how to go on.

use super::folder::RunFolder;
use crate::error::{Error, ErrorKind, Result};
use crate::say::{aside, quoted};
use crate::train::Diverged;

/// Where a run ends.
pub struct Ending<'a> {
    pub folder: &'a RunFolder,
    pub step: u64,
    /// The name of the newest checkpoint.
    pub newest: Option<&'a str>,
}

impl Ending<'_> {
    /// The run was asked to stop. `saved`: whether it could be saved first.
    pub fn stopped(&self, reason: &str, saved: bool) -> Error {
        let step = self.step;
        let message = match (saved, self.newest) {
            (true, _) => format!("stopped by {reason} after step {step}; the run is saved"),
            (false, Some(newest)) => {
                format!(
                    "stopped by {reason} after step {step}, which could not be saved; the newest checkpoint is {newest}"
                )
            }
            (false, None) => format!("stopped by {reason} after step {step}; nothing could be saved"),
        };
        self.folder.note("stopped", step, &message);
        Error::new(ErrorKind::Resumable, format!("{message}; {}", self.how_to_go_on()))
    }

    /// The pairs of the next step can't be read. `saved`: whether the run could be saved first.
    pub fn unread(&self, error: Error, saved: bool) -> Error {
        let newest = if saved { None } else { Some(self.newest.unwrap_or("its first step")) };
        let kept = newest.map_or("the run is saved".to_owned(), |newest| format!("it can resume from {newest}"));
        self.folder.note("stopped", self.step, &format!("{}; {kept}", error.message));
        let message = format!("{}; stopped after step {}; {kept}; {}", error.message, self.step, self.how_to_go_on());
        Error { message, ..error }
    }

    /// The run finished, but its end, its best epoch or its calibration is not on disk.
    pub fn unsaved(&self) -> Error {
        let newest = self.newest.map_or("its first step".to_owned(), |newest| format!("the checkpoint {newest}"));
        let message =
            format!("the run finished, but could not be saved (see events.jsonl); it can resume from {newest}");
        self.folder.note("unsaved", self.step, &message);
        Error::new(ErrorKind::Resumable, format!("{message}; make room, then {}", self.how_to_go_on()))
    }

    /// A loss or a gradient is not finite.
    pub fn diverged(&self, diverged: &Diverged) -> Error {
        self.not_finite(diverged.step, &diverged.to_string())
    }

    /// This is not finite: a loss, a gradient or a weight.
    pub fn not_finite(&self, step: u64, what: &str) -> Error {
        let kept = match self.newest {
            Some(newest) => format!("the checkpoint {newest} is kept"),
            None => "no checkpoint was saved yet".to_owned(),
        };
        self.folder.note("diverged", step, what);
        let message = format!("{what}; {kept}; try a lower train.learning_rate");
        Error::new(ErrorKind::Diverged, message)
    }

    /// The processes no longer have the same weights. Nothing is saved, as it is not known whose are right.
    pub fn unequal(&self, differs: &str) -> Error {
        let newest = self.newest.map_or("its first step".to_owned(), |newest| format!("the checkpoint {newest}"));
        let message = format!("step {}: {differs}; what came after {newest} is lost", self.step);
        self.folder.note("unequal", self.step, &message);
        let remedy = "check the memory and the network of both machines";
        Error::new(ErrorKind::Resumable, format!("{message}; {remedy}, then {}", self.how_to_go_on()))
    }

    /// Its folder has another name by now, or none. Nothing is written, as that would make half a folder of its old name.
    pub fn moved(&self) -> Error {
        let (run, step) = (self.folder.path().display(), self.step);
        let newest = self.newest.map_or("its first step".to_owned(), |newest| format!("the checkpoint {newest}"));
        let message = format!("{run}: was moved or removed while it was trained; stopped after step {step}");
        let remedy = "where it is now, `tiered train --resume` goes on from";
        Error::new(ErrorKind::CantCreate, format!("{message}; {remedy} {newest}"))
    }

    fn how_to_go_on(&self) -> String {
        format!("resume with: tiered train --resume {}", quoted(self.folder.path().display()))
    }
}

/// Notes that dev scores, vectors or the model card could not be written. The run is not affected: `tiered eval` writes
/// them again.
pub fn note_unrecorded(folder: &RunFolder, step: u64, recorded: Result<()>) {
    if let Err(error) = recorded {
        aside!("warning: {error}");
        folder.note("record-failed", step, &error.message);
    }
}
