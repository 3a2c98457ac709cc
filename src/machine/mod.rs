//! The device, the precision, and how fast this machine multiplies.

mod allocator;
mod device;
mod matmul;
mod precision;
mod processor;
mod provenance;

pub use allocator::keep_memory;
pub use device::DeviceChoice;
pub use matmul::MatmulRates;
pub use precision::{BF16_ADVANTAGE, PrecisionChoice, preferred};
pub use processor::{FEATURES, features, proc_value};
pub use provenance::{LIBTORCH_VERSION, made_with};
