//! Optimisation: training loop, optimiser and schedule. `experiment` saves the files of a run.

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
pub use order::MixtureComponent;
pub use progress::{DevRecord, EpochRecord, Progress};
pub use schedule::Schedule;
