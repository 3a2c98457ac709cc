//! The device path: what a GPU computes with, and what the CPU computes with on request, so that tests cover it.

use std::sync::OnceLock;
use tch::Device;

/// Set to `off`, the CPU computes as a GPU would: with libtorch's operations, on bins or padded blocks.
const SWITCH: &str = "TIERED_KERNELS";

/// Whether our own kernels compute on this device: on the CPU, unless `TIERED_KERNELS=off`.
///
/// # Panics
/// If the variable has another value.
pub fn has_kernels(device: Device) -> bool {
    static OFF: OnceLock<bool> = OnceLock::new();
    let is_off = *OFF.get_or_init(|| match std::env::var(SWITCH).as_deref() {
        Ok("off") => true,
        Ok("on") | Err(_) => false,
        Ok(other) => panic!("{SWITCH}={other} is invalid; it can be on or off"),
    });
    device == Device::Cpu && !is_off
}
