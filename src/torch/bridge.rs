//! The functions of `bridge.cc`.

use std::ffi::{CStr, c_char, c_int};
use tch::{Device, Tensor};
use torch_sys::C_tensor;

unsafe extern "C" {
    fn tiered_global_norm(tensors: *const *const C_tensor, count: usize, norm: *mut *mut C_tensor) -> *mut c_char;
    fn tiered_copy_each(into: *const *const C_tensor, from: *const *const C_tensor, count: usize) -> *mut c_char;
    fn tiered_seed(is_cuda: c_int, device: c_int, seed: u64) -> *mut c_char;
    fn tiered_pinned(tensor: *const C_tensor, pinned: *mut *mut C_tensor) -> *mut c_char;
    fn tiered_fused_adamw(
        parameters: *const *const C_tensor,
        gradients: *const *const C_tensor,
        first_moments: *const *const C_tensor,
        second_moments: *const *const C_tensor,
        count: usize,
        step: *const C_tensor,
        rate: f64,
        beta1: f64,
        beta2: f64,
        decay: f64,
        epsilon: f64,
        scale: *const C_tensor,
        skip: *const C_tensor,
    ) -> *mut c_char;
    fn tiered_packed_attention(
        queries: *const C_tensor,
        keys: *const C_tensor,
        values: *const C_tensor,
        starts: *const C_tensor,
        longest: i64,
        dropout: f64,
        context: *mut *mut C_tensor,
    ) -> *mut c_char;
    fn tiered_allow_tf32(allow: c_int) -> *mut c_char;
    fn tiered_deterministic_algorithms(deterministic: c_int) -> *mut c_char;
    fn tiered_cuda_peak(device: c_int, allocated: *mut i64, reserved: *mut i64) -> *mut c_char;
    fn tiered_reset_cuda_peak(device: c_int) -> *mut c_char;
    fn tiered_start_counting() -> *mut c_char;
    fn tiered_stop_counting(lines: *mut *mut c_char) -> *mut c_char;
}

/// The text of a string that C++ allocated, which is freed.
fn taken(text: *mut c_char) -> String {
    // SAFETY: the functions return strings that end with 0 and that nobody else has.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        libc::free(text.cast());
        copy
    }
}

/// The error that a function returned, if any.
fn checked(error: *mut c_char) -> Result<(), String> {
    if error.is_null() { Ok(()) } else { Err(taken(error)) }
}

/// Like tch's own functions.
///
/// # Panics
/// If libtorch refuses: shapes, kinds or devices do not fit.
fn required(error: *mut c_char) {
    checked(error).unwrap_or_else(|error| panic!("libtorch: {error}"));
}

fn pointers<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Vec<*const C_tensor> {
    tensors.into_iter().map(Tensor::as_ptr).collect()
}

/// The norm of all tensors together: a float32 scalar on their device, in a few operations however many they are.
///
/// # Panics
/// If there are none, or not all of them are on one device.
pub fn global_norm<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Tensor {
    let (tensors, mut norm) = (pointers(tensors), std::ptr::null_mut());
    // SAFETY: the pointers are those of tensors that live meanwhile; the result is a new tensor.
    unsafe {
        required(tiered_global_norm(tensors.as_ptr(), tensors.len(), &mut norm));
        Tensor::from_ptr(norm)
    }
}

/// Copies each tensor of `from` into that of `into` with the same number, in a few operations however many they are. Their
/// kinds may differ.
///
/// # Panics
/// If the tensors do not fit each other.
pub fn copy_each(into: &[Tensor], from: &[Tensor]) {
    assert_eq!(into.len(), from.len());
    if into.is_empty() {
        return;
    }
    let (into, from) = (pointers(into), pointers(from));
    // SAFETY: the pointers are those of tensors that live meanwhile.
    required(unsafe { tiered_copy_each(into.as_ptr(), from.as_ptr(), into.len()) });
}

/// Seeds libtorch's generator of this device. [`tch::manual_seed`] seeds those of all devices, which takes long where there
/// are GPUs (docs/gpu.md).
///
/// # Panics
/// If there is no such device.
pub fn seed(device: Device, seed: u64) {
    let (is_cuda, number) = match device {
        Device::Cuda(number) => (1, number as c_int),
        _ => (0, 0),
    };
    // SAFETY: sets a number of libtorch's generator, which it locks.
    required(unsafe { tiered_seed(is_cuda, number, seed) });
}

/// A copy in memory from which a GPU fetches without waiting.
///
/// # Panics
/// If there is no GPU.
pub fn pinned(tensor: &Tensor) -> Tensor {
    let mut pinned = std::ptr::null_mut();
    // SAFETY: the pointer is that of a tensor that lives meanwhile; the result is a new tensor.
    unsafe {
        required(tiered_pinned(tensor.as_ptr(), &mut pinned));
        Tensor::from_ptr(pinned)
    }
}

