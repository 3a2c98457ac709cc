//! How the runs of a sweep ended, and what is said of it.

use crate::error::Result;
use crate::sweep::{RunOutcome, SweepRun};

/// What is said of a run that was stopped before it began.
pub(super) const NOT_STARTED: &str = "not started";

/// How a run ended.
pub(super) struct End<'a> {
    pub run: &'a SweepRun,
    pub result: Result<RunOutcome>,
}

pub(super) fn outcome_words(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Done => "done",
        RunOutcome::WasDone => "was already done",
        RunOutcome::Held => "another process is running it",
    }
}
