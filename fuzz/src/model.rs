//! Of the model, what knows no tensors.

#[path = "../../src/model/detector/config.rs"]
mod detector;
#[path = "../../src/model/header.rs"]
pub mod header;

pub use detector::{Context, DetectorConfig, DetectorKind, Norm};
