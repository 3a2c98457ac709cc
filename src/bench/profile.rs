//! Times the parts of a training step.

use crate::error::Result;
use crate::loss::Losses;
use crate::model::{DropoutRng, Mode};
use crate::seed;
use crate::train::{AdamW, Diverged, Fit};
use serde::Serialize;
use std::time::Instant;
use tch::{Cuda, Device};

/// Seconds of each part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Phases {
    /// Building the batch.
    pub data: f64,
    pub encoder_forward: f64,
    /// The 40 state heads.
    pub heads: f64,
    /// The conflict detector and the story choice.
    pub detector: f64,
    pub losses: f64,
    /// The backward pass through losses, detector and heads.
    pub heads_backward: f64,
    pub encoder_backward: f64,
    /// The optimiser, with the clipping of gradients.
    pub optimiser: f64,
}

impl Phases {
    pub const NAMES: [&str; 8] = [
        "data",
        "encoder forward",
        "heads",
        "detector",
        "losses",
        "heads and detector backward",
        "encoder backward",
        "optimiser",
    ];

    /// The seconds in the order of [`Phases::NAMES`].
    pub fn to_array(self) -> [f64; 8] {
        let Phases { data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser } =
            self;
        [data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser]
    }

    pub fn from_array(array: [f64; 8]) -> Self {
        let [data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser] = array;
        Phases { data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser }
    }

    pub fn total(self) -> f64 {
        self.to_array().iter().sum()
    }
}

/// The same step as [`Fit::step`], timed part by part.
///
/// # Errors
/// `Diverged` if the loss is not finite; the weights are then those before the step.
pub fn step(fit: &Fit, optimiser: &mut AdamW, pairs: &[usize], step: u64, rate: f64) -> Result<Phases> {
    let mut watch = Watch::start(fit.eval.device);
    let (batch, targets) = fit.train.batch(pairs, fit.eval.layout);
    let (batch, targets) = (batch.to_device(fit.eval.device), targets.to_device(fit.eval.device));
    let data = watch.lap();

    let noise = DropoutRng::new(seed::key(fit.seed, "dropout", step));
    let mode = Mode::train(&noise, fit.eval.precision);
    let trace = fit.model.encoder.trace(&batch.tokens, mode);
    let encoder_forward = watch.lap();

    let states = fit.model.states(&trace.hidden, &batch, mode);
    let heads = watch.lap();

    let output = fit.model.conflicts(&trace.hidden, states, &batch, mode);
    let detector = watch.lap();

    let losses = Losses::new(&output, &targets);
    if let Some(what) = losses.values().not_finite() {
        let pairs = pairs.iter().map(|&pair| fit.train.pairs[pair].id.clone()).collect();
        return Err(Diverged { step: step + 1, what: what.to_owned(), pairs }.into());
    }
    let loss = losses.total(&fit.loss);
    let losses = watch.lap();

    let variables = optimiser.variables();
    let (mut gradients, of_hidden) = trace.gradients_of_readers(&loss, &variables);
    let heads_backward = watch.lap();

    trace.add_gradients_of_encoder(&of_hidden, &variables, &mut gradients);
    let encoder_backward = watch.lap();

    optimiser.step(&gradients, rate);
    drop(gradients);
    let optimiser = watch.lap();
    Ok(Phases { data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser })
}

/// Measures the seconds since the last lap, after the device has finished its work.
pub(super) struct Watch {
    device: Device,
    last: Instant,
}

impl Watch {
    pub fn start(device: Device) -> Self {
        let mut watch = Watch { device, last: Instant::now() };
        watch.lap();
        watch
    }

    pub fn lap(&mut self) -> f64 {
        if let Device::Cuda(gpu) = self.device {
            Cuda::synchronize(gpu as i64);
        }
        let seconds = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        seconds
    }
}
