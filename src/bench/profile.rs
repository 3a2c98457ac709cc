//! Times the parts of a training step.

use super::operations::EncodedTokens;
use crate::batch::Batch;
use crate::train::{Fit, Parameter, Phase, StepObserver};
use serde::Serialize;
use std::time::Instant;
use tch::{Cuda, Device};

/// Seconds of each phase of a step ([`Phase`]).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Phases {
    /// Building the batch and moving it to the device.
    pub data: f64,
    /// The encoder's forward pass, or looking up the vectors of a frozen encoder.
    pub encoder_forward: f64,
    /// The forward pass of the 40 state heads.
    pub heads: f64,
    /// The forward pass of the conflict detector, and the story choice.
    pub detector: f64,
    /// Computing the losses and checking that they are finite.
    pub losses: f64,
    /// The weighted loss, and the backward pass through losses, detector and heads.
    pub heads_backward: f64,
    /// The rest of the backward pass: through the encoder.
    pub encoder_backward: f64,
    /// The optimiser, with the clipping of gradients.
    pub optimiser: f64,
}

impl Phases {
    /// The titles of the phases in the text report.
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

    /// The seconds in the order of [`Phases::NAMES`] and of [`Phase`].
    pub fn to_array(self) -> [f64; 8] {
        let Phases { data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser } =
            self;
        [data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser]
    }

    /// The inverse of [`Phases::to_array`].
    pub fn from_array(array: [f64; 8]) -> Self {
        let [data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser] = array;
        Phases { data, encoder_forward, heads, detector, losses, heads_backward, encoder_backward, optimiser }
    }

    /// The sum over all phases, in seconds.
    pub fn total(self) -> f64 {
        self.to_array().iter().sum()
    }
}

/// Times the phases of a step from inside, and notes what its encoder reads.
pub struct PhaseTimer {
    watch: Watch,
    seconds: [f64; 8],
    /// What the step encodes.
    pub encoded: EncodedTokens,
    is_frozen: bool,
}

impl PhaseTimer {
    /// Starts now.
    pub fn start(fit: &Fit) -> Self {
        let watch = Watch::start(fit.eval.device);
        PhaseTimer { watch, seconds: [0.; 8], encoded: EncodedTokens::default(), is_frozen: fit.frozen.is_some() }
    }

    /// The seconds of the phases that have ended; 0 for the others.
    pub fn phases(&self) -> Phases {
        Phases::from_array(self.seconds)
    }
}

impl StepObserver for PhaseTimer {
    fn ended(&mut self, phase: Phase) {
        self.seconds[phase as usize] += self.watch.lap(); // a step of several shards ends each phase as often
    }

    fn batch(&mut self, _: u64, batch: &Batch, _: &[Parameter]) {
        if !self.is_frozen {
            self.encoded.groups.extend(&batch.tokens.groups);
            self.encoded.read += batch.tokens.read.size()[0];
        }
    }
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
