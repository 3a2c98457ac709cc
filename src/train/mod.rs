//! Optimisation: the loop, the optimiser, the schedule. What a run leaves on disk is `experiment`'s business.

mod config;
mod fit;
mod frozen;
mod optim;
pub mod order;
mod poison;
mod progress;
mod schedule;

pub use config::{AdamWConfig, BestModelMetric, TrainConfig};
pub use fit::{Diverged, Event, Fit, Frozen, Step, StepRecord, Training};
pub use frozen::Vectors;
pub use optim::{AdamW, Parameter};
pub use order::Part;
pub use progress::{DevRecord, EpochRecord, Progress};
pub use schedule::Schedule;
