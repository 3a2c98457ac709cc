//! Optimisation: the loop, the optimiser, the schedule. What a run leaves on disk is `experiment`'s business.

mod fit;
mod optim;
pub mod order;
mod schedule;

pub use fit::{Diverged, EpochRecord, Event, Fit, Step, StepRecord, TrainConfig};
pub use optim::{AdamW, AdamWConfig, Parameter};
pub use schedule::Schedule;
