//! Times the parts of a training step.

use crate::batch::{Batch, LengthGroup};
use crate::train::{Fit, Parameter, Phase, StepObserver};
use serde::Serialize;
use std::time::Instant;
use tch::{Cuda, Device};

/// Seconds of each phase of a step ([`Phase`]).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Phases {
    pub data: f64,
    pub encoder_forward: f64,
    pub heads: f64,
    pub detector: f64,
    pub losses: f64,
    pub heads_backward: f64,
    pub encoder_backward: f64,
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

    /// The seconds in the order of [`Phases::NAMES`] and of [`Phase`].
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

/// Times the phases of a step from inside, and notes what its encoder reads.
pub struct PhaseTimer {
    watch: Watch,
    seconds: [f64; 8],
    /// The sequences that the step encodes; none if the encoder is frozen.
    pub groups: Vec<LengthGroup>,
    is_frozen: bool,
}

impl PhaseTimer {
    /// Starts now.
    pub fn start(fit: &Fit) -> Self {
        let watch = Watch::start(fit.eval.device);
        PhaseTimer { watch, seconds: [0.; 8], groups: Vec::new(), is_frozen: fit.frozen.is_some() }
    }

    pub fn phases(&self) -> Phases {
        Phases::from_array(self.seconds)
    }
}

impl StepObserver for PhaseTimer {
    fn ended(&mut self, phase: Phase) {
        self.seconds[phase as usize] = self.watch.lap();
    }

    fn batch(&mut self, _: u64, batch: &Batch, _: &[Parameter]) {
        if !self.is_frozen {
            self.groups = batch.tokens.groups.clone();
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
