//! The device that a config chooses, on this machine.

use super::choice::DeviceChoice;
use super::gpu::Gpu;
use crate::error::{Error, ErrorKind, Result};
use tch::{Cuda, Device};

impl DeviceChoice {
    /// Whether it is a GPU: one that is named, whether this machine has it or not, or the one that `auto` chooses here.
    pub fn is_gpu(&self) -> bool {
        self.0.starts_with("cuda") || (self.0 == "auto" && automatic() != Device::Cpu)
    }

    /// The device, if this libtorch can use it.
    ///
    /// # Errors
    /// `Config` if the text is not one of the three forms; `Unavailable` if there is no such GPU, or it is too old.
    pub fn resolve(&self) -> Result<Device> {
        let gpus = Cuda::device_count().max(0) as usize;
        let wanted = match self.0.as_str() {
            "auto" => return Ok(automatic()),
            "cpu" => return Ok(Device::Cpu),
            "cuda" => Some(0),
            other => other.strip_prefix("cuda:").and_then(|number| number.parse().ok()),
        };
        let Some(gpu) = wanted else {
            return Err(Error::config(format!("device = {:?}: must be auto, cpu or cuda:N", self.0)));
        };
        let why = if gpu < gpus { too_old(gpu) } else { Some(format!("this libtorch sees {gpus} GPUs")) };
        match why {
            None => Ok(Device::Cuda(gpu)),
            Some(why) => {
                let message = format!("device cuda:{gpu}: {why}; use device = \"cpu\" or \"auto\"");
                Err(Error::new(ErrorKind::Unavailable, message))
            }
        }
    }
}

/// The first GPU, if there is one on which this libtorch can compute.
fn automatic() -> Device {
    if Cuda::device_count() > 0 && too_old(0).is_none() { Device::Cuda(0) } else { Device::Cpu }
}

fn too_old(gpu: usize) -> Option<String> {
    Gpu::examine(gpu).ok()?.too_old()
}
