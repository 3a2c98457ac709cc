//! Of sweeps, their files.

#[path = "../../src/sweep/file.rs"]
mod file;

pub use file::SweepFile;
