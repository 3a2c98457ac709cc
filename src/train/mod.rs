//! Optimisation: training loop, optimiser and schedule. `experiment` saves the files of a run.

mod ahead;
mod batches;
mod config;
mod evaluate;
mod exchange;
mod feed;
mod fit;
mod frozen;
mod network;
mod observer;
mod optim;
pub mod order;
mod parameter;
mod progress;
mod schedule;
mod shards;
mod stream;
mod training;
mod update;

pub use batches::Batches;
pub use config::{AdamWConfig, BestModelMetric, TrainConfig};
pub use fit::{Diverged, Encoded, Fit, Frozen, Halt, StepResult};
pub use frozen::Vectors;
pub use network::Network;
pub use observer::{Phase, StepObserver, Unobserved};
pub use optim::{AdamW, StepNumbers};
pub use order::MixtureComponent;
pub use parameter::Parameter;
pub use progress::{DevRecord, EpochRecord, Progress};
pub use schedule::Schedule;
pub use stream::{PairStream, Streamed, TrainPairs};
pub use training::{StepRecord, TrainEvent, Training};
