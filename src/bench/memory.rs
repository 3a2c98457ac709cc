//! The peak memory of this process, as Linux counts it, and on the GPU, as libtorch does.

use crate::torch::{GpuMemory, peak_gpu_memory, reset_peak_gpu_memory};
use tch::Device;

/// The largest resident size since the process began or since [`reset_peak`], in bytes; `None` where there is no
/// `/proc`.
pub fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    kilobytes.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

/// Resets [`peak`] to the present size. Returns false if the system does not allow it.
pub fn reset_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The most memory on this GPU since [`reset_gpu_peak`]; `None` on the CPU, or if libtorch can't tell.
pub fn gpu_peak(device: Device) -> Option<GpuMemory> {
    match device {
        Device::Cuda(gpu) => peak_gpu_memory(gpu).ok(),
        _ => None,
    }
}

/// Resets [`gpu_peak`] to the present memory. On the CPU it does nothing. An allocator that can't be reset tells its
/// peak since the start.
pub fn reset_gpu_peak(device: Device) {
    if let Device::Cuda(gpu) = device {
        let _ = reset_peak_gpu_memory(gpu);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_peak_grows_with_what_is_touched() {
        const MORE: usize = 64 << 20;
        reset_peak();
        let before = peak().unwrap();
        let touched = vec![1u8; MORE];
        assert!(touched.iter().map(|&byte| u64::from(byte)).sum::<u64>() == MORE as u64);
        // Other tests of this process may free memory meanwhile, but the peak never falls by itself.
        assert!(peak().unwrap() >= before.max(MORE as u64));
    }
}
