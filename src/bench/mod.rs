//! Measures how fast this machine trains and evaluates a model, how much memory that needs, and where the time goes.
//!
//! The steps are those of a training epoch. Each is timed as a whole, and once more phase by phase ([`profile`]). A time
//! is the median over rounds, so that another program that is busy for a while does not count.

mod line;
mod memory;
mod operations;
mod options;
mod plot;
pub mod profile;
mod reference;
mod report;
mod sample;
mod size;
mod time;
mod work;

pub use line::BenchLine;
pub use operations::{EncodedTokens, Operations, TrainedLayers};
pub use options::BenchOptions;
pub use plot::draw;
pub use reference::{REFERENCE_FILES, export};
pub use report::{BenchReport, Memory, SizeReport};
pub use size::EncoderSize;
pub use work::{StepWork, WorkCounter};

use crate::error::Result;
use crate::experiment::Trial;
use crate::machine::MatmulRates;
use crate::train::AdamW;
use sample::TimedSample;
use time::{Measurement, measure};

/// Measures every size. `on` is called with the report of each when it is done.
///
/// # Errors
/// `Usage` if there are not enough pairs for a step; `Diverged`.
pub fn run(trial: &Trial, options: &BenchOptions, mut on: impl FnMut(&SizeReport)) -> Result<BenchReport> {
    let samples: Result<Vec<TimedSample>> =
        options.pairs_per_step.iter().map(|&pairs| TimedSample::new(trial, pairs, options.steps)).collect();
    let samples = samples?;
    let loading_peak = memory::peak();
    let mut matmuls = MatmulRates::peak(trial.compute.device);
    let (mut fit, parameters) = (trial.fit(), trial.parameters());
    while fit.encode().is_some() {} // a frozen encoder encodes every input before the first step
    let trained = TrainedLayers::of(&parameters, &trial.model_config.encoder);
    let trained_parameters = parameters.iter().map(|parameter| parameter.tensor.numel()).sum();
    let mut optimiser = AdamW::new(parameters, fit.config.adamw);
    let mut measurements: Vec<Measurement> = Vec::new();
    for (i, sample) in samples.iter().enumerate() {
        let mut measurement = measure(trial, &fit, &mut optimiser, sample, options.seconds)?;
        // The allocator keeps what a larger step needed.
        if samples[..i].iter().any(|earlier| earlier.pairs_per_step > sample.pairs_per_step) {
            (measurement.peak_memory, measurement.gpu_memory) = (None, None);
        }
        matmuls = matmuls.max(MatmulRates::peak(trial.compute.device));
        on(&SizeReport::new(trial, sample, &measurement, &trained, matmuls.of(trial.compute.precision)));
        measurements.push(measurement);
    }
    // All sizes are compared with the fastest matmuls of the whole run.
    let rate = matmuls.of(trial.compute.precision);
    let of_size = |(sample, measurement)| SizeReport::new(trial, sample, measurement, &trained, rate);
    let sizes: Vec<SizeReport> = samples.iter().zip(&measurements).map(of_size).collect();
    Ok(BenchReport::new(trial, trained_parameters, matmuls, loading_peak, sizes))
}
