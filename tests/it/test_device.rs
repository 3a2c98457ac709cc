//! Where the tests compute.

use std::sync::OnceLock;
use tch::Device;
use tiered::model::Mode;

/// A device, and one of the two ways to compute on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestDevice {
    pub device: Device,
    /// Whether our own kernels compute; otherwise libtorch's operations do, as on a GPU.
    pub by_kernels: bool,
}

/// By our kernels on the CPU.
pub const CPU: TestDevice = TestDevice { device: Device::Cpu, by_kernels: true };

/// As a GPU computes, on the CPU.
pub const CPU_AS_GPU: TestDevice = TestDevice { device: Device::Cpu, by_kernels: false };

/// The device in `TIERED_TEST_DEVICE` (`cpu`, `cuda` or `cuda:N`), else the CPU; on the CPU in both ways.
pub fn devices() -> &'static [TestDevice] {
    static DEVICES: OnceLock<Vec<TestDevice>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let wanted = std::env::var("TIERED_TEST_DEVICE").unwrap_or_else(|_| "cpu".to_owned());
        let gpu = match wanted.as_str() {
            "cpu" => return vec![CPU, CPU_AS_GPU],
            "cuda" => Some(0),
            other => other.strip_prefix("cuda:").and_then(|number| number.parse().ok()),
        };
        let gpu = gpu.unwrap_or_else(|| panic!("TIERED_TEST_DEVICE={wanted}: it can be cpu, cuda or cuda:N"));
        assert!(tch::Cuda::device_count() > gpu as i64, "TIERED_TEST_DEVICE={wanted}: libtorch sees no such GPU");
        vec![TestDevice { device: Device::Cuda(gpu), by_kernels: false }]
    })
}

impl TestDevice {
    /// As a config names it.
    pub fn name(self) -> String {
        match self.device {
            Device::Cuda(gpu) => format!("cuda:{gpu}"),
            _ => "cpu".to_owned(),
        }
    }

    /// What makes a program that is started compute so.
    pub fn environment(self) -> [(&'static str, &'static str); 1] {
        [("TIERED_KERNELS", if self.by_kernels { "on" } else { "off" })]
    }

    /// A mode, computed so.
    pub fn mode(self, mode: Mode) -> Mode {
        if self.by_kernels { mode } else { mode.unfused() }
    }
}
