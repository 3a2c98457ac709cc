//! The device and the precision with which a run computes.

use crate::batch::Layout;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::eval::EvalConfig;
use crate::model::kernels::pin_threads;
use crate::model::{ModelConfig, Precision};
use tch::Device;

/// Pairs in an evaluation batch: enough for large matmuls, few enough for any memory.
const EVAL_PAIRS: usize = 8;

/// Device and precision.
#[derive(Debug, Clone, Copy)]
pub struct Compute {
    /// The CPU, or one GPU.
    pub device: Device,
    /// The precision of matmuls; `auto` is resolved.
    pub precision: Precision,
}

impl Compute {
    /// What the config chooses, on this machine. Sets the number of threads, and pins them if the run is deterministic.
    ///
    /// # Errors
    /// `Config`; `Unavailable` if there is no such device, or threads can't be pinned.
    pub fn resolve(config: &Config) -> Result<Self> {
        if let Some(threads) = config.threads {
            tch::set_num_threads(threads as i32);
        }
        let device = config.device.resolve()?;
        if config.deterministic && device == Device::Cpu {
            pin_threads().map_err(|why| Error::new(ErrorKind::Unavailable, format!("deterministic = true: {why}")))?;
        }
        Ok(Compute { device, precision: config.precision.resolve(device) })
    }

    /// How this model is evaluated.
    pub fn eval(self, model: &ModelConfig) -> EvalConfig {
        let Compute { device, precision } = self;
        let layout = Layout { sentences: model.max_sentences, pad_to_entities: None };
        EvalConfig { device, precision, layout, pairs_per_batch: EVAL_PAIRS }
    }
}
