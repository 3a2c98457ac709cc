//! Optimisation: the loop, the optimiser, the schedule. What a run leaves on disk is `experiment`'s business.

mod fit;
mod frozen;
mod optim;
pub mod order;
mod poison;
mod progress;
mod schedule;

pub use fit::{Diverged, Event, Fit, Frozen, Step, StepRecord, TrainConfig, Training};
pub use frozen::Vectors;
pub use optim::{AdamW, AdamWConfig, Parameter};
pub use order::Part;
pub use progress::{BestModelMetric, DevRecord, EpochRecord, Progress};
pub use schedule::Schedule;
