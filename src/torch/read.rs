//! Copies numbers from a device. Each read waits until the device has computed them, and meanwhile nothing new is
//! started on it. So a training step has one, and `tests/it/device.rs` counts them.

use std::sync::atomic::{AtomicU64, Ordering};
use tch::{Device, Kind, Tensor};

static READS: AtomicU64 = AtomicU64::new(0);

/// How many reads this process has made.
pub fn count() -> u64 {
    READS.load(Ordering::Relaxed)
}

/// All numbers of a tensor, row by row.
pub fn floats(tensor: &Tensor) -> Vec<f32> {
    let here = to_cpu(&tensor.to_kind(Kind::Float)).contiguous();
    let mut values = vec![0.; here.numel()];
    let count = values.len();
    here.copy_data(&mut values, count);
    values
}

/// All numbers of each tensor, copied together.
pub fn together(tensors: &[Tensor]) -> Vec<Vec<f32>> {
    let flat: Vec<Tensor> = tensors.iter().map(|tensor| tensor.to_kind(Kind::Float).flatten(0, -1)).collect();
    if flat.is_empty() {
        return Vec::new();
    }
    let mut all = floats(&Tensor::cat(&flat, 0)).into_iter();
    tensors.iter().map(|tensor| all.by_ref().take(tensor.numel()).collect()).collect()
}

/// A float32 tensor with one number.
pub fn float(tensor: &Tensor) -> f64 {
    f64::from(floats(tensor)[0])
}

/// All integers of a tensor, row by row. If it is on the CPU, this is no read.
pub fn integers(tensor: &Tensor) -> Vec<i64> {
    let is_here = tensor.device() == Device::Cpu;
    let here = if is_here { tensor.shallow_clone() } else { to_cpu(tensor) }.to_kind(Kind::Int64).contiguous();
    let mut values = vec![0; here.numel()];
    let count = values.len();
    here.copy_data(&mut values, count);
    values
}

/// Whether all numbers are finite.
pub fn are_finite(tensor: &Tensor) -> bool {
    floats(&tensor.isfinite().all()) == [1.]
}

/// The tensor on the CPU, on which it may have been before.
pub fn to_cpu(tensor: &Tensor) -> Tensor {
    READS.fetch_add(1, Ordering::Relaxed);
    tensor.to_device(Device::Cpu)
}