/// The constants of a step of AdamW.
#[derive(Debug, Clone, Copy)]
pub struct AdamWConstants {
    /// The learning rate.
    pub rate: f64,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Decoupled weight decay.
    pub decay: f64,
    /// Added to the denominator.
    pub epsilon: f64,
}

/// A parameter, its gradient and its moments, all float32 and on one device.
pub type Updated<'a> = [&'a Tensor; 4];

/// PyTorch's fused AdamW: one step for all parameters, in a few operations however many they are. `step` counts from 1;
/// gradients are divided by `scale`; nothing changes if `skip` is 1. These three are float32 scalars on the same device.
///
/// # Panics
/// If the tensors do not fit each other.
pub fn fused_adamw(all: &[Updated], constants: AdamWConstants, step: &Tensor, scale: &Tensor, skip: &Tensor) {
    let AdamWConstants { rate, beta1, beta2, decay, epsilon } = constants;
    let [parameters, gradients, first, second] =
        [0, 1, 2, 3].map(|part| pointers(all.iter().map(|updated| updated[part])));
    // SAFETY: the pointers are those of tensors that live meanwhile.
    required(unsafe {
        tiered_fused_adamw(
            parameters.as_ptr(),
            gradients.as_ptr(),
            first.as_ptr(),
            second.as_ptr(),
            all.len(),
            step.as_ptr(),
            rate,
            beta1,
            beta2,
            decay,
            epsilon,
            scale.as_ptr(),
            skip.as_ptr(),
        )
    });
}

/// libtorch's flash attention over sequences of at most `longest` tokens that lie end to end: sequence i has the rows from
/// `starts[i]` to `starts[i + 1]`. Differentiable, in bfloat16, on GPUs.
///
/// # Shapes
/// `parts` (queries, keys, values) `[T, heads, depth]` each, `starts [sequences + 1]` int32 -> `[T, heads, depth]`
///
/// # Errors
/// If libtorch has none for this GPU, or if kinds or shapes do not fit.
pub fn packed_attention(parts: [&Tensor; 3], starts: &Tensor, longest: i64, dropout: f64) -> Result<Tensor, String> {
    let ([queries, keys, values], mut context) = (parts.map(Tensor::as_ptr), std::ptr::null_mut());
    // SAFETY: the pointers are those of tensors that live meanwhile; the result is a new tensor.
    unsafe {
        checked(tiered_packed_attention(queries, keys, values, starts.as_ptr(), longest, dropout, &mut context))?;
        Ok(Tensor::from_ptr(context))
    }
}

/// Whether a GPU may round the inputs of float32 matmuls to TensorFloat-32.
///
/// # Panics
/// If libtorch refuses.
pub fn allow_tf32(allow: bool) {
    // SAFETY: sets a setting of libtorch.
    required(unsafe { tiered_allow_tf32(c_int::from(allow)) });
}

/// Whether libtorch chooses, where it has them, algorithms on GPUs that give the same numbers each time.
///
/// # Panics
/// If libtorch refuses.
pub fn use_deterministic_algorithms(deterministic: bool) {
    // SAFETY: sets a setting of libtorch.
    required(unsafe { tiered_deterministic_algorithms(c_int::from(deterministic)) });
}

/// The most memory of a GPU that this process had, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct GpuMemory {
    /// For tensors.
    pub allocated: u64,
    /// Reserved for tensors, whether they had it or not.
    pub reserved: u64,
}

/// The most memory since [`reset_peak_gpu_memory`].
///
/// # Errors
/// If this libtorch knows no such GPU.
pub fn peak_gpu_memory(gpu: usize) -> Result<GpuMemory, String> {
    let (mut allocated, mut reserved) = (0, 0);
    // SAFETY: writes two numbers.
    checked(unsafe { tiered_cuda_peak(gpu as c_int, &mut allocated, &mut reserved) })?;
    Ok(GpuMemory { allocated: allocated.max(0) as u64, reserved: reserved.max(0) as u64 })
}

/// Lets [`peak_gpu_memory`] start from the present memory.
///
/// # Errors
/// If this libtorch knows no such GPU.
pub fn reset_peak_gpu_memory(gpu: usize) -> Result<(), String> {
    // SAFETY: sets numbers of libtorch's allocator.
    checked(unsafe { tiered_reset_cuda_peak(gpu as c_int) })
}

/// While this exists, operations are counted.
pub struct Counting {
    _private: (),
}

impl Counting {
    pub fn start() -> Self {
        // SAFETY: installs a callback of libtorch.
        required(unsafe { tiered_start_counting() });
        Counting { _private: () }
    }

    /// Lines "NAME CALLS LEAVES".
    pub fn stop(self) -> String {
        let mut lines = std::ptr::null_mut();
        // SAFETY: removes the callback that `start` installed.
        required(unsafe { tiered_stop_counting(&mut lines) });
        taken(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_that_is_not_there_is_an_error() {
        assert!(peak_gpu_memory(0).is_ok() || peak_gpu_memory(0).unwrap_err().contains("llocator"));
        assert!(peak_gpu_memory(999).is_err());
    }
}
