//! Of losses, how much each counts.

#[path = "../../src/loss/config.rs"]
mod config;

pub use config::{LossConfig, Normalization};
