//! Of training, what is set.

#[path = "../../src/train/config.rs"]
mod config;
#[path = "../../src/train/schedule.rs"]
mod schedule;

pub use config::{AdamWConfig, TrainConfig};
pub use schedule::Schedule;
