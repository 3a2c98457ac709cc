//! Optimisation: training loop, optimiser and schedule. `experiment` saves the files of a run.

mod config;
mod evaluate;
mod exchange;
mod fit;
mod frozen;
mod network;
mod observer;
mod optim;
pub mod order;
mod progress;
mod schedule;
mod shards;
mod training;

pub use config::{AdamWConfig, BestModelMetric, TrainConfig};
pub use fit::{Diverged, Encoded, Fit, Frozen, Halt, StepResult};
pub use frozen::Vectors;
pub use network::Network;
pub use observer::{Phase, StepObserver, Unobserved};
pub use optim::{AdamW, Parameter};
pub use order::MixtureComponent;
pub use progress::{DevRecord, EpochRecord, Progress};
pub use schedule::Schedule;
pub use training::{StepRecord, TrainEvent, Training};
