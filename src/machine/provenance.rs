//! What the last digits of a run's numbers depend on.

use super::processor::{cpuinfo, features};
use crate::checkpoint::Environment;
use tch::Device;

/// The version of libtorch at build time. libtorch has no function that returns it.
pub const LIBTORCH_VERSION: Option<&str> = option_env!("TIERED_LIBTORCH_VERSION");

/// What the last digits of a run's numbers depend on, as of now.
pub fn made_with(device: Device) -> Environment {
    Environment {
        tiered: env!("CARGO_PKG_VERSION").to_owned(),
        libtorch: LIBTORCH_VERSION.unwrap_or("unknown").to_owned(),
        device: format!("{device:?}").to_lowercase(),
        threads: tch::get_num_threads(),
        processor: features(&cpuinfo()).unwrap_or_default().into_iter().map(str::to_owned).collect(),
    }
}
