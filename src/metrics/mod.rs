//! Predictions -> counts -> numbers. Counts add up over pairs and are divided once, at the end; what there is
//! nothing to divide by is undefined (`None`), not 0.

mod bootstrap;
mod calibration;
mod count;
mod holm;
mod mcnemar;
mod seeds;
mod state;
mod story;
mod tiered;
pub(crate) mod undefined;

pub use bootstrap::{RESAMPLES, Resamples, percentile_interval, two_sided_p};
pub use calibration::{CALIBRATION_BINS, Calibration, ConfidenceBin, confidence_bins, tempered};
pub use count::{Confusion, Share};
pub use holm::holm;
pub use mcnemar::{combined_p, mcnemar_exact};
pub use seeds::{Difference, Estimate, PValue, PairSet, Reached, Tiers, differences, estimates, reached};
pub use state::{AssertedCounts, SideScores, StateCounts, StateScores};
pub use story::KindShares;
pub use tiered::TierCounts;
