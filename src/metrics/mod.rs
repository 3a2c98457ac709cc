//! Computes scores from predictions. Counts are added up over pairs and divided once, at the end. A share of nothing is
//! undefined (`None`), not 0.

mod agreement;
mod bootstrap;
mod calibration;
mod count;
mod groups;
mod holm;
mod mcnemar;
mod seeds;
mod state;
mod story;
mod tiered;
pub(crate) mod undefined;

pub use agreement::{Coefficient, LabelAgreement, LabelCounts, LabelledUnit};
pub use bootstrap::{BOOTSTRAP_SEED, RESAMPLES, Resamples, percentile_interval, smallest_p, two_sided_p};
pub use calibration::{CALIBRATION_BINS, Calibration, ConfidenceBin, bounded_nll, confidence_bins, tempered};
pub use count::{Confusion, Share, percent_of};
pub use groups::StoryGroups;
pub use holm::holm;
pub use mcnemar::mcnemar_over_seeds;
pub use seeds::{Difference, Estimate, PValue, PairSet, Reached, Tiers, differences, estimates, reached};
pub use state::{PredictedCounts, PredictedScores, SideScores, StateCounts, StateScores};
pub use story::KindShares;
pub use tiered::{TierCounts, Tiered};
