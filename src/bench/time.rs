//! Repeats the steps of a sample and returns the median times.

use super::memory;
use super::operations::EncodedTokens;
use super::profile::{PhaseTimer, Phases, Watch};
use super::sample::TimedSample;
use super::work::{StepWork, WorkCounter};
use crate::error::Result;
use crate::experiment::Trial;
use crate::torch::GpuMemory;
use crate::train::{AdamW, Fit, Unobserved};

/// The largest number of rounds.
const ROUNDS: usize = 5;

/// The measurements at one size. Seconds are medians over the rounds, one for each step of the sample.
pub struct Measurement {
    pub rounds: usize,
    pub train_seconds: Vec<f64>,
    pub eval_seconds: Vec<f64>,
    pub phases: Vec<Phases>,
    /// What each step encodes.
    pub encoded: Vec<EncodedTokens>,
    /// In bytes; `None` if it can't be separated from the peak of earlier sizes.
    pub peak_memory: Option<u64>,
    /// What the largest step of the sample asks of the device.
    pub work: StepWork,
    /// The peak on the GPU, if the device is one.
    pub gpu_memory: Option<GpuMemory>,
}

/// Measures the sample in rounds, after one step to warm up; on a GPU, after all of them. A round is every step as in
/// training and part by part, then the evaluation.
///
/// # Errors
/// `Diverged`.
pub fn measure(
    trial: &Trial,
    fit: &Fit,
    optimiser: &mut AdamW,
    sample: &TimedSample,
    seconds: f64,
) -> Result<Measurement> {
    let (device, rate) = (trial.compute.device, fit.config.learning_rate);
    let corpus = trial.train.corpus.subset(&sample.pairs().collect::<Vec<_>>());
    let is_own_peak = memory::reset_peak();
    memory::reset_gpu_peak(device);
    let largest = sample.steps.last().expect("a sample has steps");
    fit.step(None, optimiser, largest, 0, rate, &mut Unobserved)?;
    fit.step(None, optimiser, largest, 0, rate, &mut PhaseTimer::start(fit))?;
    let mut counter = WorkCounter::start();
    fit.step(None, optimiser, largest, 0, rate, &mut counter)?;
    let work = counter.work();
    if device.is_cuda() {
        // Its libraries choose kernels for each new shape.
        for (number, pairs) in (0..).zip(&sample.steps) {
            fit.step(None, optimiser, pairs, number, rate, &mut Unobserved)?;
        }
        trial.evaluate(&corpus, sample.pairs_per_step, |_| ());
    }

    let mut rounds: Vec<Round> = Vec::new();
    let mut whole = Watch::start(device);
    let mut spent = 0.;
    while rounds.is_empty() || (rounds.len() < ROUNDS && spent < seconds) {
        let mut round = Round::default();
        // A step has the same number in every round, so that it draws the same entities and inputs.
        for (number, pairs) in (0..).zip(&sample.steps) {
            // On a GPU a thread of the training makes a step's batch during the step before.
            let ready = device.is_cuda().then(|| fit.batches().of(fit.train, pairs, number));
            let mut watch = Watch::start(device);
            fit.step(ready, optimiser, pairs, number, rate, &mut Unobserved)?;
            round.train.push(watch.lap());
            let mut timer = PhaseTimer::start(fit);
            fit.step(None, optimiser, pairs, number, rate, &mut timer)?;
            round.phases.push(timer.phases());
            round.encoded.push(timer.encoded);
        }
        let mut watch = Watch::start(device);
        trial.evaluate(&corpus, sample.pairs_per_step, |_| round.eval.push(watch.lap()));
        rounds.push(round);
        spent += whole.lap();
    }
    Ok(Measurement {
        work,
        gpu_memory: memory::gpu_peak(device),
        rounds: rounds.len(),
        train_seconds: medians(&rounds, sample, |round, step| round.train[step]),
        eval_seconds: medians(&rounds, sample, |round, step| round.eval[step]),
        phases: (0..sample.steps.len()).map(|step| median_phases(&rounds, step)).collect(),
        encoded: rounds.swap_remove(0).encoded,
        peak_memory: memory::peak().filter(|_| is_own_peak),
    })
}

/// The seconds of each step, and what it encodes.
#[derive(Default)]
struct Round {
    train: Vec<f64>,
    eval: Vec<f64>,
    phases: Vec<Phases>,
    encoded: Vec<EncodedTokens>,
}

fn medians(rounds: &[Round], sample: &TimedSample, of: impl Fn(&Round, usize) -> f64) -> Vec<f64> {
    (0..sample.steps.len()).map(|step| median(rounds.iter().map(|round| of(round, step)).collect())).collect()
}

fn median_phases(rounds: &[Round], step: usize) -> Phases {
    let of_phase = |phase| median(rounds.iter().map(|round: &Round| round.phases[step].to_array()[phase]).collect());
    Phases::from_array(std::array::from_fn(of_phase))
}

/// The median; of two middle values the lower, since a disturbance only makes a measurement longer.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_take_the_middle() {
        assert_eq!(median(vec![3.]), 3.);
        assert_eq!(median(vec![9., 1., 2.]), 2.);
        assert_eq!(median(vec![9., 1., 2., 3.]), 2.);
    }
}
