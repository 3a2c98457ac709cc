//! How fast this machine trains and evaluates a model, what that costs in memory, and where the time goes.
//!
//! Steps of an epoch are taken as training would take them. Each is timed as a whole, and once more part by part
//! ([`profile`]); a part's time is the median over rounds, so that another program that is busy for a while does not
//! count.

mod line;
mod memory;
mod operations;
mod peer;
mod plot;
pub mod profile;
mod report;
mod sample;
mod size;
mod time;

pub use line::Line;
pub use operations::{Operations, TrainedLayers};
pub use peer::export;
pub use plot::draw;
pub use report::{BenchReport, Memory, SizeReport};
pub use size::EncoderSize;

use crate::error::Result;
use crate::experiment::Trial;
use crate::machine::ProductRates;
use crate::train::AdamW;
use sample::Sample;
use time::{Measurement, measure};

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchOptions {
    /// Pairs a step, one report for each.
    pub pairs_per_step: Vec<usize>,
    /// Steps of each size that are measured; a fixed number of pairs' worth where absent.
    pub steps: Option<usize>,
    /// No round of a size is begun after so many seconds; the first always is.
    pub seconds: f64,
}

/// Measures every size; `on` is told of each as it is done.
///
/// # Errors
/// `Usage` if there are not enough pairs for a step; `Diverged`.
pub fn run(trial: &Trial, options: &BenchOptions, mut on: impl FnMut(&SizeReport)) -> Result<BenchReport> {
    let samples: Result<Vec<Sample>> =
        options.pairs_per_step.iter().map(|&pairs| Sample::new(trial, pairs, options.steps)).collect();
    let samples = samples?;
    let loading_peak = memory::peak();
    let mut products = ProductRates::peak(trial.compute.device);
    let (fit, parameters) = (trial.fit(), trial.parameters());
    let trained = TrainedLayers::of(&parameters, &trial.model_config.encoder);
    let trained_parameters = parameters.iter().map(|parameter| parameter.tensor.numel()).sum();
    let mut optimiser = AdamW::new(parameters, fit.config.adamw);
    let mut measurements: Vec<Measurement> = Vec::new();
    for sample in &samples {
        let measurement = measure(trial, &fit, &mut optimiser, sample, options.seconds)?;
        products = products.max(ProductRates::peak(trial.compute.device));
        on(&SizeReport::new(trial, sample, &measurement, &trained, products.of(trial.compute.precision)));
        measurements.push(measurement);
    }
    // The fastest product of the whole run is what all are compared with.
    let rate = products.of(trial.compute.precision);
    let of_size = |(sample, measurement)| SizeReport::new(trial, sample, measurement, &trained, rate);
    let sizes: Vec<SizeReport> = samples.iter().zip(&measurements).map(of_size).collect();
    Ok(BenchReport::new(trial, trained_parameters, products, loading_peak, sizes))
}
