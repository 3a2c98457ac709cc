//! Checkpoints on disk, whatever their files hold: each complete or absent, verified; the newest and the best are kept.

mod config;
mod manifest;
mod store;

pub use config::{CheckpointConfig, Every};
pub use manifest::{Damage, Environment, Inputs, MANIFEST, Manifest, SeenSource};
pub use store::{Checkpoint, CheckpointStore, LatestCheckpoint, SkippedCheckpoint};
