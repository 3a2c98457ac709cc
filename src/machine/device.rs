//! The device that a config chooses, on this machine.

use super::choice::DeviceChoice;
use crate::error::{Error, ErrorKind, Result};
use tch::{Cuda, Device};

impl DeviceChoice {
    /// Whether it is a GPU: one that is named, whether this machine has it or not, or the one that `auto` chooses here.
    pub fn is_gpu(&self) -> bool {
        self.0.starts_with("cuda") || (self.0 == "auto" && Cuda::device_count() > 0)
    }

    /// The device, if this libtorch can use it.
    ///
    /// # Errors
    /// `Config` if the text is not one of the three forms; `Unavailable` if there is no such GPU.
    pub fn resolve(&self) -> Result<Device> {
        let gpus = Cuda::device_count().max(0) as usize;
        let wanted = match self.0.as_str() {
            "auto" => return Ok(if gpus > 0 { Device::Cuda(0) } else { Device::Cpu }),
            "cpu" => return Ok(Device::Cpu),
            "cuda" => Some(0),
            other => other.strip_prefix("cuda:").and_then(|number| number.parse().ok()),
        };
        match wanted {
            Some(gpu) if gpu < gpus => Ok(Device::Cuda(gpu)),
            Some(gpu) => Err(Error::new(
                ErrorKind::Unavailable,
                format!("device cuda:{gpu}: this libtorch sees {gpus} GPUs; use device = \"cpu\" or \"auto\""),
            )),
            None => Err(Error::config(format!("device = {:?}: must be auto, cpu or cuda:N", self.0))),
        }
    }
}
