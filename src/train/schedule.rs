//! The learning rate over the steps of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The learning rate after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// It stays the same, as in the paper.
    Constant,
    /// It falls linearly, and would reach 0 at the step after the last one.
    Linear,
}

impl Schedule {
    /// The factor of the full rate at `step` (counted from 0) of `steps`. It rises linearly during the first `warmup`
    /// share of the steps.
    pub fn factor(self, step: u64, steps: u64, warmup: f64) -> f64 {
        let warm = (warmup * steps as f64).round();
        let at = step as f64 + 1.;
        if at <= warm {
            return at / warm;
        }
        match self {
            Schedule::Constant => 1.,
            Schedule::Linear => ((steps as f64 - at + 1.) / (steps as f64 - warm).max(1.)).clamp(0., 1.),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warms_up_then_falls_to_almost_nothing() {
        let factors: Vec<f64> = (0..10).map(|step| Schedule::Linear.factor(step, 10, 0.2)).collect();
        assert_eq!(&factors[..3], [0.5, 1., 1.]);
        assert_eq!(factors[9], 0.125);
        assert!(factors[2..].windows(2).all(|w| w[1] < w[0]));
        assert_eq!(Schedule::Constant.factor(9, 10, 0.), 1.);
    }
}
