//! Scores recorded answers: the ten figures of GITA4CALAMITA by story, and pairs ranked by margins.

mod agreement;
mod baseline;
mod convert;
mod figures;
mod link;
mod pairs;
mod report;
mod tables;

pub use agreement::{
    Agreement, agreement, agreement_of_pairs, not_both_orders, require_asked_alike, require_both_orders,
};
pub use baseline::{always_first, by_chance};
pub use convert::{ConvertedPairs, pair_predictions};
pub use figures::{TierTally, story_figures};
pub use link::{Linked, link};
pub use pairs::{LaterFigures, PairFigures, RankShare, RankShares, RankedPair, ranked_pairs};
pub use report::{CalamitaRow, ModelScores, ScoreReport, StoryCounts, calamita_leaderboard, score};
