//! Adds to `tch` what it lacks of libtorch: a small C++ file (`bridge.cc`) and what is built on it.
//!
//! | file | what |
//! |---|---|
//! | `bridge` | calls the C++ functions: multi-tensor operations, settings, memory of a GPU |
//! | `flash` | attention over sequences that lie end to end, on GPUs that have it |
//! | `read` | copies numbers from a device; each such read waits for the device, so they are counted |
//! | `operations` | counts the operations that libtorch carries out |
//! | `parcel` | copies many tensors to a device at once |
//! | `switch` | makes the CPU compute as a GPU would |

mod bridge;
mod flash;
mod operations;
mod parcel;
pub mod read;
mod switch;

pub use bridge::{
    AdamWConstants, GpuMemory, Updated, allow_tf32, copy_each, fused_adamw, global_norm, peak_gpu_memory,
    reset_peak_gpu_memory, seed, use_deterministic_algorithms,
};
pub use flash::{flash_attention, has_flash_attention};
pub use operations::{OperationCounter, OperationCounts};
pub use parcel::Parcel;
pub use switch::has_kernels;
