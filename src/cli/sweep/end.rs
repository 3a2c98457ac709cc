//! How the runs of a sweep ended, and what is said of it.

use crate::error::Result;
use crate::sweep::{Outcome, SweepRun};

/// How a run ended.
pub(super) struct End<'a> {
    pub run: &'a SweepRun,
    pub result: Result<Outcome>,
}

pub(super) fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::WasDone => "was already done",
        Outcome::Held => "another process is running it",
    }
}
