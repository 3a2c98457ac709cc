//! Of checkpoints, what is read of them before a file that they name.

#[path = "../../src/checkpoint/config.rs"]
mod config;
#[path = "../../src/checkpoint/manifest.rs"]
mod manifest;

pub use config::{CheckpointConfig, Every};
pub use manifest::Manifest;
