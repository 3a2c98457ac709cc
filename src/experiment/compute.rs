//! The device and the precision with which a run computes.

use crate::batch::Layout;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::eval::EvalConfig;
use crate::machine::{Gpu, default_threads};
use crate::model::kernels::{pin_threads, unpin_all};
use crate::model::{ModelConfig, Precision};
use crate::{tokenizer, torch};
use std::sync::OnceLock;
use tch::Device;

/// Pairs in an evaluation batch on a CPU: enough for large matmuls, and for the pairs of a group to share what they have in
/// common; few enough for any memory.
const EVAL_PAIRS: usize = 16;
/// The fewest and the most of them on a GPU.
const EVAL_PAIRS_ON_GPU: [u64; 2] = [8, 256];
/// About the tokens of a pair.
const TOKENS_OF_PAIR: u64 = 1500;
/// About the bytes that evaluation needs for a token, for each of the H numbers of its vector.
const BYTES_OF_NUMBER: u64 = 64;
/// The share of a GPU's memory that an evaluation batch may take: 1 / this.
const SHARE_OF_MEMORY: u64 = 8;

/// Device and precision.
#[derive(Debug, Clone, Copy)]
pub struct Compute {
    /// The CPU, or one GPU.
    pub device: Device,
    /// The precision of matmuls; `auto` is resolved.
    pub precision: Precision,
    /// The memory of the GPU, in bytes, if it is one and the driver says it.
    pub gpu_memory: Option<u64>,
    /// Whether a GPU may round the inputs of float32 matmuls to TensorFloat-32.
    tf32: bool,
    /// Whether libtorch chooses deterministic algorithms on a GPU.
    deterministic: bool,
}

impl Compute {
    /// What the config chooses, on this machine. Sets the number of threads, and pins them if the run is deterministic, and
    /// makes libtorch compute as this run does. What a config does not set is as it was when the program began: a sweep
    /// computes many runs in one process.
    ///
    /// # Errors
    /// `Config`; `Unavailable` if there is no such device, or threads can't be pinned.
    pub fn resolve(config: &Config) -> Result<Self> {
        static INITIAL_THREADS: OnceLock<i32> = OnceLock::new();
        let initial = *INITIAL_THREADS.get_or_init(default_threads);
        unpin_all();
        tch::set_num_threads(config.threads.map_or(initial, |threads| threads as i32));
        let device = config.device.resolve()?;
        if config.deterministic && !device.is_cuda() {
            tokenizer::start_threads(); // before, so that they have all cores
            pin_threads().map_err(|why| Error::new(ErrorKind::Unavailable, format!("deterministic = true: {why}")))?;
        }
        let gpu_memory = Gpu::of(device).map(|gpu| gpu.memory);
        let Config { precision, tf32, deterministic, .. } = *config;
        let compute = Compute { device, precision: precision.resolve(device), gpu_memory, tf32, deterministic };
        compute.choose_algorithms();
        Ok(compute)
    }

    /// Makes libtorch compute as this run does. Runs that are open at the same time may differ.
    pub fn choose_algorithms(self) {
        if self.device.is_cuda() {
            torch::allow_tf32(self.tf32);
        }
        torch::use_deterministic_algorithms(self.device.is_cuda() && self.deterministic);
    }

    /// How this model is evaluated.
    pub fn eval(self, model: &ModelConfig) -> EvalConfig {
        let Compute { device, precision, gpu_memory, .. } = self;
        let layout = Layout { sentences: model.max_sentences, pad_to_entities: None };
        let pairs_per_batch = gpu_memory.map_or(EVAL_PAIRS, |memory| pairs_that_fit(memory, model.encoder.hidden_size));
        EvalConfig { device, precision, layout, pairs_per_batch }
    }
}

/// A power of two of pairs that surely fits into a GPU's memory. It depends on nothing else, so that the same GPU and model
/// always give the same batches.
fn pairs_that_fit(memory: u64, hidden: i64) -> usize {
    let of_pair = TOKENS_OF_PAIR * BYTES_OF_NUMBER * hidden.max(1).cast_unsigned();
    let [fewest, most] = EVAL_PAIRS_ON_GPU;
    let pairs = (memory / SHARE_OF_MEMORY / of_pair).clamp(fewest, most);
    1 << pairs.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluation_batches_grow_with_the_memory() {
        const GB: u64 = 1 << 30;
        let pairs =
            [(4, 1024), (24, 1024), (80, 1024), (80, 384), (140, 384)].map(|(gb, h)| pairs_that_fit(gb * GB, h));
        assert_eq!(pairs, [8, 32, 64, 256, 256]);
    }
}
