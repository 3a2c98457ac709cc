//! Of the machine, what a config asks for.

#[path = "../../src/machine/choice.rs"]
mod choice;

pub use choice::{DeviceChoice, PrecisionChoice};
