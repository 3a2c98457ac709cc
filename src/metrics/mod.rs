//! Predictions -> counts -> numbers. Counts add up over pairs and are divided once, at the end; what there is
//! nothing to divide by is undefined (`None`), not 0.

mod calibration;
mod count;
mod state;
mod story;
mod tiered;

pub use calibration::{CALIBRATION_BINS, Calibration, ConfidenceBin, confidence_bins, tempered};
pub use count::{Confusion, Share};
pub use state::{AssertedCounts, SideScores, StateCounts, StateScores};
pub use story::KindShares;
pub use tiered::TierCounts;
