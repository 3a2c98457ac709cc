//! Accuracy, consistency and verifiability (TRIP section 3.2; GITA section 4.3): each tier is a share of all pairs.

use super::count::Share;
use crate::prediction::PairPrediction;
use serde::{Deserialize, Serialize};

/// How many pairs reach each tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierCounts {
    pub pairs: u64,
    pub accurate: u64,
    pub consistent: u64,
    pub verifiable: u64,
}

impl TierCounts {
    pub fn of(predictions: &[PairPrediction]) -> Self {
        let mut counts = TierCounts::default();
        predictions.iter().for_each(|prediction| counts.add(prediction));
        counts
    }

    pub fn add(&mut self, prediction: &PairPrediction) {
        self.pairs += 1;
        self.accurate += u64::from(prediction.is_accurate());
        self.consistent += u64::from(prediction.is_consistent());
        self.verifiable += u64::from(prediction.is_verifiable());
    }

    pub fn accuracy(&self) -> Share {
        self.share(self.accurate)
    }

    pub fn consistency(&self) -> Share {
        self.share(self.consistent)
    }

    pub fn verifiability(&self) -> Share {
        self.share(self.verifiable)
    }

    fn share(&self, count: u64) -> Share {
        Share::new(count, self.pairs)
    }
}
