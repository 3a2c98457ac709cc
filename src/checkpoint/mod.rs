//! Checkpoints on disk, whatever is in their files: made whole or not at all, verified, the best and the last kept.

mod config;
mod manifest;
mod store;

pub use config::{CheckpointConfig, Every};
pub use manifest::{Damage, Inputs, MANIFEST, MadeWith, Manifest};
pub use store::{Checkpoint, Found, PassedOver, Store};
