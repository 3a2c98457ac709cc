//! Counts what a training step asks of the device.

use super::profile::Phases;
use crate::torch::{OperationCounter, read};
use crate::train::{Phase, StepObserver};
use serde::Serialize;

/// What one training step asks of the device. On a GPU an operation starts at least one kernel, and a read waits for
/// all of them. Our own kernels on the CPU are not among the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StepWork {
    /// Operations of libtorch that compute something, by phase in the order of [`Phases::NAMES`].
    pub operations: [u64; 8],
    /// Copies of numbers from the device.
    pub reads: u64,
    /// Operations that wait for the device.
    pub waits: u64,
}

/// Counts from inside a step.
pub struct WorkCounter {
    counter: OperationCounter,
    reads_before: u64,
    work: StepWork,
}

impl WorkCounter {
    /// Starts now.
    pub fn start() -> Self {
        WorkCounter { counter: OperationCounter::start(), reads_before: read::count(), work: StepWork::default() }
    }

    /// What the phases that have ended asked for.
    pub fn work(self) -> StepWork {
        StepWork { reads: read::count() - self.reads_before, ..self.work }
    }
}

impl StepObserver for WorkCounter {
    fn ended(&mut self, phase: Phase) {
        let counts = self.counter.lap();
        self.work.operations[phase as usize] += counts.kernels(); // a phase ends once in each shard
        self.work.waits += counts.waits();
    }
}

impl StepWork {
    /// The cells of a table: operations by phase, their sum, reads.
    pub(super) fn cells(&self) -> Vec<String> {
        let sum = self.operations.iter().sum::<u64>();
        self.operations.iter().chain([&sum, &(self.reads + self.waits)]).map(u64::to_string).collect()
    }

    /// The titles of these cells.
    pub(super) fn titles() -> impl Iterator<Item = &'static str> {
        Phases::NAMES.into_iter().chain(["sum", "reads"])
    }
}
