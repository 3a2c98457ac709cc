//! The device, the precision, and how fast this machine multiplies.

mod allocator;
mod choice;
mod device;
mod gpu;
mod matmul;
mod precision;
mod processor;
mod provenance;

pub use allocator::{keep_memory, share_memory};
pub use choice::{ComputeChoice, DeviceChoice, PrecisionChoice};
pub use gpu::Gpu;
pub use matmul::MatmulRates;
pub use precision::{BF16_ADVANTAGE, preferred};
pub use processor::{FEATURES, cpuinfo, default_threads, features};
pub use provenance::{LIBTORCH_VERSION, libtorch_folder, made_with};
