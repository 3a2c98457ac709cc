//! Standardises the inputs of the detector to mean 0 and deviation 1.

use crate::model::layers::Mode;
use tch::{Kind, Tensor, nn};

/// Standardises by running mean and variance, in training too. PyTorch's `BatchNorm1d(affine=False)` does the same in
/// evaluation.
///
/// A linear layer on standardised inputs is a linear layer on the inputs. So this changes where learning starts and how
/// fast it is, not what can be learned. The vectors of pretrained encoders lie far from 0 and close together, and
/// training moves them. Without standardising, the differences between them are lost (docs/notebook.md).
///
/// A step that diverges has already changed the running values; nothing is saved after it.
pub struct RunningNorm {
    /// `[width]`, not trained.
    mean: Tensor,
    /// `[width]`, not trained; 0 before the first training step.
    variance: Tensor,
}

/// The share of a step's mean and variance in the new running values.
const MOMENTUM: f64 = 0.05;

/// Added to the variance, as in PyTorch.
const EPSILON: f64 = 1e-5;

impl RunningNorm {
    pub fn new(p: &nn::Path, width: i64) -> Self {
        RunningNorm {
            mean: p.zeros_no_train("running_mean", &[width]),
            variance: p.zeros_no_train("running_var", &[width]),
        }
    }

    /// In training, updates the running values first.
    ///
    /// # Shapes
    /// `[U, width]` -> `[U, width]`
    pub fn forward(&self, x: &Tensor, mode: Mode) -> Tensor {
        if mode.noise.is_some() {
            tch::no_grad(|| self.update(x));
        }
        (x - &self.mean) / (&self.variance + EPSILON).sqrt()
    }

    fn update(&self, x: &Tensor) {
        let over_inputs = &[0][..];
        let is_first = self.variance.eq(0.).all(); // decided where the numbers are
        let running = [&self.mean, &self.variance];
        let seen = [x.mean_dim(over_inputs, false, Kind::Float), x.var_dim(over_inputs, true, false)];
        for (running, seen) in running.into_iter().zip(seen) {
            let next = seen.where_self(&is_first, &running.lerp(&seen, MOMENTUM));
            running.shallow_clone().copy_(&next);
        }
    }
}
